"""What operators see and say, through the command line."""

from __future__ import annotations

import json
import shlex
import signal
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from resumption import Ledger, effect
from resumption.cli import main
from resumption.errors import InDoubt
from resumption.guard import operators
from resumption.guard.stores.postgres import without_password

from .support import Points, World, child


@pytest.fixture
def run(url: str) -> Callable[..., Result]:
    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(main, ["ledger", *arguments, "--store", url], catch_exceptions=False)

    return invoke


def leave_in_doubt(url: str, world: World, key: str = "charge:1") -> None:
    """Kill an owner inside its effect."""

    def owner() -> None:
        @effect(Ledger(url), key=key)
        def charge() -> None:
            world.fire()
            Points(0).reach("here")

        charge()

    assert child(owner).wait() == -signal.SIGKILL


def again(url: str, key: str = "charge:1") -> object:
    return effect(Ledger(url), key=key)(lambda: "fired again")()


def test_an_effect_in_doubt_is_listed_shown_and_resolved_as_fired(
    url: str, world: World, run: Callable[..., Result]
) -> None:
    leave_in_doubt(url, world)
    (listed,) = json.loads(run("list", "--json").output)
    assert (listed["key"], listed["state"]) == ("charge:1", "doubt")
    assert "charge:1" in run("list").output
    resolved = run("resolve", "charge:1", "--fired", "--result", '{"id": 7}', "--by", "ada", "--note", "statement")
    assert resolved.output == "charge:1: done\n"
    assert json.loads(run("list", "--json").output) == []
    assert again(url) == {"id": 7}
    shown = json.loads(run("show", "charge:1", "--json").output)
    assert shown["state"] == "done"
    (row,) = shown["audit"]
    assert (row["what"], row["branch"], row["actor"], row["note"]) == ("resolved", "fired", "ada", "statement")
    assert "by ada" in run("show", "charge:1").output


def test_an_effect_resolved_as_not_fired_fires(url: str, world: World, run: Callable[..., Result]) -> None:
    leave_in_doubt(url, world)
    assert run("resolve", "charge:1", "--not-fired").exit_code == 0
    assert again(url) == "fired again"


def test_an_effect_that_fired_is_resolved_with_a_result_if_only_null(
    url: str, world: World, run: Callable[..., Result]
) -> None:
    leave_in_doubt(url, world)
    assert "--result" in run("resolve", "charge:1", "--fired").output
    assert run("resolve", "charge:1", "--fired", "--result", "null").exit_code == 0
    assert again(url) is None


def test_only_open_questions_can_be_answered(url: str, run: Callable[..., Result]) -> None:
    again(url)
    for arguments, words in (
        (("resolve", "charge:1", "--fired", "--result", "1"), "is settled"),
        (("resolve", "nobody", "--fired", "--result", "1"), "no record"),
        (("show", "nobody"), "no record"),
        (("resolve", "charge:1", "--fired", "--result", "{"), "not JSON"),
        (("resolve", "charge:1", "--not-fired", "--result", "1"), "no result"),
    ):
        refused = run(*arguments)
        assert refused.exit_code == 2
        assert words in refused.output
    trail = operators.audit_trail(Ledger(url), "charge:1")
    assert [(row.what, row.branch) for row in trail] == [("resolution refused", "nothing-to-resolve")]


def test_a_running_effect_cannot_be_resolved(url: str, run: Callable[..., Result]) -> None:
    @effect(Ledger(url), key="charge:1")
    def charge() -> None:
        refused = run("resolve", "charge:1", "--not-fired")
        assert refused.exit_code == 2
        assert "still running" in refused.output
        (listed,) = json.loads(run("list", "--json").output)
        assert listed["state"] == "running"

    charge()


def test_pruning_forgets_settled_effects_and_nothing_in_doubt(
    url: str, world: World, run: Callable[..., Result]
) -> None:
    leave_in_doubt(url, world)
    for number in range(3):
        again(url, f"mail:{number}")
    assert run("prune", "--before", "2020-01-01").output == "0 records forgotten\n"
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).strftime("%Y-%m-%d")
    assert run("prune", "--before", tomorrow).output == "3 records forgotten\n"
    (kept,) = json.loads(run("list", "--all", "--json").output)
    assert kept["key"] == "charge:1"


def test_a_store_that_cannot_be_opened_ends_the_command_with_its_error() -> None:
    result = CliRunner().invoke(main, ["ledger", "list", "--store", "mysql://nowhere"])
    assert result.exit_code == 2
    assert "RSM-406" in result.output


def test_the_error_about_a_doubt_names_the_command_that_settles_it(sqlite_url: str, world: World) -> None:
    leave_in_doubt(sqlite_url, world, "charge: it's 1")
    with pytest.raises(InDoubt) as caught:
        again(sqlite_url, "charge: it's 1")
    message = str(caught.value)
    assert "on_doubt=" in message
    command = message.partition("`resumption ")[2].partition(" --result")[0]
    assert CliRunner().invoke(main, [*shlex.split(command), "--result", '"paid"']).exit_code == 0
    assert again(sqlite_url, "charge: it's 1") == "paid"


@pytest.mark.parametrize("address", ["effects.db", "sqlite:///:memory:", "sqlite://", "dbname=x password=secret"])
def test_an_address_that_is_none_is_answered_with_the_form_of_one(address: str) -> None:
    result = CliRunner().invoke(main, ["ledger", "list", "--store", address])
    assert result.exit_code == 2
    assert "RSM-406" in result.output
    assert "sqlite:///effects.db" in result.output
    assert "secret" not in result.output


def test_a_ledger_is_named_without_its_password() -> None:
    assert without_password("postgresql://ada:secret@db:5432/x?password=secret") == "postgresql://ada@db:5432/x"
    assert without_password("postgres:///x") == "postgresql:///x"


def test_what_is_in_doubt_is_shown_without_end_and_result(url: str, world: World, run: Callable[..., Result]) -> None:
    leave_in_doubt(url, world)
    with pytest.raises(InDoubt):
        again(url)
    shown = json.loads(run("show", "charge:1", "--json").output)
    assert shown["state"] == "doubt"
    assert not {"ended", "result"} & shown.keys()
    assert run("resolve", "charge:1", "--not-fired").exit_code == 0
    shown = json.loads(run("show", "charge:1", "--json").output)
    assert "ended" in shown
    assert "result" not in shown
    again(url)
    assert json.loads(run("show", "charge:1", "--json").output)["result"] == '"fired again"'


def test_a_mistyped_address_is_an_error_and_creates_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["ledger", "list", "--store", "sqlite:///typo.db"])
    assert result.exit_code == 2
    assert f"no ledger at sqlite:///{tmp_path / 'typo.db'}" in result.output
    assert list(tmp_path.iterdir()) == []


def test_records_are_listed_page_by_page(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resumption.guard.ledger._PAGE", 3)
    for number in range(7):
        effect(ledger, key=f"k{number}")(lambda: None)()
    assert [seen.record.key for seen in operators.listing(ledger, everything=True)] == [f"k{n}" for n in range(7)]
