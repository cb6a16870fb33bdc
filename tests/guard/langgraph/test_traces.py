"""What the guard was seen to do is allowed by its specification; and a trace that isn't, is refused."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resumption.guard.claims import leases
from resumption.guard.claims.tables import LeaseFile
from resumption.guard.langgraph.tenure import Tenure
from resumption.langgraph import ExpiringLeases

from .programs import THREAD, Bench
from .test_crashes import die
from .tracing import BRANCH, Event, Trace, Wish, is_behaviour, parked

sys.path.append(str(Path(__file__).parents[1] / "ablation"))

from ablated.protections import ABLATIONS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs fork and open file description locks")


@pytest.fixture
def trace(bench: Bench) -> Trace:
    """A thread that waits at its first gate."""
    trace = Trace(bench)
    trace.program("nobody", Wish(), []).invoke({"trail": []}, THREAD)
    return trace


def fail() -> None:
    raise ConnectionError


WHOLE = ["lease", "claim", "run", "store"]


def steps(who: str, what: list[str]) -> list[str]:
    return [f"{who} {one}" for one in what]


# Deaths and recoveries ------------------------------------------------------------------------------------------------


def test_two_decisions_one_after_the_other(trace, tmp_path):
    trace.execute("e1")
    trace.execute("e2")
    assert trace.kinds == [*steps("e1", WHOLE), *steps("e2", WHOLE)]
    assert is_behaviour(trace.events, tmp_path)


def test_a_dead_winner_and_its_recovery(trace, tmp_path):
    trace.execute("e1", inside=die)
    trace.execute("e2")
    trace.execute("r", decides=False)
    assert trace.kinds[3:] == ["e1 die", "e2 refuse", "r lease", "r run", "r store"]
    assert is_behaviour(trace.events, tmp_path)


def test_a_node_that_raised_and_the_same_decision_again(trace, tmp_path):
    trace.execute("e1", inside=fail)
    trace.execute("e1")
    assert trace.kinds[2:] == ["e1 run", "e1 fail", "e1 lease", "e1 run", "e1 store"]
    assert is_behaviour(trace.events, tmp_path)


def test_a_thread_that_somebody_has(trace, tmp_path):
    trace.execute("e1", inside=lambda: trace.execute("r", decides=False, wait=0.0))
    assert trace.kinds == ["e1 lease", "e1 claim", "e1 run", "r busy", "e1 store"]
    assert is_behaviour(trace.events, tmp_path)


# Replaced executors ---------------------------------------------------------------------------------------------------


def cut_off(trace: Trace, then: Callable[[], None]) -> None:
    """Executor e1 loses its lease in the gate without knowing; then something happens; and then e1 goes on."""

    def inside() -> None:
        (tenure,) = tenures
        tenure._held.release()
        trace.note("cut off", "e1")
        then()

    tenures: list[Tenure] = []
    made = Tenure.__init__

    def remembering(self: Tenure, thread: str, held: Any) -> None:
        made(self, thread, held)
        tenures.append(self)

    Tenure.__init__ = remembering  # type: ignore[method-assign]
    try:
        trace.execute("e1", inside=inside)
    finally:
        Tenure.__init__ = made  # type: ignore[method-assign]


def test_a_replaced_executor_stores_nothing(trace, tmp_path):
    cut_off(trace, lambda: trace.execute("r", decides=False))
    assert trace.kinds[3:] == ["e1 cut off", "r lease", "r run", "r store", "e1 fenced"]
    assert is_behaviour(trace.events, tmp_path)


def overtaken(trace: Trace) -> None:
    """Executor e1 is cut off, and goes on while r, which recovers, is in the gate and has stored nothing."""
    (in_gate, arrived), (gone, left) = os.pipe(), os.pipe()

    def recovery() -> None:
        def inside() -> None:
            os.write(arrived, b".")
            os.read(gone, 1)  # until nobody has the other end: e1 is gone

        os.close(left)
        trace.execute("r", decides=False, inside=inside)

    def then() -> None:
        if os.fork() == 0:
            recovery()
            os._exit(0)
        os.close(arrived)
        os.close(gone)
        os.read(in_gate, 1)

    cut_off(trace, then)
    os.close(left)
    os.close(arrived)
    while os.read(in_gate, 1):  # until r, which has the other end, is gone
        pass


def test_a_replaced_executor_stores_nothing_before_its_successor_does(trace, tmp_path):
    overtaken(trace)
    assert trace.kinds[3:] == ["e1 cut off", "r lease", "r run", "e1 fenced", "r store"]
    assert is_behaviour(trace.events, tmp_path)
