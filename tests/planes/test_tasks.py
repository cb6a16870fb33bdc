"""The body of an abstract task: what it writes, and what of that can be recorded."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from recording import RecordingInstruments

from resumption.history.ndjson import jsonable
from resumption.history.workload import Corrupt, Effect, Interrupt, Task, Work, Workload, WriteFault
from resumption.planes.tasks import Ended, appended, marked, perform, perform_part


def _ask(interrupt: Interrupt) -> Any:
    raise AssertionError(f"{interrupt.name} was asked")


def _written(fault: WriteFault) -> Any:
    return perform(Task("bad", (Corrupt(fault),)), [], RecordingInstruments(), _ask)


def test_no_codec_takes_the_unserialisable_write() -> None:
    write = _written(WriteFault.UNSERIALISABLE)
    with pytest.raises(TypeError):
        json.dumps(write)
    with pytest.raises((AttributeError, pickle.PicklingError)):
        pickle.dumps(write)


@pytest.mark.parametrize("fault", WriteFault)
def test_every_invalid_write_can_be_recorded(fault: WriteFault) -> None:
    json.dumps(jsonable(_written(fault)))


def test_each_part_of_a_task_goes_on_behind_what_the_parts_before_it_did() -> None:
    first, second = Interrupt("first"), Interrupt("second")
    task = Task("gate", (Effect("one"), first, Effect("two"), Work(0), second, Effect("three")))
    seen = RecordingInstruments()
    assert perform_part(task, [], seen, []) == first
    assert perform_part(task, [], seen, ["yes"]) == second
    assert perform_part(task, [], seen, ["yes", "no"]) == Ended(["gate=yes+no"])
    assert [name for name, _ in seen.fired] == ["one", "two", "three"]
    assert seen.consumed == [("first", "yes"), ("second", "no")]


@pytest.mark.parametrize(("write", "trail"), [(["b"], ["a", "b"]), ([], ["a"]), (None, None), (7, 7)])
def test_a_write_that_is_no_list_takes_the_trails_place(write: Any, trail: Any) -> None:
    before = ["a"]
    assert appended(before, write) == trail
    assert before == ["a"]


@pytest.mark.parametrize(
    ("trail", "names"),
    [(["b=yes+no", "a"], ["a", "b"]), (["ab", None, "b"], ["b"]), ([], []), (None, []), (7, []), ("a", [])],
)
def test_the_tasks_whose_mark_is_on_a_trail_are_told_in_their_order(trail: Any, names: list[str]) -> None:
    assert marked(Workload((Task("a"), Task("b"), Task("c"))), trail) == names
