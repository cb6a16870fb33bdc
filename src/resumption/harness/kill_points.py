"""Kill points, enumerated from a history without faults: no probe lists them by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import TypeVar

from resumption.history.events import EffectBegin, EffectEnd, Event, Persist, Phase, TaskStart
from resumption.history.history import History
from resumption.worker import points
from resumption.worker.faults import Fault, Mode

__all__ = [
    "frozen_prefixes",
    "kill_points",
    "likely_pins",
    "partly_recorded",
    "pinned_points",
    "reorderings",
    "sample",
    "withheld",
]

T = TypeVar("T")


def kill_points(history: History) -> tuple[Fault, ...]:
    """Every point that the first process of `history` passed, in order, as a fault that kills there.

    A point that is passed more than once counts once for each passing.
    """
    passed: Counter[str] = Counter()
    faults = []
    for event in _of_first_process(history):
        for point in _points(event, history):
            passed[point] += 1
            faults.append(Fault(point, Mode.KILL, passed[point]))
    return tuple(faults)


def frozen_prefixes(history: History) -> tuple[Fault, ...]:
    """Every number of storage operations that can be the last to become durable, none included, as a fault."""
    return tuple(Fault(mode=Mode.FREEZE, durable=count) for count in range(len(_operations(history))))


def pinned_points(history: History) -> tuple[Fault, ...]:
    """Every pair of an effect's point and a number of durable operations, as a fault. Many pairs can't be had."""
    effects = [fault for fault in kill_points(history) if points.is_at_effect(fault.point)]
    counts = range(len(_operations(history)) + 1)
    return tuple(Fault(fault.point, Mode.PIN, fault.occurrence, count) for fault in effects for count in counts)


def likely_pins(history: History) -> tuple[Fault, ...]:
    """The pins behind each effect at which all is durable that was asked for before it, and all but the last of that.

    What was asked for before an effect is what comes before the first operation by which its task is on record; where
    no operation is, what had become durable in the fault-free run.
    """
    operations = _operations(history)
    pins = []
    durable = 0
    for event in _of_first_process(history):
        if isinstance(event, Persist) and event.phase is Phase.END:
            durable += 1
        if isinstance(event, EffectEnd):
            begin = next(begin for begin in history.of(EffectBegin) if begin.call == event.call)
            before = next((place for place, one in enumerate(operations) if begin.task in one.covers), durable)
            point = points.effect_after(begin.effect)
            pins += [Fault(point, Mode.PIN, durable=count) for count in (before - 1, before) if count >= 0]
    return tuple(pins)


def reorderings(history: History) -> tuple[tuple[Fault, Fault], ...]:
    """Every pair of neighbouring storage operations, in both orders. Most planes order most of them.

    An operation whose name comes twice can't be told from the other one, and is left out.
    """
    names = [persist.name for persist in _operations(history)]
    once = {name for name, count in Counter(names).items() if count == 1}
    return tuple(
        (Fault(after, Mode.REORDER, first=before), Fault(before, Mode.REORDER, first=after))
        for before, after in pairwise(names)
        if {before, after} <= once
    )


def partly_recorded(history: History) -> tuple[Fault, ...]:
    """The frozen prefixes in which some task is on record, and not every one.

    An operation that covers every task is passed over: tasks that run at once are recorded by threads, and whether
    the record of the whole step overtakes theirs is chance. In another run the same count may be one of theirs.
    """
    faults = []
    recorded: set[str] = set()
    tasks = {task.name for task in history.workload.tasks}
    apart = (operation for operation in _operations(history) if not tasks <= set(operation.covers))
    for count, operation in enumerate(apart, 1):
        recorded.update(operation.covers)
        if recorded and len(recorded) < len(tasks):
            faults.append(Fault(mode=Mode.FREEZE, durable=count))
    return tuple(faults)


def withheld(history: History) -> tuple[Fault, ...]:
    """Every storage operation as one that never becomes durable, with a kill where something builds on it.

    That is the end of the next operation by which a task is on record; and, for an operation by which a task is the
    first time on record, the start of the next task. An operation whose name comes twice can't be told from the other
    one, and is left out.
    """
    operations = _operations(history)
    names = Counter(operation.name for operation in operations)
    faults = []
    recorded: set[str] = set()
    for place, operation in enumerate(operations):
        builds = [later.name for later in operations[place + 1 :] if later.covers and names[later.name] == 1]
        kills = [points.persist_after(name) for name in builds[:1]]
        fresh = [task for task in operation.covers if task not in recorded]
        kills += [points.task_start(behind) for task in fresh for behind in _behind(history, task)]
        recorded.update(fresh)
        if names[operation.name] == 1:
            faults += [Fault(point, Mode.WITHHOLD, first=operation.name) for point in kills]
    return tuple(faults)


def _behind(history: History, task: str) -> Sequence[str]:
    """The task behind this one in a sequence; nothing behind the last."""
    place = history.workload.index(task) + 1
    return [after.name for after in history.workload.tasks[place : place + 1]]


def sample(items: Sequence[T], most: int) -> tuple[T, ...]:
    """At most so many of the items, evenly spread, the first and the last among them."""
    if len(items) <= most:
        return tuple(items)
    step = (len(items) - 1) / (most - 1)
    return tuple(items[round(place * step)] for place in range(most))


def _of_first_process(history: History) -> Iterator[Event]:
    return (event for event in history.events if event.process == 1)


def _operations(history: History) -> list[Persist]:
    """The storage operations of the first process, in the order in which they were asked for."""
    persists = (event for event in _of_first_process(history) if isinstance(event, Persist))
    begun = [persist for persist in persists if persist.phase is Phase.BEGIN]
    return sorted(begun, key=attrgetter("place"))


def _points(event: Event, history: History) -> Iterator[str]:
    match event:
        case TaskStart(task=task):
            yield points.task_start(task)
        case EffectBegin(effect=effect):
            yield points.effect_before(effect)
        case EffectEnd(call=call):
            effect = next(begin.effect for begin in history.of(EffectBegin) if begin.call == call)
            yield points.effect_after(effect)
        case Persist(phase=Phase.BEGIN, name=name):
            yield points.persist_before(name)
        case Persist(phase=Phase.END, name=name):
            yield points.persist_after(name)
        case _:
            return
