"""The typed events of a history: what was asked of a plane, and what was observed.

A history is one append-only file. The order of events is the order of the file; an event's number is its place in it,
given by the reader. `process` 0 is the harness. `operation` numbers what the harness asked for, within the history;
everything a process records while it serves an operation carries that operation's number and branch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from resumption.history.workload import Workload

__all__ = [
    "EVENTS",
    "Consume",
    "Crash",
    "Deliver",
    "Drift",
    "Durable",
    "EffectBegin",
    "EffectEnd",
    "Event",
    "Exit",
    "Inspect",
    "Intent",
    "LeaseLoss",
    "Oracle",
    "Park",
    "Past",
    "Pending",
    "Persist",
    "Phase",
    "Raise",
    "Recover",
    "Return",
    "Start",
    "State",
    "Tamper",
    "TaskEnd",
    "TaskStart",
]

Json = Any  # a JSON value; the codec refuses anything else
"""A JSON value: None, bool, int, float, str, list, or dict with string keys."""


class Intent(StrEnum):
    """Why a decision is delivered."""

    ANSWER = "answer"
    """The first decision for a pending interrupt."""
    FORK = "fork"
    """Another decision for an interrupt that has one already, meant to open a branch of its own."""
    RETRY = "retry"
    """The same delivery once more, as a client does that got no reply."""
    STRAY = "stray"
    """A decision without fork intent, to a consumed interrupt or a finished run."""
    RACE = "race"
    """One of several decisions without fork intent, sent at the same time to one pending interrupt."""


class Phase(StrEnum):
    """The two ends of a storage operation."""

    BEGIN = "begin"
    END = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What all events have in common."""

    kind: ClassVar[str]
    process: int
    operation: int = 0
    branch: str = ""
    number: int = field(default=0, compare=False)
    """Place in the history, from 1; given by the reader and not stored."""


# What the harness asked for -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Start(Event):
    """The run is started with an input."""

    kind: ClassVar[str] = "start"
    value: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Deliver(Event):
    """A decision is handed over. `delivery` names the attempt; a re-delivery has the same name."""

    kind: ClassVar[str] = "deliver"
    intent: Intent
    form: str
    delivery: str
    value: Json
    target: str = ""
    """The interrupt that the decision is meant for, by its name in the workload."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recover(Event):
    """A recovery is asked for after a crash."""

    kind: ClassVar[str] = "recover"
    form: str
    value: Json = None
    """The decision that it hands over as well, as a client does that takes the crashed run for a parked one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspect(Event):
    """The public inspection API is asked for the run's state."""

    kind: ClassVar[str] = "inspect"


# What the caller got ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """One pending interrupt, as the plane reports it: its address there, its name in the workload, what it asks."""

    identity: str
    name: str
    question: Json = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Park(Event):
    """The operation ended with the run parked."""

    kind: ClassVar[str] = "park"
    pending: tuple[Pending, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Return(Event):
    """The operation ended, and the plane reports the run as finished with this trail."""

    kind: ClassVar[str] = "return"
    trail: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Raise(Event):
    """The operation ended with an error."""

    kind: ClassVar[str] = "raise"
    error: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class State(Event):
    """What the inspection API said."""

    kind: ClassVar[str] = "state"
    trail: Json
    pending: tuple[Pending, ...] = ()
    finished: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Past(Event):
    """What the API for past states listed, the newest first; `error` is the one that it ended with, if it did."""

    kind: ClassVar[str] = "past"
    trails: tuple[Json, ...]
    error: str = ""


# What was seen inside -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStart(Event):
    """The body of a task begins, and sees this trail."""

    kind: ClassVar[str] = "task-start"
    task: str
    trail: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEnd(Event):
    """The body of a task ends, and hands this write to the framework."""

    kind: ClassVar[str] = "task-end"
    task: str
    write: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Consume(Event):
    """A gate received a decision. `interrupt` is the name in the workload."""

    kind: ClassVar[str] = "consume"
    task: str
    interrupt: str
    value: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectBegin(Event):
    """An effect is about to fire. `call` is unique in the history."""

    kind: ClassVar[str] = "effect-begin"
    call: str
    effect: str
    task: str
    value: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectEnd(Event):
    """The effect's call returned. `count` is the process's own tally of effects fired."""

    kind: ClassVar[str] = "effect-end"
    call: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Persist(Event):
    """One end of a storage operation, at the framework's persistence seam.

    `item` pairs the two ends, and closes with the operation's place in the order in which its process asked for
    operations, from 1: one that was asked for later may begin first. `covers` names the tasks whose result is durable
    once the operation has ended.
    """

    kind: ClassVar[str] = "persist"
    phase: Phase
    item: str
    name: str
    covers: tuple[str, ...] = ()

    @property
    def place(self) -> int:
        """The operation's place in the order in which its process asked for operations, from 1."""
        return int(self.item.rpartition("-")[2])


@dataclass(frozen=True, slots=True, kw_only=True)
class Crash(Event):
    """The process reached its kill point and is about to kill itself."""

    kind: ClassVar[str] = "crash"
    point: str


# What the harness saw from outside ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit(Event):
    """The harness reaped process `who`. `signal` is 0 if the process ended by itself."""

    kind: ClassVar[str] = "exit"
    who: int
    code: int
    signal: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift(Event):
    """From here on, processes open the run with another program."""

    kind: ClassVar[str] = "drift"
    workload: Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Tamper(Event):
    """A process that ran nothing of the run altered its newest durable state: the trail is a number from here on."""

    kind: ClassVar[str] = "tamper"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseLoss(Event):
    """So many leases were taken from executors that live: others may have the run while they go on."""

    kind: ClassVar[str] = "lease-loss"
    leases: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Durable(Event):
    """What was durable while no operation was under way, as one SHA-256.

    `of` is `store` for the content of the run's store, or the name of a copy of it for the bytes of that copy.
    """

    kind: ClassVar[str] = "durable"
    of: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Oracle(Event):
    """The effect record's committed rows, by call, in commit order: the last word on which effects fired."""

    kind: ClassVar[str] = "oracle"
    fired: tuple[str, ...]


EVENTS: dict[str, type[Event]] = {
    cls.kind: cls
    for cls in (
        Start, Deliver, Recover, Inspect, Park, Return, Raise, State, Past, TaskStart, TaskEnd, Consume,
        EffectBegin, EffectEnd, Persist, Crash, Exit, Drift, Tamper, LeaseLoss, Durable, Oracle,
    )
}  # fmt: skip
"""Every kind of event, by the word that stands for it in a file."""
