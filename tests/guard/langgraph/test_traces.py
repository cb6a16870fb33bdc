"""What the guard was seen to do is allowed by its specification; and a trace that isn't, is refused."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resumption.guard.claims import leases
from resumption.guard.claims.tables import LeaseFile
from resumption.guard.langgraph.tenure import Tenure

from .programs import THREAD, Bench
from .test_crashes import die
from .tracing import BRANCH, Event, Trace, Wish, behaviours, is_behaviour, parked

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


def without(events: list[Event], kind: str) -> list[Event]:
    return [one for one in events if f"{one['who']} {one['what']}" != kind]


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

    Tenure.__init__ = remembering  # type: ignore[method-assign]  # watched for one test
    try:
        trace.execute("e1", inside=inside)
    finally:
        Tenure.__init__ = made  # type: ignore[method-assign]  # watched for one test


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


def test_without_the_fence_the_trace_is_no_behaviour(trace, tmp_path):
    """The guard itself is wrong here, and the specification says so."""
    if os.fork() == 0:
        try:
            ABLATIONS["fence"]()
            cut_off(trace, lambda: trace.execute("r", decides=False))
        finally:
            os._exit(0)
    os.wait()
    assert trace.kinds[-1] == "e1 store"
    assert not is_behaviour(trace.events, tmp_path)


@pytest.fixture
def leased(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A database whose threads are leased for a time, as where no lock ends with its holder."""
    monkeypatch.setattr(leases, "LEASE_SECONDS", 0.6)
    LeaseFile(Path(f"{bench.database}-resumption-leases"))
    return bench


@pytest.fixture
def expiring(leased: Bench, trace: Trace) -> Trace:
    """The thread that waits at its first gate, where leases expire."""
    return trace


@pytest.mark.filterwarnings("ignore::resumption.errors.ExpiringLeases")
def test_a_dead_holder_of_a_lease_that_expires(expiring, tmp_path):
    expiring.execute("e1", inside=die)
    expiring.execute("r", decides=False)
    assert expiring.kinds[2:] == ["e1 run", "e1 die", "r lease", "r run", "r store"]
    assert is_behaviour(expiring.events, tmp_path, expiring=True)
    assert not is_behaviour(without(expiring.events, "e1 die"), tmp_path, expiring=True)


@pytest.mark.filterwarnings("ignore::resumption.errors.ExpiringLeases")
def test_a_holder_that_stalls_until_its_lease_expired(expiring, tmp_path):
    def stall() -> None:
        expiring.note("stall", "e1")
        os.kill(os.getpid(), signal.SIGSTOP)

    e1 = os.fork()
    if e1 == 0:
        expiring.call("e1", Wish(inside=stall))
        os._exit(0)
    os.waitpid(e1, os.WUNTRACED)
    expiring.execute("r", decides=False)
    os.kill(e1, signal.SIGCONT)
    os.waitpid(e1, 0)
    assert expiring.kinds[2:] == ["e1 run", "e1 stall", "r lease", "r run", "r store", "e1 fenced"]
    assert is_behaviour(expiring.events, tmp_path, expiring=True)
    assert not is_behaviour(without(expiring.events, "e1 stall"), tmp_path, expiring=True)


# Forks ----------------------------------------------------------------------------------------------------------------


def test_forks_of_an_answered_gate(trace, tmp_path):
    at = parked(trace)
    trace.execute("e1")
    trace.execute("f", parked=at, gate=1)
    trace.execute("g", parked=at, gate=1)
    trace.execute("e2")
    fork = ["open", "decide", "run", "store"]
    assert trace.kinds[4:] == [*steps("f", fork), *steps("g", fork), *steps("e2", WHOLE)]
    assert is_behaviour(trace.events, tmp_path)


def test_a_fork_into_another_thread(trace, tmp_path):
    trace.execute("e1")
    at = parked(trace)
    trace.execute("e2")
    trace.execute("f", parked=at, gate=2, into=BRANCH)
    trace.execute("e2")
    assert trace.kinds[8:] == ["f into", "f run", "f store", "e2 replay"]
    assert is_behaviour(trace.events, tmp_path)


def test_a_fork_whose_first_attempt_died(trace, tmp_path):
    """The first decision stays on record, the thread goes on with the second."""
    at = parked(trace)
    trace.execute("e1", inside=die)
    trace.execute("f", parked=at, gate=1, inside=die)
    trace.execute("r", decides=False)
    assert trace.kinds[3:] == ["e1 die", "f open", "f decide", "f run", "f die", "r lease", "r run", "r store"]
    assert is_behaviour(trace.events, tmp_path)


def test_a_fork_that_died_before_its_decision_asks(trace, tmp_path):
    at = parked(trace)
    trace.execute("e1")
    trace.execute("f", parked=at, gate=1, between=die)
    trace.execute("r", decides=False)
    trace.execute("e2")
    assert trace.kinds[4:] == ["f open", "f die", "r lease", "r ask", *steps("e2", WHOLE)]
    assert is_behaviour(trace.events, tmp_path)


def test_a_fork_waits_for_whoever_has_the_thread(trace, tmp_path):
    at = parked(trace)
    trace.execute("e1", inside=lambda: trace.execute("f", parked=at, gate=1, wait=0.0))
    assert trace.kinds == ["e1 lease", "e1 claim", "e1 run", "f busy", "e1 store"]
    assert is_behaviour(trace.events, tmp_path)


def test_a_fork_where_nothing_was_asked(trace, tmp_path):
    trace.execute("e1")
    trace.execute("e2")
    trace.execute("f", parked=parked(trace), gate=3)
    assert trace.kinds[8:] == ["f nothing to fork"]
    assert is_behaviour(trace.events, tmp_path)


# Delivery ids ---------------------------------------------------------------------------------------------------------


def test_a_delivery_that_is_repeated_and_one_that_is_mistaken(trace, tmp_path):
    trace.execute("e1", delivery="d1")
    trace.execute("e1", delivery="d1")
    trace.execute("e2", delivery="d1")
    trace.execute("e2", delivery="d2")
    assert trace.kinds[4:] == ["e1 repeat", "e2 mismatch", *steps("e2", WHOLE)]
    assert is_behaviour(trace.events, tmp_path)


@pytest.mark.parametrize(("inside", "end"), [(die, "die"), (fail, "fail")])
def test_a_delivery_that_failed_is_made_again(trace, tmp_path, inside, end):
    trace.execute("e1", delivery="d1", inside=inside)
    trace.execute("e1", delivery="d1")
    assert trace.kinds[3:] == [f"e1 {end}", "e1 lease", "e1 run", "e1 store"]
    assert is_behaviour(trace.events, tmp_path)


def test_a_delivery_that_somebody_else_recovered(trace, tmp_path):
    trace.execute("e1", delivery="d1", inside=die)
    trace.execute("r", decides=False)
    trace.execute("e1", delivery="d1")
    assert trace.kinds[4:] == ["r lease", "r run", "r store", "e1 repeat"]
    assert is_behaviour(trace.events, tmp_path)


@pytest.mark.parametrize("into", [None, BRANCH])
def test_a_fork_under_an_id(trace, tmp_path, into):
    fork: dict[str, Any] = {"parked": parked(trace), "gate": 1, "into": into, "delivery": "d1"}
    trace.execute("e1")
    trace.execute("f", **fork, inside=die)
    trace.execute("f", **fork)
    trace.execute("f", **fork)
    trace.execute("g", **fork)
    begun = ["f into"] if into else ["f open", "f decide"]
    again = ["f run", "f die", "f lease", "f run", "f store", "f repeat", "g mismatch"]
    assert trace.kinds[4:] == [*begun, *again]
    assert is_behaviour(trace.events, tmp_path)


def test_a_fork_under_the_id_of_an_answer(trace, tmp_path):
    at = parked(trace)
    trace.execute("e1", delivery="d1")
    trace.execute("e1", delivery="d1", parked=at, gate=1)
    assert trace.kinds[4:] == ["e1 mismatch"]
    assert is_behaviour(trace.events, tmp_path)


# What is no behaviour -------------------------------------------------------------------------------------------------


def _story(trace: Trace) -> None:
    """All kinds of what executors do, on one thread and another."""
    at = parked(trace)
    trace.execute("e1", delivery="d1")
    trace.execute("e1", delivery="d1")
    trace.execute("e2", delivery="d1")
    trace.execute("f", parked=at, gate=1)
    trace.execute("g", parked=at, gate=1, into=BRANCH)


Doctor = Callable[[list[Event]], Any]
DOCTORED: dict[str, Doctor] = {
    "a gate ran with another's decision": lambda events: events[2].update(decision="e2"),
    "a decision was not claimed": lambda events: events.pop(1),
    "two had the lease": lambda events: events.insert(1, {**events[0], "who": "e2"}),
    "the thread went two gates ahead": lambda events: events[3].update(position=2),
    "somebody was refused for nothing": lambda events: events.insert(0, {**events[0], "what": "refuse"}),
    "somebody was busy with nothing": lambda events: events.insert(0, {**events[0], "what": "busy"}),
    "an executor died in the middle of a write": lambda events: events.insert(3, {**events[3], "what": "die"}),
    "a replaced executor was let go": lambda events: events[3].update(what="fenced"),
    "an outcome was returned before there was one": lambda events: events.insert(1, events.pop(4)),
    "an outcome was returned to another payload": lambda events: events[4].update(who="e2"),
    "a payload was refused that is the first": lambda events: events[5].update(who="e1"),
    "an id was claimed for twice": lambda events: events.extend([{**events[0]}, {**events[1]}]),
    "a fork was given the outcome of an answer": lambda events: events[4].update(kind="fork"),
    "a branch was served the first decision": lambda events: events[8].update(decision="e1"),
    "a branch was opened where nothing was asked": lambda events: events[6].update(position=2),
    "a branch was not opened": lambda events: events.pop(6),
    "a branch was not decided": lambda events: events.pop(7),
    "a branch's gate ran in the other's place": lambda events: events[8].update(position=2),
    "a branch was opened while somebody had the thread": lambda events: events.insert(1, events.pop(6)),
    "a thread was copied over another": lambda events: events[10].update(thread=1),
    "nothing was there to fork": lambda events: events[6].update(what="nothing to fork"),
}


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> list[Event]:
    bench = Bench(tmp_path_factory.mktemp("story"))
    trace = Trace(bench)
    trace.program("nobody", Wish(), []).invoke({"trail": []}, THREAD)
    _story(trace)
    bench.close()
    return trace.events


def test_the_story_that_is_doctored_is_a_behaviour(story, tmp_path):
    assert [f"{one['who']} {one['what']}" for one in story] == [
        *steps("e1", [*WHOLE, "repeat"]),
        "e2 mismatch",
        *steps("f", ["open", "decide", "run", "store"]),
        *steps("g", ["into", "run", "store"]),
    ]
    assert is_behaviour(story, tmp_path)


def test_each_planted_mistake_is_refused(story, tmp_path):
    traces = []
    for doctor in DOCTORED.values():
        events = [dict(one) for one in story]
        doctor(events)
        traces.append(events)
    followed = behaviours([*traces, story], tmp_path)
    assert [name for number, name in enumerate(DOCTORED) if number in followed] == []
    assert followed == {len(traces)}
