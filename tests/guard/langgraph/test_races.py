"""Racers, threads and processes: exactly one executes."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from resumption.guard.claims.locks import FileLocks, ProcessLocks
from resumption.guard.langgraph.savers import base
from resumption.langgraph import RunBusy, guard

from .programs import THREAD, Bench, answer
from .racing import Contest, Heat, Means, gated, run_heat

sys.path.append(str(Path(__file__).parents[1] / "ablation"))

from ablated.protections import ABLATIONS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs fork and open file description locks")

INPUT: Any = {"trail": []}


def slow_approval(bench: Bench, **options: Any) -> Any:
    """The raced program on a SQLite saver."""
    return bench.guarded(gated(bench), **options)


def held_to_the_contract(heat: Heat, contest: Contest, racers: int) -> None:
    """One executed; who brought the same decision has its outcome, who brought another was refused."""
    (fired,) = heat.fired
    contradictions = {Contest.DIFFERENT: racers - 1, Contest.EQUAL: 0, Contest.MIXED: racers // 4}[contest]
    refused = Counter({name: heat.told.get(name, 0) for name in ("AlreadyConsumed", "DecisionPending")})
    assert heat.told[fired] == racers - contradictions, heat.told
    assert refused.total() == contradictions, heat.told
    assert contest is Contest.MIXED or not refused["DecisionPending"], "nobody's executor died"


SAMPLE = [(2, Contest.DIFFERENT), (8, Contest.MIXED), (16, Contest.EQUAL)]
WHOLE = [(racers, contest) for racers in (2, 4, 8, 16, 32, 64) for contest in Contest]
REPETITIONS = 10


@pytest.mark.parametrize(("racers", "contest"), SAMPLE)
@pytest.mark.parametrize("means", Means)
def test_one_of_many_racers_executes(quick, database, means, racers, contest):
    held_to_the_contract(run_heat(quick.folder, database, means, contest, racers, 0), contest, racers)


@pytest.mark.slow
@pytest.mark.parametrize(("racers", "contest"), WHOLE)
@pytest.mark.parametrize("means", Means)
def test_one_of_many_racers_executes_in_every_heat_of_the_grid(
    quick, database, means, racers, contest, record_property: Callable[..., None]
):
    for repetition in range(REPETITIONS):
        heat = run_heat(quick.folder, database, means, contest, racers, repetition)
        record_property(
            "race", json.dumps({"database": database.kind, "means": means, "contest": contest, **asdict(heat)})
        )
        held_to_the_contract(heat, contest, racers)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize("means", Means)
def test_without_the_lease_more_than_one_executes(quick, database, means, monkeypatch):
    """A heat that can't go wrong would say nothing."""

    for where, name in ((FileLocks, "attempt"), (ProcessLocks, "attempt"), (base.fenced, "__code__")):
        monkeypatch.setattr(where, name, getattr(where, name))  # put back afterwards
    for protection in ("lease", "fence"):
        ABLATIONS[protection]()
    heats = (run_heat(quick.folder, database, means, Contest.MIXED, 4, repetition) for repetition in range(REPETITIONS))
    assert any(len(heat.fired) > 1 for heat in heats)


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


@pytest.mark.parametrize("durability", ["sync", "async"])
def test_a_repetition_gets_the_outcome_and_not_the_state_between_two_nodes(bench, durability):
    """The gate's result is durable when the second click comes, and the node behind it still runs."""
    inside, leave = threading.Event(), threading.Event()

    def hold(_: Any) -> Any:
        inside.set()
        assert leave.wait(30)
        return {"trail": ["notify"]}

    app = bench.guarded(bench.builder(pay=bench.gate("pay"), notify=hold))
    app.invoke(INPUT, THREAD)
    with ThreadPoolExecutor(2) as racers:
        first = racers.submit(app.invoke, answer("yes"), THREAD, durability=durability)
        assert inside.wait(30)
        with pytest.raises(RunBusy):
            guard(app, wait=0.0).invoke(answer("yes"), THREAD)
        second = racers.submit(app.invoke, answer("yes"), THREAD)
        leave.set()
        assert first.result(30) == second.result(30) == {"trail": ["pay=yes", "notify"]}
    assert bench.fired() == ["pay=yes"]


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
