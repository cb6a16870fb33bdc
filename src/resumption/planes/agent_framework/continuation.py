"""A task's body that goes on behind an interrupt, where the framework runs its code in parts.

The body of every abstract task is one function, and Agent Framework calls a handler up to the question and another one
behind it. The second call therefore passes over what the first one did.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from resumption.history.events import Json
from resumption.history.workload import Effect, Interrupt, Task, Work
from resumption.planes.interface import Instruments, TaskSpan

__all__ = ["Continuation"]


@dataclass(slots=True)
class Continuation:
    """Instruments that pass over the first steps of a task, and hand everything else on."""

    instruments: Instruments
    passed: int
    """How many effects, pieces of work and consumptions were done by an earlier call."""

    @classmethod
    def of(cls, task: Task, instruments: Instruments, answers: Sequence[Json]) -> Continuation:
        """The instruments for a task whose interrupts have these answers, the last of which is new."""
        done = 0
        asked = 0
        for step in task.steps:
            if isinstance(step, Interrupt):
                asked += 1
                if asked >= len(answers):
                    break
            done += isinstance(step, Effect | Interrupt | Work)
        return cls(instruments, done if answers else 0)

    def task(self, name: str, trail: Json) -> AbstractContextManager[TaskSpan]:
        """Bracket the body, of which a part runs."""
        return self.instruments.task(name, trail)

    def consume(self, task: str, interrupt: str, value: Json) -> None:
        """Say that a gate received a decision, if it is the new one."""
        if not self._passes_over():
            self.instruments.consume(task, interrupt, value)

    def fire(self, effect: str, *, task: str, value: Json) -> None:
        """Fire an effect that has not fired yet."""
        if not self._passes_over():
            self.instruments.fire(effect, task=task, value=value)

    def work(self, seconds: float) -> None:
        """Be slow where that is still to be done."""
        if not self._passes_over():
            self.instruments.work(seconds)

    def persist(self, name: str, covers: Sequence[str] = ()) -> AbstractContextManager[None]:
        """Bracket one storage operation."""
        return self.instruments.persist(name, covers)

    def _passes_over(self) -> bool:
        over = self.passed > 0
        self.passed -= over
        return over
