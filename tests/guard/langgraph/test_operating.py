"""What operators have: a recovery worker, and the trail of who decided what."""

from __future__ import annotations

import asyncio
import json
import sys
import types
from typing import Any, TypedDict

import aiosqlite
import pytest
from click.testing import CliRunner
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

from resumption.cli import main
from resumption.errors import InDoubt, UnknownName
from resumption.langgraph import AlreadyConsumed, guard

from .programs import THREAD, answer, pending

INPUT: Any = {"trail": []}


class State(TypedDict, total=False):
    paid: str


def _module(monkeypatch: pytest.MonkeyPatch, **names: Any) -> None:
    """A program's module, as `resumption recover approval_app:NAME` imports it."""
    module = types.ModuleType("approval_app")
    module.__dict__.update(names)
    monkeypatch.setitem(sys.modules, "approval_app", module)


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
    _module(monkeypatch, graph=builder.compile(checkpointer=bench.saver()))
    again = CliRunner().invoke(main, ["recover", "approval_app:graph"])
    assert (again.exit_code, "t: failed again: ConnectionError" in again.output) == (1, True)
    failing.clear()
    done = CliRunner().invoke(main, ["recover", "approval_app:graph"])
    assert (done.exit_code, done.output) == (0, "t: recovered\n")
    assert bench.fired() == ["pay=yes"]
    assert CliRunner().invoke(main, ["recover", "approval_app:graph"]).output == "nothing to recover\n"


def test_a_thread_in_doubt_is_told_and_the_others_are_recovered(bench, monkeypatch):
    doubts = 3  # of two threads when they are answered, and of the one that is recovered first

    def ask() -> None:
        nonlocal doubts
        if doubts:
            doubts -= 1
            raise InDoubt("Nobody knows whether it fired.", advice="Look it up.")

    builder = bench.builder(pay=bench.gate("pay", before=ask))
    app = bench.guarded(builder)
    for thread in ("a", "b"):
        config = {"configurable": {"thread_id": thread}}
        app.invoke(INPUT, config)
        with pytest.raises(InDoubt):
            app.invoke(answer("yes"), config)
    _module(monkeypatch, make=lambda: builder.compile(checkpointer=bench.saver()))
    again = CliRunner().invoke(main, ["recover", "approval_app:make"])
    assert (again.exit_code, again.output.count("failed again: InDoubt: [RSM-401]")) == (1, 1)
    assert again.output.count("recovered") == 1
    assert bench.fired() == ["pay=yes"]


def test_a_graph_on_an_event_loop_is_recovered_there(tmp_path, monkeypatch):
    failing = [True]

    async def pay(state: State) -> State:
        decision = interrupt("Pay?")
        if failing:
            raise ConnectionError("the bank is out of reach")
        return {"paid": decision}

    builder = StateGraph(State)
    builder.add_node("pay", pay)
    builder.add_edge(START, "pay")
    database = str(tmp_path / "orders.db")

    async def make() -> Any:
        return guard(builder.compile(checkpointer=AsyncSqliteSaver(await aiosqlite.connect(database))))

    async def park_and_fail() -> None:
        async with AsyncSqliteSaver.from_conn_string(database) as saver:
            app = guard(builder.compile(checkpointer=saver))
            await app.ainvoke({}, THREAD)
            with pytest.raises(ConnectionError):
                await app.ainvoke(answer("yes"), THREAD)

    async def outcome() -> Any:
        async with AsyncSqliteSaver.from_conn_string(database) as saver:
            return (await builder.compile(checkpointer=saver).aget_state(THREAD)).values

    asyncio.run(park_and_fail())
    _module(monkeypatch, make=make)
    again = CliRunner().invoke(main, ["recover", "approval_app:make"])
    assert (again.exit_code, "t: failed again: ConnectionError" in again.output) == (1, True)
    failing.clear()
    assert CliRunner().invoke(main, ["recover", "approval_app:make"]).output == "t: recovered\n"
    assert asyncio.run(outcome()) == {"paid": "yes"}
    assert CliRunner().invoke(main, ["recover", "approval_app:make"]).output == "nothing to recover\n"


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("approval_app:builder", "A StateGraph is no compiled graph."),
        ("approval_app:bare", "has no checkpointer of its own"),
        ("approval_app:other", "'approval_app:other' leads to no graph: AttributeError"),
        ("no_such_module:graph", "leads to no graph: ModuleNotFoundError"),
        ("approval_app", "Write MODULE:GRAPH."),
    ],
)
def test_what_can_not_be_recovered_is_refused_in_one_line(bench, monkeypatch, target, said):
    builder = bench.builder(pay=bench.gate("pay"))
    _module(monkeypatch, builder=builder, bare=builder.compile())
    refused = CliRunner().invoke(main, ["recover", target])
    assert (refused.exit_code, len(refused.output.splitlines())) == (2, 1)
    assert said in refused.output


@pytest.mark.parametrize(
    ("store", "said"),
    [
        ("orders.db", "The store's address names no durable store."),
        ("sqlite:///orders.db", "There is no database at sqlite:///"),
    ],
)
def test_a_store_that_is_none_is_told_and_not_made(tmp_path, monkeypatch, store, said):
    monkeypatch.chdir(tmp_path)
    refused = CliRunner().invoke(main, ["approvals", "list", "--store", store])
    assert (refused.exit_code, said in refused.output) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_decisions_and_refusals_are_listed(bench):
    app = bench.approval()
    app.invoke(INPUT, THREAD)
    (asked,) = pending(app)
    app.invoke(answer("yes"), THREAD, delivery_id="click-1")
    with pytest.raises(AlreadyConsumed) as refused:
        app.invoke(answer("no"), THREAD)
    assert refused.value.interrupt == asked
    listed = CliRunner().invoke(main, ["approvals", "list", "--store", f"sqlite:///{bench.database}", "--json"])
    entries = json.loads(listed.output)
    assert [(one["what"], one["interrupt"], one["delivery"]) for one in entries] == [
        ("decided", asked, "click-1"),
        ("refused: claim-already-consumed", asked, ""),
    ]
    table = CliRunner().invoke(main, ["approvals", "list", "--store", f"sqlite:///{bench.database}", "--thread", "t"])
    assert (table.exit_code, "decided" in table.output) == (0, True)
    assert "…" not in table.output
    assert max(map(len, table.output.splitlines())) <= 100
    for one in entries:
        assert one["at"][:19].replace("T", " ") in table.output


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
    told = [line.partition(",")[0] for line in shown.output.splitlines() if line[0] != " "]
    assert told == ["decided", "refused: claim-already-consumed"]
    assert {f"interrupt  {asked}", "delivery   click-1"} <= {line.strip() for line in shown.output.splitlines()}
    assert "refused" in CliRunner().invoke(main, ["approvals", "show", "t", *store]).output
    unknown = CliRunner().invoke(main, ["approvals", "show", "other", *store])
    assert unknown.exit_code != 0
    assert isinstance(unknown.exception, UnknownName) or "other" in unknown.output
