"""A row of the guard's that can't be read stops its own thread with one typed error, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner

from resumption.cli import main
from resumption.errors import RowUnreadable
from resumption.guard.claims.records import CLAIM_COLUMNS
from resumption.langgraph import guard

from ..unreadable import NO_JSON, WRONG_TYPE, break_column
from .databases import Database
from .foreign import FileSaver
from .programs import Bench, answer

T: Any = {"configurable": {"thread_id": "t"}}
OTHER: Any = {"configurable": {"thread_id": "other"}}
INPUT: Any = {"trail": []}

# A row is found by these: one that they don't name any more isn't this thread's, or this delivery's.
CLAIMS = [(column, WRONG_TYPE) for column in CLAIM_COLUMNS if column not in ("thread", "root")]
CLAIMS += [("place", NO_JSON), ("place", "[]"), ("finished", NO_JSON), ("finished", "[1]")]
DELIVERIES = [(column, WRONG_TYPE, column) for column in ("digest", "head", "at", "place")]
DELIVERIES += [("place", NO_JSON, "place"), ("kind", "pickle5", "outcome"), ("outcome", b"\xc1", "outcome")]
FENCES = [("holder", None), ("number", WRONG_TYPE)]


def _refused(database: Database, bench: Bench, table: str, column: str, value: Any, told: str | None = None) -> None:
    builder = bench.builder(draft=bench.step("draft"), pay=bench.gate("pay"), ship=bench.gate("ship"))
    with database.opened(builder, wait=1.0) as program:
        for thread in (T, OTHER):
            program.call(INPUT, thread, delivery_id="start")
            program.call(answer("yes"), thread, delivery_id="pay")
        break_column(database.address, table, column, value, thread="t")
        before = bench.fired()
        with pytest.raises(RowUnreadable, match=f"{table}.{told or column} .* thread 't'") as raised:
            program.call(answer("yes"), T, delivery_id="pay" if table.endswith("deliveries") else None)
        assert (raised.value.table, raised.value.column, raised.value.row) == (table, told or column, "t")
        assert bench.fired() == before
        with pytest.raises(RowUnreadable):  # nor does the one who was told keep the thread from whoever asks next
            program.call(answer("yes"), T, delivery_id="pay" if table.endswith("deliveries") else None)
        assert program.call(answer("go"), OTHER)["trail"][-1] == "ship=go"


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, quick: Bench) -> Database:
    """A file and a server: how a saver waits makes no difference to what its rows hold."""
    address = request.getfixturevalue("postgres_url") if request.param == "postgres" else str(quick.database)
    made = Database(request.param, address)
    made.setup()
    return made


@pytest.mark.parametrize(("column", "value"), CLAIMS, ids=str)
def test_a_claim_that_cannot_be_read_is_named_and_nothing_runs(database, quick, column, value):
    _refused(database, quick, "resumption_claims", column, value)
    store = database.address if database.on_server else f"sqlite:///{database.address}"
    listed = CliRunner().invoke(main, ["approvals", "list", "--json", "--store", store])
    assert listed.exit_code == 3
    assert '"thread": "other"' in listed.stdout
    assert '"what": "decided"' in listed.stdout
    assert f"resumption_claims.{column}" in listed.stderr
    shown = CliRunner().invoke(main, ["approvals", "show", "t", "--store", store])
    assert (shown.exit_code, f"resumption_claims.{column}" in shown.stderr) == (3, True)
    assert CliRunner().invoke(main, ["approvals", "show", "other", "--store", store]).exit_code == 0


@pytest.mark.parametrize(("column", "value", "told"), DELIVERIES, ids=str)
def test_a_delivery_that_cannot_be_read_is_named_and_nothing_runs(database, quick, column, value, told):
    _refused(database, quick, "resumption_deliveries", column, value, told)


@pytest.mark.parametrize(("column", "value"), FENCES, ids=str)
def test_a_fence_that_cannot_be_read_is_named_and_nothing_runs(database, quick, column, value):
    _refused(database, quick, "resumption_fences", column, value)


def test_a_refusal_that_cannot_be_read_hides_no_other(database, quick):
    builder = quick.builder(pay=quick.gate("pay"))
    with database.opened(builder, wait=1.0) as program:
        for thread in (T, OTHER):
            program.call(INPUT, thread)
            program.call(answer("yes"), thread)
            with pytest.raises(Exception, match="RSM-5"):
                program.call(answer("no"), thread)
    break_column(database.address, "resumption_refusals", "place", NO_JSON, thread="t")
    store = database.address if database.on_server else f"sqlite:///{database.address}"
    listed = CliRunner().invoke(main, ["approvals", "list", "--store", store])
    assert (listed.exit_code, listed.stdout.count("refused"), listed.stdout.count("decided")) == (3, 1, 2)
    assert "resumption_refusals.place can't be read in a row of thread 't'" in listed.stderr


@pytest.mark.parametrize(("column", "value"), [("channel", WRONG_TYPE), ("value", b"\xc1")], ids=str)
def test_a_slot_beside_an_unknown_saver_that_cannot_be_read_is_named(database, quick, column, value):
    builder = quick.builder(pay=quick.gate("pay", "first?", "second?"))
    store = database.address if database.on_server else f"sqlite:///{quick.folder / 'claims.db'}"
    app = guard(builder.compile(checkpointer=FileSaver(quick.folder / "files")), store=store)
    for thread in (T, OTHER):
        app.invoke(INPUT, thread)
        app.invoke(answer("A"), thread)
    for name, broken in {"type": "msgpack", column: value}.items():  # one that says that the slot is empty has no value
        break_column(store, "resumption_slots", name, broken, thread_id="t")
    with pytest.raises(RowUnreadable, match=f"resumption_slots.{column} .* thread 't'"):
        app.invoke(answer("B"), T)
    assert quick.fired() == []
    assert app.invoke(answer("B"), OTHER)["trail"] == ["pay=A,B"]
