"""A saver that the guard doesn't know, with a store beside it: what is kept all the same, and what is refused."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sys
from collections import Counter
from typing import Any

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from resumption.errors import LedgerUnavailable
from resumption.guard.langgraph.tenure import KEY, Tenure
from resumption.langgraph import (
    AlreadyConsumed,
    DecisionPending,
    Fenced,
    GuardError,
    UnsupportedSaver,
    fork,
    guard,
)

from .foreign import FileSaver
from .programs import THREAD, Bench, State, answer, pending
from .test_crashes import die, in_child
from .test_savers import lives_async

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs fork and open file description locks")

INPUT: Any = {"trail": []}


@pytest.fixture(params=["file", "sqlite", "postgres"])
def store(request, bench):
    """A path, a SQLite address, and a PostgreSQL one."""
    if request.param == "postgres":
        return request.getfixturevalue("postgres_url")
    path = bench.folder / "claims.db"
    return str(path) if request.param == "file" else f"sqlite:///{path}"


def guarded(bench: Bench, store: str, builder: StateGraph[Any] | None = None, **options: Any) -> Any:
    """Draft, gate, notify on files: a saver of its own, as another process has."""
    builder = builder or bench.builder(draft=bench.step("draft"), pay=bench.gate("pay"), notify=bench.step("notify"))
    return guard(builder.compile(checkpointer=FileSaver(bench.folder / "files")), store=store, **options)


def test_a_second_click_joins_and_another_decision_is_refused(bench, store):
    app = guarded(bench, store)
    assert "__interrupt__" in app.invoke(INPUT, THREAD)
    done = app.invoke(answer("yes"), THREAD)
    assert done == {"trail": ["draft", "pay=yes", "notify"]}
    assert guarded(bench, store).invoke(answer("yes"), THREAD) == done
    with pytest.raises(AlreadyConsumed):
        guarded(bench, store).invoke(answer("no"), THREAD)
    assert bench.fired() == ["draft", "pay=yes", "notify"]
    assert isinstance(app.checkpointer, FileSaver)


def test_a_dead_winner_leaves_its_decision_to_a_recovery(bench, store):
    guarded(bench, store).invoke(INPUT, THREAD)

    def win() -> None:
        gate = bench.gate("pay", before=die)
        builder = bench.builder(draft=bench.step("draft"), pay=gate, notify=bench.step("notify"))
        guarded(bench, store, builder).invoke(answer("yes"), THREAD)

    assert in_child(win) == -signal.SIGKILL
    app = guarded(bench, store)
    assert pending(app) == []
    with pytest.raises(DecisionPending):
        app.invoke(answer("no"), THREAD)
    assert app.invoke(None, THREAD) == {"trail": ["draft", "pay=yes", "notify"]}
    app.invoke(None, THREAD)
    assert bench.fired() == ["draft", "pay=yes", "notify"]


def test_the_winner_may_die_at_any_write_of_the_saver(tmp_path):
    """Before and after each: between a saver's write and the store's, nothing is lost or asked twice."""
    number, ended = 0, -signal.SIGKILL
    while ended == -signal.SIGKILL:
        number += 1
        bench = Bench(tmp_path / str(number))
        bench.folder.mkdir()
        store = str(bench.folder / "claims.db")
        asking = bench.builder(pay=bench.gate("pay", "first?", "second?"), notify=bench.step("notify"))
        guarded(bench, store, asking).invoke(INPUT, THREAD)

        def win(bench: Bench = bench, store: str = store, asking: Any = asking, number: int = number) -> None:
            app = guarded(bench, store, asking)
            _die_at_write(app.checkpointer, number)
            app.invoke(answer("A"), THREAD)
            app.invoke(answer("B"), THREAD)

        ended = in_child(win)
        app, where = guarded(bench, store, asking), f"killed at point {number}"
        app.invoke(None, THREAD)
        while questions := app.get_state(THREAD).interrupts:
            app.invoke(answer({"first?": "A", "second?": "B"}[questions[0].value]), THREAD)
        assert app.get_state(THREAD).values["trail"] == ["pay=A,B", "notify"], where
        assert set(bench.fired()) == {"pay=A,B", "notify"}, where
    assert ended == 0
    assert number > 10


def _die_at_write(saver: Any, number: int) -> None:
    """Have this process die at the point of that number: before or after a write of the saver."""
    left, write = [number], saver.write

    def count() -> None:
        left[0] -= 1
        if left[0] == 0:
            die()

    def counted(*args: Any) -> None:
        count()
        write(*args)
        count()

    saver.write = counted


def test_of_racing_processes_one_decision_is_consumed(bench, store):
    guarded(bench, store).invoke(INPUT, THREAD)
    context = multiprocessing.get_context("fork")
    line, outcomes = context.Barrier(4), context.SimpleQueue()

    def race(value: str) -> None:
        app = guarded(Bench(bench.folder), store)
        line.wait()
        try:
            outcomes.put(str(app.invoke(answer(value), THREAD)["trail"][1]))
        except GuardError as error:
            outcomes.put(type(error).__name__)

    racers = [context.Process(target=race, args=(value,)) for value in ("yes", "yes", "no", "no")]
    for racer in racers:
        racer.start()
    seen = Counter(outcomes.get() for _ in racers)
    for racer in racers:
        racer.join()
    (fired,) = [one for one in bench.fired() if one.startswith("pay")]
    assert seen == {fired: 2, "AlreadyConsumed": 2}


def test_a_run_on_an_event_loop(bench, store):
    builder = bench.builder(
        draft=bench.step("draft"), pay=bench.gate("pay", "first?", "second?"), notify=bench.step("notify")
    )

    async def run() -> None:
        with pytest.raises(UnsupportedSaver, match="leave `into` away"):
            await lives_async(bench, guarded(bench, store, builder))

    asyncio.run(run())  # up to the fork into a thread of its own, which is what such a saver can't have
    assert bench.fired() == ["draft", "pay=A,B", "notify"]


def test_a_fork_on_the_thread_has_a_decision_of_its_own(bench, store):
    app = guarded(bench, store)
    app.invoke(INPUT, THREAD)
    parked = app.get_state(THREAD)
    app.invoke(answer("yes"), THREAD)
    assert fork(app, parked.config, "no")["trail"] == ["draft", "pay=no", "notify"]
    assert bench.fired() == ["draft", "pay=yes", "notify", "pay=no", "notify"]


def test_a_gate_in_a_subgraph_is_found_and_answered_once(bench, store):
    inner: StateGraph[Any] = StateGraph(State)
    inner.add_node("ask", lambda state: {"trail": [f"ask={interrupt('sure?')}"]})
    inner.add_edge(START, "ask")
    inner.add_edge("ask", END)
    app = guarded(bench, store, bench.builder(inner=inner.compile()))
    app.invoke(INPUT, THREAD)
    assert app.invoke(answer("yes"), THREAD)["trail"] == ["ask=yes"]
    with pytest.raises(AlreadyConsumed):
        app.invoke(answer("no"), THREAD)


def test_a_replaced_executors_writes_are_refused_before_the_saver_sees_them(bench, store):
    app = guarded(bench, store)
    saver = app.checkpointer
    first = Tenure("t", saver.guard_locks.attempt("t"))
    saver.guard_write(first, lambda: iter(()))
    config = {"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": "c", KEY: first}}
    saver.put_writes(config, [("trail", ["mine"])], "task")
    first.end()
    second = Tenure("t", saver.guard_locks.attempt("t"))
    saver.guard_write(second, lambda: iter(()))
    successor = dict(config["configurable"], **{KEY: second})
    files = sorted((bench.folder / "files").rglob("*.write"))
    first._over = False  # cut off: it doesn't know that it lost its lease
    with pytest.raises(Fenced):
        saver.put_writes(config, [("trail", ["stale"])], "task")
    assert sorted((bench.folder / "files").rglob("*.write")) == files
    saver.put_writes({"configurable": successor}, [("trail", ["new"])], "task")
    assert len(sorted((bench.folder / "files").rglob("*.write"))) == 2
    second.end()


def test_one_saver_has_one_store_and_a_known_saver_has_none(bench):
    saver = FileSaver(bench.folder / "files")
    builder = bench.builder(draft=bench.step("draft"))
    guard(builder.compile(checkpointer=saver), store=str(bench.folder / "claims.db"))
    with pytest.raises(UnsupportedSaver, match="lease its threads twice"):
        guard(builder.compile(checkpointer=saver), store=str(bench.folder / "others.db"))
    with pytest.raises(UnsupportedSaver, match="own database"):
        guard(builder.compile(checkpointer=bench.saver()), store=str(bench.folder / "claims.db"))
    with pytest.raises(UnsupportedSaver, match="store="):
        guard(builder.compile(checkpointer=FileSaver(bench.folder)))
    with pytest.raises(LedgerUnavailable, match="no durable store"):
        guard(builder.compile(checkpointer=FileSaver(bench.folder)), store="redis://somewhere")


def test_nobody_else_sees_the_guards_slots_in_the_saver(bench):
    """The decision is the store's alone: the saver shows the question that it was given."""
    app = guarded(bench, str(bench.folder / "claims.db"))
    app.invoke(INPUT, THREAD)

    def win() -> None:
        gate = bench.gate("pay", before=lambda: os._exit(7))
        builder = bench.builder(draft=bench.step("draft"), pay=gate, notify=bench.step("notify"))
        guarded(bench, str(bench.folder / "claims.db"), builder).invoke(answer("yes"), THREAD)

    assert in_child(win) == 7
    stock = bench.builder(draft=bench.step("draft"), pay=bench.gate("pay"), notify=bench.step("notify"))
    plain = stock.compile(checkpointer=FileSaver(bench.folder / "files"))
    assert len(plain.get_state(THREAD).interrupts) == 1
    assert app.get_state(THREAD).interrupts == ()
