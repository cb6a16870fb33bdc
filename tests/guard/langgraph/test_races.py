"""Racers, threads and processes: exactly one executes."""

from __future__ import annotations

import multiprocessing
import sys
import threading
import time
from collections import Counter
from typing import Any

import pytest

from resumption.langgraph import GuardError, RunBusy

from .programs import THREAD, Bench, answer

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs fork and open file description locks")

INPUT: Any = {"trail": []}
GATE_SECONDS = 0.05  # the gate's own work: wide enough for racers that start together to overlap in it


def slow_approval(bench: Bench, **options: Any) -> Any:
    work = threading.Event()
    gate = bench.gate("pay", before=lambda: work.wait(GATE_SECONDS) and None)
    return bench.guarded(bench.builder(pay=gate), **options)


def _deliver(app: Any, value: Any) -> str:
    try:
        payload = None if value is None else answer(value)
        return ",".join(app.invoke(payload, THREAD)["trail"])
    except GuardError as error:
        return type(error).__name__


def _race_in_threads(bench: Bench, values: list[Any]) -> list[str]:
    app, line, outcomes = slow_approval(bench), threading.Barrier(len(values)), []

    def race(value: Any) -> None:
        line.wait()
        outcomes.append(_deliver(app, value))

    racers = [threading.Thread(target=race, args=(value,)) for value in values]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    return outcomes


def _race_in_processes(bench: Bench, values: list[Any]) -> list[str]:
    context = multiprocessing.get_context("fork")
    line, outcomes = context.Barrier(len(values)), context.SimpleQueue()

    def race(value: Any) -> None:
        app = slow_approval(Bench(bench.folder))
        line.wait()
        outcomes.put(_deliver(app, value))

    racers = [context.Process(target=race, args=(value,)) for value in values]
    for racer in racers:
        racer.start()
    seen = [outcomes.get() for _ in racers]
    for racer in racers:
        racer.join()
    return seen


RACES = {"threads": _race_in_threads, "processes": _race_in_processes}
FEW = [2, 4, *(pytest.param(many, marks=pytest.mark.slow) for many in (8, 16, 32, 64))]


@pytest.mark.parametrize("kind", RACES)
@pytest.mark.parametrize("racers", FEW)
def test_of_different_decisions_one_is_consumed(bench, kind, racers):
    slow_approval(bench).invoke(INPUT, THREAD)
    outcomes = Counter(RACES[kind](bench, [f"v{number}" for number in range(racers)]))
    (fired,) = bench.fired()
    assert outcomes == {fired: 1, "AlreadyConsumed": racers - 1}


@pytest.mark.parametrize("kind", RACES)
@pytest.mark.parametrize("racers", FEW)
def test_of_equal_decisions_one_is_executed_and_all_get_its_outcome(bench, kind, racers):
    slow_approval(bench).invoke(INPUT, THREAD)
    assert Counter(RACES[kind](bench, ["yes"] * racers)) == {"pay=yes": racers}
    assert bench.fired() == ["pay=yes"]


@pytest.mark.slow
@pytest.mark.parametrize("repetition", range(10))
@pytest.mark.parametrize("kind", RACES)
@pytest.mark.parametrize("racers", [2, 4, 8, 16, 32, 64])
def test_of_mixed_answers_and_recoveries_one_executes(bench, kind, racers, repetition):
    """Half repeat the decision of an executor that failed, a quarter contradict it, a quarter recover it."""
    _failed(bench)
    outcomes = Counter(RACES[kind](bench, ["yes", "no", "yes", None] * (racers // 4) or ["yes", None]))
    assert bench.fired() == ["pay=yes"]
    contradictions = racers // 4
    assert outcomes["pay=yes"] == racers - contradictions
    assert outcomes["DecisionPending"] + outcomes["AlreadyConsumed"] == contradictions


def _failed(bench: Bench) -> None:
    """A decision is on record, and its executor's node raised."""

    def fail() -> None:
        raise ConnectionError

    app = bench.guarded(bench.builder(pay=bench.gate("pay", before=fail)))
    app.invoke(INPUT, THREAD)
    with pytest.raises(ConnectionError):
        app.invoke(answer("yes"), THREAD)


@pytest.mark.parametrize("kind", RACES)
def test_of_racing_recoveries_one_executes(bench, kind):
    fail = [True]

    def fail_once() -> None:
        if fail:
            raise ConnectionError

    app = bench.guarded(bench.builder(pay=bench.gate("pay", before=fail_once)))
    app.invoke(INPUT, THREAD)
    with pytest.raises(ConnectionError):
        app.invoke(answer("yes"), THREAD)
    assert Counter(RACES[kind](bench, [None, None, "yes"])) == {"pay=yes": 3}
    assert bench.fired() == ["pay=yes"]


def test_an_input_waits_its_turn_and_no_longer_than_told(bench):
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        inside.set()
        assert leave.wait(30)

    app = bench.guarded(bench.builder(pay=bench.gate("pay", before=hold)), wait=0.05)
    app.invoke(INPUT, THREAD)
    winner = threading.Thread(target=lambda: app.invoke(answer("yes"), THREAD))
    winner.start()
    assert inside.wait(30)
    began = time.monotonic()
    with pytest.raises(RunBusy):
        app.invoke({"trail": ["other"]}, THREAD)
    assert time.monotonic() - began < 10
    leave.set()
    winner.join()
    assert app.get_state(THREAD).values == {"trail": ["pay=yes"]}


def test_threads_of_a_database_do_not_wait_for_each_other(bench):
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        inside.set()
        assert leave.wait(30)

    held = bench.guarded(bench.builder(pay=bench.gate("pay", before=hold)))
    held.invoke(INPUT, THREAD)
    winner = threading.Thread(target=lambda: held.invoke(answer("yes"), THREAD))
    winner.start()
    assert inside.wait(30)
    other = {"configurable": {"thread_id": "other"}}
    app = bench.approval(wait=0.0)
    app.invoke(INPUT, other)
    assert app.invoke(answer("yes"), other)["trail"][-1] == "notify"
    leave.set()
    winner.join()


def test_an_update_waits_for_the_run(bench):
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        inside.set()
        assert leave.wait(30)

    app = bench.guarded(bench.builder(pay=bench.gate("pay", before=hold)), wait=0.0)
    app.invoke(INPUT, THREAD)
    winner = threading.Thread(target=lambda: app.invoke(answer("yes"), THREAD))
    winner.start()
    assert inside.wait(30)
    with pytest.raises(RunBusy):
        app.update_state(THREAD, {"trail": ["by hand"]})
    leave.set()
    winner.join()
    app.update_state(THREAD, {"trail": ["by hand"]})
    assert app.get_state(THREAD).values == {"trail": ["pay=yes", "by hand"]}
