"""What the guard was seen to do is allowed by its specification; and a trace that isn't, is refused."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from resumption.guard.langgraph.tenure import Tenure

from .programs import THREAD, Bench
from .test_crashes import die
from .tracing import Event, Trace, is_behaviour

sys.path.append(str(Path(__file__).parents[1] / "ablation"))

from ablated.protections import ABLATIONS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs fork and open file description locks")


@pytest.fixture
def trace(bench: Bench) -> Trace:
    """A thread that waits at its first gate."""
    trace = Trace(bench)
    trace.program("nobody", lambda: None).invoke({"trail": []}, THREAD)
    return trace


def kinds(trace: Trace) -> list[str]:
    return [f"{one['who']} {one['what']}" for one in trace.events]


def fail() -> None:
    raise ConnectionError


def test_two_decisions_one_after_the_other(trace, tmp_path):
    trace.execute("e1")
    trace.execute("e2")
    assert kinds(trace) == [f"{who} {what}" for who in ("e1", "e2") for what in ("lease", "claim", "run", "store")]
    assert is_behaviour(trace.events, tmp_path)


def test_a_dead_winner_and_its_recovery(trace, tmp_path):
    trace.execute("e1", inside=die)
    trace.execute("e2")
    trace.execute("r", decides=False)
    assert kinds(trace)[3:] == ["e1 die", "e2 refuse", "r lease", "r run", "r store"]
    assert is_behaviour(trace.events, tmp_path)


def test_a_node_that_raised_and_the_same_decision_again(trace, tmp_path):
    trace.execute("e1", inside=fail)
    trace.execute("e1")
    assert kinds(trace)[2:] == ["e1 run", "e1 die", "e1 lease", "e1 run", "e1 store"]
    assert is_behaviour(trace.events, tmp_path)


def replaced(trace: Trace) -> None:
    """Executor e1 loses its lease in the gate without knowing; r recovers; then e1 goes on, and writes."""

    def cut_off() -> None:
        (tenure,) = tenures
        tenure._held.release()
        trace.note("cut-off", "e1")
        trace.execute("r", decides=False)

    tenures: list[Tenure] = []
    made = Tenure.__init__

    def remembering(self: Tenure, thread: str, held: Any) -> None:
        made(self, thread, held)
        tenures.append(self)

    Tenure.__init__ = remembering  # type: ignore[method-assign]
    try:
        trace.execute("e1", inside=cut_off)
    finally:
        Tenure.__init__ = made  # type: ignore[method-assign]


def test_a_replaced_executor_stores_nothing(trace, tmp_path):
    replaced(trace)
    assert kinds(trace)[3:] == ["e1 cut-off", "r lease", "r run", "r store", "e1 fenced"]
    assert is_behaviour(trace.events, tmp_path)


def test_without_the_fence_the_trace_is_no_behaviour(trace, tmp_path):
    """The guard itself is wrong here, and the specification says so."""
    if os.fork() == 0:
        try:
            ABLATIONS["fence"]()
            replaced(trace)
        finally:
            os._exit(0)
    os.wait()
    assert kinds(trace)[-1] == "e1 store"
    assert not is_behaviour(trace.events, tmp_path)


def _another_decision(events: list[Event]) -> None:
    events[2]["decision"] = "e2"


def _not_claimed(events: list[Event]) -> None:
    del events[1]


def _leased_by_two(events: list[Event]) -> None:
    events.insert(1, {**events[0], "who": "e2"})


def _not_progressed(events: list[Event]) -> None:
    events[3]["position"] = 2


def _refused_for_nothing(events: list[Event]) -> None:
    events.insert(0, {**events[0], "what": "refuse"})


@pytest.mark.parametrize(
    "plant", [_another_decision, _not_claimed, _leased_by_two, _not_progressed, _refused_for_nothing]
)
def test_a_planted_mistake_is_refused(trace, tmp_path, plant):
    trace.execute("e1")
    trace.execute("e2")
    events = trace.events
    plant(events)
    assert not is_behaviour(events, tmp_path)
