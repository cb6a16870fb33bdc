"""What operators have: a recovery worker, and the trail of who decided what."""

from __future__ import annotations

import json
import sys
import types
from typing import Any

import pytest
from click.testing import CliRunner

from resumption.cli import main
from resumption.errors import UnknownName
from resumption.langgraph import AlreadyConsumed

from .programs import THREAD, answer, pending

INPUT: Any = {"trail": []}


def test_the_recovery_worker_finishes_what_was_cut_off_and_leaves_the_rest(bench, monkeypatch):
    failing = [True]

    def fail() -> None:
        if failing:
            raise ConnectionError("the bank is out of reach")

    builder = bench.builder(pay=bench.gate("pay", before=fail))
    app = bench.guarded(builder)
    app.invoke(INPUT, THREAD)
    with pytest.raises(ConnectionError):
        app.invoke(answer("yes"), THREAD)
    app.invoke(INPUT, {"configurable": {"thread_id": "parked"}})
    module = types.ModuleType("approval_app")
    module.graph = builder.compile(checkpointer=bench.saver())  # type: ignore[attr-defined]  # a program's module
    monkeypatch.setitem(sys.modules, "approval_app", module)
    again = CliRunner().invoke(main, ["recover", "approval_app:graph"])
    assert (again.exit_code, "t: failed again: ConnectionError" in again.output) == (1, True)
    failing.clear()
    done = CliRunner().invoke(main, ["recover", "approval_app:graph"])
    assert (done.exit_code, done.output) == (0, "t: recovered\n")
    assert bench.fired() == ["pay=yes"]
    assert CliRunner().invoke(main, ["recover", "approval_app:graph"]).output == ""


def test_decisions_and_refusals_are_listed(bench):
    app = bench.approval()
    app.invoke(INPUT, THREAD)
    app.invoke(answer("yes"), THREAD, delivery_id="click-1")
    with pytest.raises(AlreadyConsumed):
        app.invoke(answer("no"), THREAD)
    listed = CliRunner().invoke(main, ["approvals", "list", "--store", f"sqlite:///{bench.database}", "--json"])
    entries = json.loads(listed.output)
    assert [(one["what"], one["delivery"]) for one in entries] == [
        ("decided", "click-1"),
        ("refused: claim-already-consumed", ""),
    ]
    table = CliRunner().invoke(main, ["approvals", "list", "--store", f"sqlite:///{bench.database}", "--thread", "t"])
    assert (table.exit_code, "decided" in table.output) == (0, True)


def test_all_that_is_on_record_of_a_thread_is_shown(bench):
    app = bench.approval()
    app.invoke(INPUT, THREAD)
    (asked,) = pending(app)
    app.invoke(answer("yes"), THREAD, delivery_id="click-1")
    with pytest.raises(AlreadyConsumed):
        app.invoke(answer("no"), THREAD)
    store = ["--store", f"sqlite:///{bench.database}"]
    shown = CliRunner().invoke(main, ["approvals", "show", "t", *store, "--interrupt", asked[:8]])
    assert shown.exit_code == 0
    assert [line.partition(",")[0] for line in shown.output.splitlines() if line[0] != " "] == ["decided"]
    assert {f"interrupt  {asked}", "delivery   click-1"} <= {line.strip() for line in shown.output.splitlines()}
    assert "refused" in CliRunner().invoke(main, ["approvals", "show", "t", *store]).output
    unknown = CliRunner().invoke(main, ["approvals", "show", "other", *store])
    assert unknown.exit_code != 0
    assert isinstance(unknown.exception, UnknownName) or "other" in unknown.output
