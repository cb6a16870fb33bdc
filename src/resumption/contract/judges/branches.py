"""What a branch contains: what happened on it, and the prefix that it inherits from its parent.

The main line is `b0`. A fork `b0.1` inherits what came before the forked interrupt in the program, so that its content
is what a run with that decision alone would show; the parent's own answer, and everything behind it, stays with the
parent. A byte-for-byte copy of the store (`copy1`) inherits everything that happened before the copy was opened.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from resumption.contract.judges.program import (
    Firing,
    Position,
    firings,
    interrupt_position,
    task_end,
    task_start,
)
from resumption.history.events import (
    Consume,
    Deliver,
    Event,
    Intent,
    Park,
    Persist,
    Phase,
    Recover,
    Start,
    TaskEnd,
    TaskStart,
)
from resumption.history.history import History
from resumption.history.workload import Workload

__all__ = ["COPIES", "MAIN", "ORDERS", "Branch", "branches", "is_copy", "is_order", "lineage", "parent"]

MAIN = "b0"
"""The branch on which every run begins."""
_COPY = "copy"
_ORDER = "order"
COPIES = (f"{_COPY}1", f"{_COPY}2")
"""The branches on which two byte-for-byte copies of one store are recovered."""
ORDERS = (f"{_ORDER}1", f"{_ORDER}2")
"""The branches on which two unordered writes became durable in the one order, and in the other."""

E = TypeVar("E", bound=Event)


@dataclass(frozen=True, slots=True)
class Branch:
    """The content of one branch. `fork` is the delivery that opened it, if one did."""

    name: str
    events: tuple[Event, ...]
    firings: tuple[Firing, ...]
    fork: Deliver | None = None

    def of(self, kind: type[E]) -> Iterator[E]:
        """The events of one kind that the branch contains, inherited ones included, in order."""
        return (event for event in self.events if isinstance(event, kind))

    def is_own(self, event: Event) -> bool:
        """Whether an event happened on this branch, and was not inherited."""
        return event.branch == self.name

    def resumes(self) -> tuple[Deliver | Recover, ...]:
        """The deliveries and recoveries that were asked for on this branch itself, in order."""
        return tuple(e for e in self.events if isinstance(e, Deliver | Recover) and self.is_own(e))

    def record_of(self, firing: Firing, before: int) -> Event | None:
        """The event by which a fired effect was on durable record, if it was before event number `before`.

        That is the end of the storage operation that made its task's result durable; or, for an effect in front of an
        interrupt, the park: a plane that reports a run as parked has stored that the run got as far as that interrupt.
        """
        for event in self.events:
            if firing.fire.end < event.number < before and _records(event, firing):
                return event
        return None

    def durable(self, before: int) -> tuple[str, ...]:
        """The tasks whose result was durable before event number `before`."""
        return tuple(dict.fromkeys(task for end in self._stored(before) for task in end.covers))

    def durable_by(self, task: str, before: int) -> Persist | None:
        """The storage operation by whose end a task was durable before event number `before`, if it was."""
        return next((end for end in self._stored(before) if task in end.covers), None)

    def _stored(self, before: int) -> Iterator[Persist]:
        return (e for e in self.of(Persist) if e.phase is Phase.END and e.number < before)


def _records(event: Event, firing: Firing) -> bool:
    if isinstance(event, Persist):
        return event.phase is Phase.END and firing.step.task in event.covers
    return isinstance(event, Park) and event.operation == firing.fire.operation


def is_copy(branch: str) -> bool:
    """Whether a branch is a byte-for-byte copy of the main line's store."""
    return branch.startswith(_COPY)


def is_order(branch: str) -> bool:
    """Whether a branch is a run of its own in which an unordered pair of writes became durable in one of its orders."""
    return branch.startswith(_ORDER)


def parent(branch: str) -> str:
    """The branch that a branch comes from; empty for the main line."""
    return MAIN if is_copy(branch) else branch.rpartition(".")[0]


def lineage(branch: str) -> tuple[str, ...]:
    """A branch and its ancestors, nearest first."""
    names = []
    while branch:
        names.append(branch)
        branch = parent(branch)
    return tuple(names)


def branches(history: History) -> tuple[Branch, ...]:
    """The branches of a history, in the order in which they were opened."""
    names = dict.fromkeys(event.branch for event in history.events if event.branch)
    fired = firings(history)
    return tuple(_branch(history, name, fired) for name in names)


def _branch(history: History, name: str, fired: tuple[Firing, ...]) -> Branch:
    own = tuple(event for event in history.events if event.branch == name)
    own_firings = tuple(firing for firing in fired if firing.fire.branch == name)
    if not own or not parent(name):
        return Branch(name, own, own_firings)
    origin = _branch(history, parent(name), fired)
    opened = own[0].number
    before = tuple(event for event in origin.events if event.number < opened)
    before_firings = tuple(firing for firing in origin.firings if firing.fire.begin < opened)
    if is_copy(name):
        return Branch(name, before + own, before_firings + own_firings)
    fork = next((e for e in own if isinstance(e, Deliver) and e.intent is Intent.FORK), None)
    place = interrupt_position(history.workload, fork.target) if fork else None
    if place is None:
        return Branch(name, own, own_firings, fork)
    prefix = tuple(kept for event in before if (kept := _in_prefix(history.workload, event, place)))
    prefix_firings = tuple(firing for firing in before_firings if firing.step.position < place)
    return Branch(name, prefix + own, prefix_firings + own_firings, fork)


def _in_prefix(workload: Workload, event: Event, place: Position) -> Event | None:
    """Return what an event of the parent says about the program before `place`; None if nothing."""
    match event:
        case TaskStart():
            return event if task_start(workload, event.task) < place else None
        case TaskEnd():
            return event if task_end(workload, event.task) < place else None
        case Consume():
            return event if _before_or_at(workload, event.interrupt, place, at=False) else None
        case Park():
            return event if any(_before_or_at(workload, p.name, place, at=True) for p in event.pending) else None
        case Persist():
            known = {task.name for task in workload.tasks}
            covers = tuple(t for t in event.covers if t in known and task_end(workload, t) < place)
            return replace(event, covers=covers)
        case Start() | Deliver() | Recover():
            return event
    return None


def _before_or_at(workload: Workload, interrupt: str, place: Position, *, at: bool) -> bool:
    found = interrupt_position(workload, interrupt)
    return found is not None and (found < place or (at and found == place))
