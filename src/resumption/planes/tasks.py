"""The body of an abstract task: what every adapter's node, step or function runs, so that they all run the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from resumption.history.events import Json
from resumption.history.workload import Corrupt, Effect, Interrupt, Task, Work, Workload, WriteFault, marker
from resumption.planes.interface import Instruments

__all__ = ["Asked", "Ended", "appended", "marked", "perform", "perform_part"]


def _unserialisable() -> list[object]:
    class Unserialisable:
        """Local to a function, so that no codec finds it by its name: pickle neither."""

    return [Unserialisable()]


_CORRUPT: dict[WriteFault, Any] = {
    WriteFault.NULL_ITEM: [None],
    WriteFault.NULL: None,
    WriteFault.WRONG_TYPE: 7,
    WriteFault.UNSERIALISABLE: _unserialisable(),
}


def perform(
    task: Task,
    trail: Json,
    instruments: Instruments,
    ask: Callable[[Interrupt], Json],
    answered: Sequence[Json] | None = None,
) -> Any:
    """Run `task` on a program state whose trail is `trail`, and return what it writes to the trail channel.

    `ask` is the framework's own way to park for a decision; it may leave by an exception of the framework, which passes
    through. The write is a list to append, unless the task is one that corrupts the state. With `answered`, which are
    the decisions that earlier parts of the task received, it goes on at the question behind them.
    """
    decisions = list(answered or ())
    first = 0 if answered is None else task.steps.index(task.interrupts[len(answered)])
    with instruments.task(task.name, trail) as span:
        for step in task.steps[first:]:
            match step:
                case Effect(name):
                    instruments.fire(name, task=task.name, value=decisions[-1] if decisions else _decision_in(trail))
                case Interrupt(name):
                    decisions.append(ask(step))
                    instruments.consume(task.name, name, decisions[-1])
                case Work(seconds):
                    instruments.work(seconds)
                case Corrupt():
                    pass
        write = _CORRUPT[task.corrupts] if task.corrupts else [marker(task, tuple(decisions))]
        span.wrote(write)
    return write


@dataclass(frozen=True, slots=True)
class Ended:
    """A task came to its end, with what it writes to the trail channel."""

    write: Any


class Asked(Exception):
    """Leaves a task at a question that has no answer yet: for frameworks whose programs can't be left otherwise."""

    def __init__(self, interrupt: Interrupt) -> None:
        super().__init__(interrupt.name)
        self.interrupt = interrupt


def appended(trail: Any, write: Any) -> Any:
    """The trail with what a task wrote behind it, as a new list; a write that is no list takes the trail's place."""
    return [*trail, *write] if isinstance(write, list) else write


def marked(workload: Workload, trail: Json) -> list[str]:
    """The tasks that a trail holds a mark of, in program order; a trail that is no list holds none."""
    entries = trail if isinstance(trail, list) else []
    marks = {entry.partition("=")[0] for entry in entries if isinstance(entry, str)}
    return [task.name for task in workload.tasks if task.name in marks]


def perform_part(task: Task, trail: Json, instruments: Instruments, decisions: Sequence[Json]) -> Interrupt | Ended:
    """Run the part of `task` behind its latest decision: up to its next question, which is returned, or to its end.

    This is `perform` for frameworks that can't park amid a task, so that their programs cut it at its questions.
    Without decisions it is the part in front of the first question.
    """
    latest = list(decisions[-1:])

    def ask(interrupt: Interrupt) -> Json:
        if not latest:
            raise Asked(interrupt)
        return latest.pop()

    try:
        return Ended(perform(task, trail, instruments, ask, decisions[:-1] if decisions else None))
    except Asked as asked:
        return asked.interrupt


def _decision_in(trail: Json) -> Json:
    """The latest decision that the trail carries: what an effect behind a gate acts upon."""
    if not isinstance(trail, list):
        return None
    decided = [entry.split("=", 1)[1] for entry in trail if isinstance(entry, str) and "=" in entry]
    return decided[-1] if decided else None
