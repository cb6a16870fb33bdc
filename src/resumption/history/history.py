"""A history in memory: header, numbered events, and the questions that every judge asks of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from resumption.history.events import (
    Consume,
    Deliver,
    Drift,
    EffectBegin,
    EffectEnd,
    Event,
    Exit,
    Inspect,
    Json,
    Oracle,
    Park,
    Raise,
    Recover,
    Return,
    Start,
    State,
    TaskEnd,
    TaskStart,
)
from resumption.history.workload import Workload

__all__ = ["Fire", "Header", "History", "Operation"]

E = TypeVar("E", bound=Event)

Operation = Start | Deliver | Recover | Inspect
"""The events with which an operation begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What the history is of: the protocol's coordinates and the abstract program it ran."""

    probe: str
    plane: str
    path: str
    backend: str
    form: str
    workload: Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Fire:
    """One effect that fired, by the oracle's word, placed between the bracket that surrounds it."""

    call: str
    effect: str
    task: str
    value: Json
    branch: str
    process: int
    operation: int
    begin: int
    """Number of the event after which the effect fired."""
    end: int
    """Number of the event before which it had fired: the bracket's end, or the exit of a process that died inside."""


@dataclass(frozen=True, slots=True)
class History:
    """Everything observed of one protocol. `torn` holds the numbers of lines whose write was cut by a kill."""

    header: Header
    events: tuple[Event, ...]
    torn: tuple[int, ...] = field(default=())

    @property
    def workload(self) -> Workload:
        """The abstract program that was run."""
        return self.header.workload

    def programs(self) -> tuple[Workload, ...]:
        """The program, and those that it was exchanged for under the run, in order."""
        return (self.header.workload, *(drift.workload for drift in self.of(Drift)))

    def of(self, kind: type[E]) -> Iterator[E]:
        """The events of one kind, in order."""
        return (event for event in self.events if isinstance(event, kind))

    def during(self, operation: int, kind: type[E]) -> Iterator[E]:
        """The events of one kind that were recorded while an operation was served."""
        return (event for event in self.of(kind) if event.operation == operation)

    def operations(self) -> Iterator[Operation]:
        """What the harness asked for, in the order in which the processes began to serve it."""
        return (event for event in self.events if isinstance(event, Operation))

    def ended(self, operation: Operation) -> int:
        """Number of the event by which an operation was over: the last one it recorded or, unanswered, the exit."""
        own = [e for e in self.events if e.operation == operation.operation]
        last = max((e.number for e in own), default=operation.number)
        if any(isinstance(e, Park | Return | Raise | State) for e in own):
            return last
        exits = [e.number for e in self.of(Exit) if e.who == operation.process and e.number > last]
        return min(exits, default=last)

    def fires(self) -> tuple[Fire, ...]:
        """The effects that fired, in the order in which they began. Empty if the oracle was never read."""
        fired = {call for oracle in self.of(Oracle) for call in oracle.fired}
        ends = {end.call: end.number for end in self.of(EffectEnd)}
        exits = {exit_.who: exit_.number for exit_ in self.of(Exit)}
        last = len(self.events)
        return tuple(
            Fire(
                call=begin.call,
                effect=begin.effect,
                task=begin.task,
                value=begin.value,
                branch=begin.branch,
                process=begin.process,
                operation=begin.operation,
                begin=begin.number,
                end=ends.get(begin.call, exits.get(begin.process, last)),
            )
            for begin in self.of(EffectBegin)
            if begin.call in fired
        )

    def problems(self) -> tuple[str, ...]:
        """Why this history can't be judged; empty when it can.

        A history is whole when the oracle was read after all effects, every process was reaped, the oracle's rows agree
        with what the processes recorded (each call began once, a completed call has its row, a row has its call, and
        each process's own tally matches), and the processes ran the program that the header names, or one that it was
        exchanged for. No task of such a program may have two effects of one name, which could not be told apart.
        """
        if not self.events:
            return ("the history is empty",)
        oracles = list(self.of(Oracle))
        if not oracles:
            return ("the history is truncated: it ends before the effect record was read",)
        alive = {event.process for event in self.events if event.process} - {e.who for e in self.of(Exit)}
        found = [f"process {process} was never reaped" for process in sorted(alive)]
        return tuple(found + self._oracle_disagreements(oracles[-1]) + self._strangers() + self._ambiguities())

    def _ambiguities(self) -> list[str]:
        """Why fires can't be attributed: a task that runs again may be served one of two equal effects."""
        tasks = dict.fromkeys(task for program in self.programs() for task in program.tasks)
        return [
            f"task `{task.name}` has {count} effects called `{name}`, which can't be told apart"
            for task in tasks
            for name, count in Counter(effect.name for effect in task.effects).items()
            if count > 1
        ]

    def _strangers(self) -> list[str]:
        """What was run that the program doesn't have: such a history is of another program."""
        known = set()
        for task in (task for program in self.programs() for task in program.tasks):
            known.add(f"task `{task.name}`")
            known.update(f"effect `{effect.name}` in task `{task.name}`" for effect in task.effects)
            known.update(f"interrupt `{interrupt.name}` in task `{task.name}`" for interrupt in task.interrupts)
        found = []
        for event in self.events:
            ran = _ran(event)
            if ran and ran not in known:
                found.append(f"the program has no {ran}, which ran at #{event.number}")
        return found

    def _oracle_disagreements(self, oracle: Oracle) -> list[str]:
        begun = {begin.call: begin for begin in self.of(EffectBegin)}
        fired = set(oracle.fired)
        found = _repeated_calls(self)
        found += [f"the effect record has call {call}, which nobody began" for call in sorted(fired - set(begun))]
        found += [
            f"effect `{begin.effect}` began at #{begin.number}, after the effect record was read"
            for begin in begun.values()
            if begin.number > oracle.number
        ]
        if len(fired) != len(oracle.fired):
            found.append("the effect record holds one call twice")
        tally: dict[int, int] = {}
        for end in self.of(EffectEnd):
            tally[end.process] = tally.get(end.process, 0) + 1
            if end.call not in fired:
                found.append(f"call {end.call} returned at #{end.number}, but the effect record lacks it")
            if end.count != tally[end.process]:
                found.append(
                    f"process {end.process} counted {end.count} effects at #{end.number}, not {tally[end.process]}"
                )
        return found


def _repeated_calls(history: History) -> list[str]:
    """The brackets that name a call which another one named before: one row can't stand for two calls."""
    found = []
    seen: set[tuple[type[Event], str]] = set()
    for event in history.events:
        if isinstance(event, EffectBegin | EffectEnd):
            if (type(event), event.call) in seen:
                how = "began" if isinstance(event, EffectBegin) else "returned"
                found.append(f"call {event.call} {how} a second time at #{event.number}")
            seen.add((type(event), event.call))
    return found


def _ran(event: Event) -> str:
    """What of the program an event says was run; empty if nothing."""
    match event:
        case TaskStart() | TaskEnd():
            return f"task `{event.task}`"
        case EffectBegin():
            return f"effect `{event.effect}` in task `{event.task}`"
        case Consume():
            return f"interrupt `{event.interrupt}` in task `{event.task}`"
    return ""
