"""The winner dies, wherever: nothing is lost, nothing happens twice, and another process can go on."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import interrupt

from resumption.guard.effects import Ledger, effect
from resumption.langgraph import AlreadyConsumed, DecisionPending, Fenced

from .programs import THREAD, Bench, answer, pending

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs fork and open file description locks")

INPUT: Any = {"trail": []}


def in_child(work: Callable[[], None]) -> int:
    """Do the work in a forked process, and return how it ended: its exit code, or minus a signal."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def paying(bench: Bench) -> Any:
    """Draft, gate, notify, with every effect in a ledger."""
    ledger = Ledger(f"sqlite:///{bench.folder / 'effects.db'}")
    return bench.guarded(
        bench.builder(
            draft=bench.step("draft"),
            pay=bench.gate("pay", before=effect(ledger, key="charge")(lambda: bench.fire("charge"))),
            notify=bench.step("notify"),
        )
    )


def die_at_statement(app: Any, number: int) -> None:
    """Have this process die when its saver's connection begins its statement of that number."""
    left = [number]

    def count(_: str) -> None:
        left[0] -= 1
        if left[0] == 0:
            die()

    app.checkpointer.conn.set_trace_callback(count)


def test_the_winner_may_die_at_any_statement(tmp_path):
    template = Bench(tmp_path / "template")
    template.folder.mkdir()
    paying(template).invoke(INPUT, THREAD)
    template.close()
    assert winners_killed(tmp_path, lambda folder: shutil.copytree(template.folder, folder)) > 20


def winners_killed(folder: Path, park: Callable[[Path], object]) -> int:
    """At how many statements of its saver a winner was killed, each followed by a recovery, until one wasn't reached.

    `park` makes a folder for each of them, in which the thread of `paying` waits for its answer.
    """
    number = 0
    while True:
        number += 1
        park(folder / str(number))
        bench = Bench(folder / str(number))

        def win(bench: Bench = bench, number: int = number) -> None:
            app = paying(bench)
            die_at_statement(app, number)
            app.invoke(answer("yes"), THREAD)

        ended = in_child(win)
        recovers(bench, f"killed at statement {number}")
        bench.close()
        if ended != -signal.SIGKILL:
            assert ended == 0
            return number - 1


def recovers(bench: Bench, when: str) -> None:
    app = paying(bench)
    unclaimed = bool(pending(app))
    outcome = app.invoke(answer("yes") if unclaimed else None, THREAD)
    assert outcome == {"trail": ["draft", "pay=yes", "notify"]}, when
    assert bench.fired().count("charge") == 1, when
    again = app.invoke(answer("yes"), THREAD)
    assert (again, bench.fired().count("charge")) == (outcome, 1), when


def _claimed_by_the_dead(bench: Bench) -> None:
    """Park, and let a process die in the gate after its decision was claimed."""
    bench.approval().invoke(INPUT, THREAD)

    def win() -> None:
        builder = bench.builder(
            draft=bench.step("draft"), pay=bench.gate("pay", before=die), notify=bench.step("notify")
        )
        bench.guarded(builder).invoke(answer("yes"), THREAD)

    assert in_child(win) == -signal.SIGKILL


def test_a_dead_winner_leaves_its_decision_to_a_recovery(bench):
    """G1, by map as by bare: `invoke(None)` serves the recorded decision, once."""
    _claimed_by_the_dead(bench)
    assert bench.approval().invoke(None, THREAD)["trail"] == ["draft", "pay=yes", "notify"]
    bench.approval().invoke(None, THREAD)
    assert bench.fired() == ["draft", "pay=yes", "notify"]


def test_the_same_decision_recovers_a_dead_winner(bench):
    _claimed_by_the_dead(bench)
    assert bench.approval().invoke(answer("yes"), THREAD)["trail"][-1] == "notify"


def test_another_decision_does_not_replace_a_dead_winners(bench):
    _claimed_by_the_dead(bench)
    with pytest.raises(DecisionPending, match=r"invoke\(None\)"):
        bench.approval().invoke(answer("no"), THREAD)
    assert bench.fired() == ["draft"]


def test_stock_langgraph_recovers_a_guarded_thread(bench):
    _claimed_by_the_dead(bench)
    builder = bench.builder(draft=bench.step("draft"), pay=bench.gate("pay"), notify=bench.step("notify"))
    assert builder.compile(checkpointer=bench.saver()).invoke(None, THREAD)["trail"][-1] == "notify"


def test_an_exception_in_the_winners_node_leaves_the_decision(bench):
    """G2."""
    failing = [True]

    def fail_once() -> None:
        if failing.pop():
            raise ConnectionError

    app = bench.guarded(bench.builder(pay=bench.gate("pay", before=fail_once)))
    app.invoke(INPUT, THREAD)
    with pytest.raises(ConnectionError):
        app.invoke(answer("yes"), THREAD)
    failing.append(False)
    assert app.invoke(None, THREAD)["trail"] == ["pay=yes"]


def test_a_failure_between_two_interrupts_strips_no_answer(bench):
    failing: list[bool] = []

    def node(state: Any) -> Any:

        first = interrupt("first?")
        if failing:
            raise ConnectionError
        return {"trail": [f"{first},{interrupt('second?')}"]}

    app = bench.guarded(bench.builder(ask=node))
    app.invoke(INPUT, THREAD)
    app.invoke(answer("A"), THREAD)
    failing.append(True)
    with pytest.raises(ConnectionError):
        app.invoke(answer("B"), THREAD)
    failing.clear()
    assert app.invoke(None, THREAD)["trail"] == ["A,B"]


def test_a_process_forked_inside_a_node_cannot_write(bench):
    def fork_in_node() -> None:
        def write() -> None:
            app = bench_app[0]
            from resumption.guard.langgraph.tenure import tenure_of

            tenure = tenure_of({"configurable": {"thread_id": "t", **_ambient()}})
            with pytest.raises(Fenced):
                app.checkpointer.guard_write(tenure, lambda: iter(()))

        assert in_child(write) == 0

    def _ambient() -> Any:
        from langgraph.config import get_config

        return get_config()["configurable"]

    bench_app = [bench.guarded(bench.builder(pay=bench.gate("pay", before=fork_in_node)))]
    bench_app[0].invoke(INPUT, THREAD)
    assert bench_app[0].invoke(answer("yes"), THREAD)["trail"] == ["pay=yes"]


def test_a_zombies_writes_are_refused(bench):
    """Somebody took the thread over while a run was stalled: what the run still writes isn't stored."""

    def take_over() -> None:
        with sqlite3.connect(bench.database) as connection:
            connection.execute("UPDATE resumption_fences SET number = number + 1, holder = 'another'")

    app = bench.guarded(bench.builder(pay=bench.gate("pay", before=take_over), notify=bench.step("notify")))
    app.invoke(INPUT, THREAD)
    rows = _rows(bench.database)
    with pytest.raises(Fenced):
        app.invoke(answer("yes"), THREAD, durability="sync")
    assert _rows(bench.database) == rows
    assert "notify" not in bench.fired()


def _rows(database: Path) -> tuple[int, ...]:
    with sqlite3.connect(database) as connection:
        checkpoints = connection.execute("SELECT count(*) FROM checkpoints").fetchone()
        results = connection.execute("SELECT count(*) FROM writes WHERE idx >= 0").fetchone()
        return (*checkpoints, *results)


def test_an_abandoned_stream_gives_the_lease_up(bench):
    app = bench.guarded(bench.builder(draft=bench.step("draft"), notify=bench.step("notify")), wait=0.0)
    stream = app.stream(INPUT, THREAD, stream_mode="updates")
    next(stream)
    stream.close()
    assert app.invoke(None, THREAD)["trail"] == ["draft", "notify"]


def test_the_decision_of_a_refused_delivery_is_not_burnt(bench):
    app = bench.approval()
    app.invoke(INPUT, THREAD)
    app.invoke(answer("yes"), THREAD)
    with pytest.raises(AlreadyConsumed):
        app.invoke(answer("no"), THREAD)
    with sqlite3.connect(bench.database) as connection:
        assert connection.execute("SELECT branch FROM resumption_refusals").fetchall() == [("claim-already-consumed",)]
        assert connection.execute("SELECT count(*) FROM resumption_claims").fetchone() == (1,)
