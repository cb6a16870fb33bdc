"""An effect's record that can't be read stops calls of that effect with one typed error, and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from click.testing import CliRunner

from resumption.cli import main
from resumption.errors import RowUnreadable, Unrecorded
from resumption.guard import operators
from resumption.guard.effects import effect
from resumption.guard.stores.records import COLUMNS

from .unreadable import NO_JSON, WRONG_TYPE, break_column

NEVER_NULL = [column for column in COLUMNS if column not in ("key", "ended", "note", "result")]
CASES: list[tuple[str, Any]] = [(column, WRONG_TYPE) for column in NEVER_NULL]
CASES += [("place", NO_JSON), ("place", '{"host": "h", "pid": 1}'), ("began", "yesterday"), ("ended", "soon")]


@pytest.mark.parametrize(("column", "value"), CASES, ids=str)
def test_a_record_that_cannot_be_read_is_named_and_nothing_fires(ledger, url, column, value):
    fired = []

    @effect(ledger=ledger, key=str)
    def charge(what: str) -> str:
        fired.append(what)
        return what

    charge("broken"), charge("whole")
    break_column(url, "resumption_effects", column, value, key="broken")
    for _ in range(2):  # and again: what the first left behind is in nobody's way
        with pytest.raises(RowUnreadable, match=f"resumption_effects.{column} .* key 'broken'") as raised:
            charge("broken")
        assert (raised.value.table, raised.value.column, raised.value.row) == ("resumption_effects", column, "broken")
        assert charge("whole") == "whole"
    assert charge("new") == "new"
    assert fired == ["broken", "whole", "new"]
    ledger.close()
    listed = CliRunner().invoke(main, ["ledger", "list", "--all", "--json", "--store", url])
    assert (listed.exit_code, '"key": "whole"' in listed.stdout) == (3, True)
    assert f"resumption_effects.{column}" in listed.stderr
    shown = CliRunner().invoke(main, ["ledger", "show", "broken", "--store", url])
    assert (shown.exit_code, "[RSM-105]" in shown.stderr) == (3, True)
    pruned = CliRunner().invoke(main, ["ledger", "prune", "--before", "2999-01-01", "--store", url])
    assert (pruned.exit_code, pruned.stdout, "[RSM-105]" in pruned.stderr) == (3, "2 records forgotten\n", True)


def test_who_lists_records_without_saying_what_to_do_about_unreadable_ones_is_told(ledger, url):
    effect(ledger=ledger, key="broken")(lambda: None)()
    break_column(url, "resumption_effects", "place", NO_JSON, key="broken")
    with pytest.raises(RowUnreadable):
        list(operators.listing(ledger, everything=True))
    with pytest.raises(RowUnreadable):
        operators.prune(ledger, before=datetime.now(UTC), actor="test")


def test_an_effect_whose_record_breaks_while_it_runs_keeps_its_result_and_is_written_down_once_mended(ledger, url):
    @effect(ledger=ledger, key="mended")
    def charge() -> str:
        whole.append(ledger.get("mended").place)
        break_column(url, "resumption_effects", "place", NO_JSON, key="mended")
        return "paid"

    whole: list[str] = []
    with pytest.raises(Unrecorded) as raised:
        charge()
    assert (raised.value.result, type(raised.value.__cause__)) == ("paid", RowUnreadable)
    effect(ledger=ledger, key="another")(lambda: None)()
    break_column(url, "resumption_effects", "place", whole[0], key="mended")
    assert charge() == "paid"
    assert len(whole) == 1


def test_text_that_is_no_utf8_hides_no_other_record(tmp_path, sqlite_url):
    import sqlite3

    from resumption.guard.effects import Ledger

    ledger = Ledger(sqlite_url)
    for key in ("broken", "whole"):
        effect(ledger=ledger, key=key)(lambda: None)()
    with sqlite3.connect(tmp_path / "effects.db") as file:
        file.execute("UPDATE resumption_effects SET state = CAST(x'ff' AS TEXT) WHERE key = 'broken'")
    unreadable: list[RowUnreadable] = []
    seen = operators.listing(ledger, everything=True, unreadable=unreadable.append)
    assert [one.record.key for one in seen] == ["whole"]
    assert [(one.column, one.row) for one in unreadable] == [("state", "broken")]
