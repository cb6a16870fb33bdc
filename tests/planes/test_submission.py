"""Storage operations are numbered as they are asked for, and a kill at one of them says what is durable."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from driving import APPROVAL
from recording import RecordingInstruments

from resumption.planes.interface import Store
from resumption.planes.submission import Order, submitting

_PATIENCE_SECONDS = 30.0


def test_a_place_is_reserved_where_the_operation_is_submitted() -> None:
    order = Order()
    order.follow()
    with submitting():
        direct = order.take()
        assert (order.begin(), direct) == (1, 2)
        assert order.begin() == 3  # a second operation of the same submission has no place reserved
    assert order.begin() == 4


def test_what_is_submitted_where_nobody_counts_is_numbered_as_it_begins() -> None:
    order = Order()
    thread_of_nobody = threading.Thread(target=lambda: _submit(order))
    thread_of_nobody.start()
    thread_of_nobody.join()
    assert order.begin() == 2


def _submit(order: Order) -> None:
    with submitting():
        assert order.begin() == 1


@dataclass(slots=True)
class _Overtaking(RecordingInstruments):
    """Holds what a task wrote back, until the checkpoint behind it has begun."""

    order: Order = field(default_factory=Order)
    places: list[tuple[int, str]] = field(default_factory=list)
    state_begun: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def persist(self, name: str, covers: Sequence[str] = ()) -> Iterator[None]:
        if name == "put_writes(draft)":
            assert self.state_begun.wait(_PATIENCE_SECONDS)
        self.places.append((self.order.begin(), name))
        if name == "put(step=1)":
            self.state_begun.set()
        yield


@pytest.mark.parametrize("backend", ["sqlite", "sqlite-async"])
def test_langgraph_numbers_what_its_loop_submits_whichever_begins_first(tmp_path, backend) -> None:
    pytest.importorskip("langgraph")
    from resumption.planes.langgraph.graph import open_run

    seen = _Overtaking()
    seen.order.follow()
    run = open_run(APPROVAL, Store(backend, tmp_path), seen)
    run.start({}).wait()
    run.close()
    names = [name for _, name in seen.places]
    assert names.index("put(step=1)") < names.index("put_writes(draft)")
    assert [name for _, name in sorted(seen.places)] == [
        "put(input,step=-1)",
        "put_writes(__start__)",
        "put(step=0)",
        "put_writes(draft)",
        "put(step=1)",
        "put_writes(approve:__interrupt__)",
    ]


_STORE = """
import threading
from resumption.worker import points
from resumption.worker.faults import Fault, Faults, Mode
from resumption.worker.quiescence import Quiescence

def store(name, place):
    faults.begin(name, place)
    print(name, flush=True)
    faults.end(name)
    faults.reach(points.persist_after(name))
    faults.leave(place)

faults = Faults({fault}, lambda name: print(name, flush=True), Quiescence(lambda: 0))
"""
_OVERTAKING = """
late = threading.Thread(target=store, args=("second", 2))
late.start()
watchers = []
while not watchers:  # the second is held back by now
    watchers = [thread for thread in threading.enumerate() if "quiescence" in thread.name]
store("first", 1)
"""


_WITHHELD = """
threading.Thread(target=store, args=("first", 1), daemon=True).start()
store("second", 2)
"""
_WAITING = """
def after_the_second():
    passed.wait()
    store("first", 1)

passed = threading.Event()
threading.Thread(target=after_the_second, daemon=True).start()
store("second", 2)
passed.set()
threading.Event().wait()
"""


def _dies(fault: str, program: str) -> str:
    """What a process with this fault has stored, and what it says of its end."""
    code = _STORE.format(fault=fault) + program
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    return ended.stdout


def test_a_process_killed_at_an_operation_dies_before_what_was_asked_for_later_is_stored() -> None:
    assert _dies('Fault("persist:first:after")', _OVERTAKING) == "first\npersist:first:after\n"


def test_an_operation_that_never_becomes_durable_holds_up_none_behind_it() -> None:
    fault = 'Fault("persist:second:after", Mode.WITHHOLD, first="first")'
    assert _dies(fault, _WITHHELD) == "second\npersist:second:after without first\n"


def test_operations_come_out_of_turn_where_one_waits_for_a_later_one() -> None:
    assert _dies('Fault("persist:first:after")', _WAITING) == "second\nfirst\npersist:first:after\n"


_IN_BOTH_ORDERS = """
def after_the_pair():
    store("third", 3)

threading.Thread(target=after_the_pair, daemon=True).start()
threading.Thread(target=store, args=("second", 2), daemon=True).start()
store("first", 1)
threading.Event().wait()
"""


@pytest.mark.parametrize(("early", "late"), [("first", "second"), ("second", "first")])
def test_two_operations_in_either_order_are_all_that_is_stored(early: str, late: str) -> None:
    fault = f'Fault("{late}", Mode.REORDER, first="{early}")'
    assert _dies(fault, _IN_BOTH_ORDERS) == f"{early}\n{late}\n{early}<{late}\n"
