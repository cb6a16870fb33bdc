"""Kill points: enumerated from a history, never by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from resumption.harness.kill_points import (
    frozen_prefixes,
    kill_points,
    likely_pins,
    pinned_points,
    reorderings,
    sample,
)
from resumption.history.events import EffectBegin, EffectEnd, Event, Persist, Phase, TaskStart
from resumption.history.history import Header, History
from resumption.history.workload import Effect, Task, Workload
from resumption.worker.faults import Fault, Mode


def stored(name: str, *, place: int, process: int = 1, covers: tuple[str, ...] = ()) -> tuple[Event, Event]:
    begin = Persist(process=process, phase=Phase.BEGIN, item=f"p{process}-{place}", name=name, covers=covers)
    return begin, replace(begin, phase=Phase.END)


def trace(*events: Event) -> History:
    workload = Workload((Task("a", (Effect("charge"),)),))
    header = Header(probe="p", plane="x", path="run", backend="none", form="", workload=workload)
    return History(header, tuple(replace(event, number=number) for number, event in enumerate(events, 1)))


RUN = trace(
    *stored("input", place=1),
    TaskStart(process=1, task="a", trail=[]),
    EffectBegin(process=1, call="c1", effect="charge", task="a", value=None),
    EffectEnd(process=1, call="c1", count=1),
    *stored("writes", place=2),
    *stored("loop", place=3),
    *stored("loop", place=4),
    *stored("late", place=1, process=2),
)


def test_a_point_that_is_passed_twice_counts_once_for_each_passing() -> None:
    assert [(fault.point, fault.occurrence) for fault in kill_points(RUN)] == [
        ("persist:input:before", 1),
        ("persist:input:after", 1),
        ("task:a:start", 1),
        ("effect:charge:before", 1),
        ("effect:charge:after", 1),
        ("persist:writes:before", 1),
        ("persist:writes:after", 1),
        ("persist:loop:before", 1),
        ("persist:loop:after", 1),
        ("persist:loop:before", 2),
        ("persist:loop:after", 2),
    ]


def test_every_proper_prefix_can_be_frozen_the_empty_one_too() -> None:
    assert [fault.durable for fault in frozen_prefixes(RUN)] == [0, 1, 2, 3]


def test_effects_are_pinned_at_every_number_of_durable_operations() -> None:
    pins = pinned_points(RUN)
    assert [fault.durable for fault in pins if fault.point == "effect:charge:after"] == [0, 1, 2, 3, 4]
    assert {fault.point for fault in pins} == {"effect:charge:before", "effect:charge:after"}


def test_likely_pins_are_those_of_the_run_without_faults() -> None:
    assert likely_pins(RUN) == tuple(Fault("effect:charge:after", Mode.PIN, durable=count) for count in (0, 1))


def test_operations_count_as_they_were_asked_for_whichever_began_first() -> None:
    overtaking = trace(*stored("state", place=2), *stored("writes", place=1))
    ((kept, _),) = reorderings(overtaking)
    assert (kept.first, kept.point) == ("writes", "state")


@pytest.mark.parametrize("late", [False, True])
def test_pins_do_not_depend_on_what_was_durable_by_chance(late: bool) -> None:
    answer = stored("answer", place=1)
    fired = (
        EffectBegin(process=1, call="c1", effect="charge", task="a", value=None),
        EffectEnd(process=1, call="c1", count=1),
    )
    run = trace(*(fired + answer if late else answer + fired), *stored("writes", place=2, covers=("a",)))
    assert [pin.durable for pin in likely_pins(run)] == [0, 1]


def test_only_operations_whose_names_come_once_are_reordered() -> None:
    ((kept, reversed_),) = reorderings(RUN)
    assert (kept.first, kept.point) == ("input", "writes")
    assert (reversed_.first, reversed_.point) == ("writes", "input")


def test_a_sample_has_both_ends() -> None:
    assert sample(range(10), 4) == (0, 3, 6, 9)
    assert sample([1, 2], 4) == (1, 2)
