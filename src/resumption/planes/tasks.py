"""The body of an abstract task: what every adapter's node, step or function runs, so that they all run the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from resumption.history.events import Json
from resumption.history.workload import Corrupt, Effect, Interrupt, Task, Work, WriteFault, marker
from resumption.planes.interface import Instruments

__all__ = ["perform"]


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


def perform(task: Task, trail: Json, instruments: Instruments, ask: Callable[[Interrupt], Json]) -> Any:
    """Run `task` on a program state whose trail is `trail`, and return what it writes to the trail channel.

    `ask` is the framework's own way to park for a decision; it may leave by an exception of the framework, which passes
    through. The write is a list to append, unless the task is one that corrupts the state.
    """
    decisions: list[Json] = []
    with instruments.task(task.name, trail) as span:
        for step in task.steps:
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


def _decision_in(trail: Json) -> Json:
    """The latest decision that the trail carries: what an effect behind a gate acts upon."""
    if not isinstance(trail, list):
        return None
    decided = [entry.split("=", 1)[1] for entry in trail if isinstance(entry, str) and "=" in entry]
    return decided[-1] if decided else None
