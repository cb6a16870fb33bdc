"""Public failure cases as their reporters met them: in several processes, on busy databases, with slow tools."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, StateGraph

from resumption.langgraph import RunBusy, guard

from .databases import Database
from .programs import THREAD, Bench, State, answer
from .test_crashes import die, in_child

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs fork and open file description locks")

INPUT: Any = {"trail": []}


def approval(bench: Bench, before: Callable[[], None] = lambda: None) -> Any:
    gate = bench.gate("pay", before=before)
    return bench.builder(draft=bench.step("draft"), pay=gate, notify=bench.step("notify"))


@pytest.mark.parametrize("form", ["bare", "map"])
def test_g1_a_winner_that_was_killed_between_claim_and_node_leaves_its_decision(quick: Bench, database: Database, form):
    with database.opened(approval(quick)) as program:
        program.call(INPUT)
        (asked,) = program.state().interrupts

    def win() -> None:
        with database.opened(approval(quick, die)) as program:
            program.call(answer("yes" if form == "bare" else {asked.id: "yes"}))

    assert in_child(win) == -signal.SIGKILL
    with database.opened(approval(quick)) as program:
        assert program.call(None)["trail"] == ["draft", "pay=yes", "notify"]
    assert quick.fired() == ["draft", "pay=yes", "notify"]


@pytest.mark.parametrize("addressed", [False, True], ids=["bare", "at the head"])
def test_g5_g9_g10_two_interrupts_of_a_node_are_answered_by_two_processes(quick: Bench, database: Database, addressed):
    """The second client addresses what `get_state` showed it, as Studio's do, or nothing."""
    builder = quick.builder(pay=quick.gate("pay", "first?", "second?"))

    def call(payload: Any) -> None:
        with database.opened(builder) as program:
            program.call(payload, program.state().config if addressed and payload is not INPUT else THREAD)

    for payload in (INPUT, answer("A"), answer("B")):
        assert in_child(partial(call, payload)) == 0
    with database.opened(builder) as program:
        assert program.state().values == {"trail": ["pay=A,B"]}
    assert quick.fired() == ["pay=A,B"]


def test_g7_an_interrupt_in_a_subgraph_is_answered_by_another_process(quick: Bench, database: Database):
    inner = quick.builder(draft=quick.step("draft"), pay=quick.gate("pay")).compile()
    builder = quick.builder(inner=inner, notify=quick.step("notify"))

    def call(payload: Any) -> None:
        with database.opened(builder) as program:
            program.call(payload)

    assert in_child(lambda: call(INPUT)) == 0
    assert in_child(lambda: call(answer("yes"))) == 0
    assert quick.fired() == ["draft", "pay=yes", "notify"]


class _Unlucky(SqliteSaver):
    """Is slow at one of its writes, and its process is killed at a checkpoint: before that is stored, or after."""

    slow: str
    dies: str

    def put_writes(self, *args: Any, **options: Any) -> None:
        self._dawdle("put_writes")
        super().put_writes(*args, **options)

    def put(self, config: Any, checkpoint: Any, *rest: Any) -> Any:
        self._dawdle("put")
        second = "second" in checkpoint["channel_values"].get("trail", ())
        if second and self.dies == "before":
            die()
        stored = super().put(config, checkpoint, *rest)
        if second:
            die()
        return stored

    def _dawdle(self, what: str) -> None:
        if self.slow == what:
            signal.sigtimedwait([], 0.1)


@pytest.mark.parametrize("durability", ["sync", "async"])
@pytest.mark.parametrize("dies", ["before", "after"])
@pytest.mark.parametrize("slow", ["put", "put_writes"])
def test_l12_a_slow_write_and_a_crash_at_the_next_checkpoint_run_no_finished_step_twice(
    bench: Bench, slow, dies, durability
):
    """LangGraph #8039, #8234: the step whose writes were late ran again."""
    builder = bench.builder(**{name: bench.step(name) for name in ("first", "second", "third")})

    def crash() -> None:
        saver = _Unlucky(bench.saver().conn)
        saver.slow, saver.dies = slow, dies
        guard(builder.compile(checkpointer=saver)).invoke(INPUT, THREAD, durability=durability)

    assert in_child(crash) == -signal.SIGKILL
    assert bench.guarded(builder).invoke(None, THREAD)["trail"] == ["first", "second", "third"]
    # In the background, the checkpoint after the second step is stored while the third is under way.
    under_way = ([],) if durability == "sync" else ([], ["third"])
    assert bench.fired()[:3] == ["first", "second", "third"]
    assert bench.fired()[3:] in under_way


def test_l16_a_slow_tool_is_not_dispatched_to_another_worker_while_its_executor_lives(quick: Bench, database: Database):
    """LangGraph #7417: the node outlived its owner's lease, and another worker took the run over."""
    inside, at_inside = os.pipe()
    leave, at_leave = os.pipe()

    def hold() -> None:
        os.write(at_inside, b".")
        os.read(leave, 1)

    with database.opened(approval(quick)) as program:
        program.call(INPUT)
    slow = threading.Thread(target=in_child, args=(lambda: _call(database, approval(quick, hold), answer("yes")),))
    slow.start()
    assert os.read(inside, 1) == b"."
    try:
        with database.opened(approval(quick), wait=0.2) as program, pytest.raises(RunBusy):
            program.call(None)
    finally:
        os.write(at_leave, b".")
        slow.join()
    with database.opened(approval(quick)) as program:
        assert program.call(None)["trail"] == ["draft", "pay=yes", "notify"]
    assert quick.fired() == ["draft", "pay=yes", "notify"]
    for descriptor in (inside, at_inside, leave, at_leave):
        os.close(descriptor)


def _call(database: Database, builder: Any, payload: Any) -> None:
    with database.opened(builder) as program:
        program.call(payload)


RUNS = 24
WORKERS = 3


def test_l17_many_runs_at_once_on_one_sqlite_file_lose_no_acknowledged_write(quick: Bench):
    """LangGraph #8136: "database is locked" from concurrent writes of an asynchronous saver."""

    def node(name: str) -> Any:
        async def work(state: Any) -> Any:
            await asyncio.sleep(0)
            return {"trail": [name]}

        return work

    builder: StateGraph[Any] = StateGraph(State)
    for name in ("left", "middle", "right"):
        builder.add_node(name, node(name))
        builder.add_edge(START, name)

    async def run(worker: int) -> None:
        async with AsyncSqliteSaver.from_conn_string(str(quick.database)) as saver:
            app = guard(builder.compile(checkpointer=saver))
            configs: list[Any] = [{"configurable": {"thread_id": f"{worker}-{run}"}} for run in range(RUNS)]
            for told in await asyncio.gather(*(app.ainvoke(INPUT, config) for config in configs)):
                assert len(told["trail"]) == 3
            for config in configs:
                quick.fire(config["configurable"]["thread_id"])  # acknowledged

    Bench(quick.folder).guarded(builder)  # makes the tables
    workers = [threading.Thread(target=in_child, args=(lambda w=w: asyncio.run(run(w)),)) for w in range(WORKERS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(quick.fired()) == RUNS * WORKERS
    with Database("sqlite", str(quick.database)).opened(builder) as program:
        for thread in quick.fired():
            state = program.state({"configurable": {"thread_id": thread}})
            assert (sorted(state.values["trail"]), state.next) == (["left", "middle", "right"], ())
