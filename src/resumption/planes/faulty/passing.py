"""Instruments that pass everything on to others: the base of those that a fault puts in between."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from resumption.history.events import Json
from resumption.planes.interface import Instruments, TaskSpan

__all__ = ["PassingInstruments"]


@dataclass(frozen=True, slots=True)
class PassingInstruments:
    """Passes every call on."""

    instruments: Instruments

    def task(self, name: str, trail: Json) -> AbstractContextManager[TaskSpan]:
        """Bracket the body of a task."""
        return self.instruments.task(name, trail)

    def consume(self, task: str, interrupt: str, value: Json) -> None:
        """Say that a gate received a decision."""
        self.instruments.consume(task, interrupt, value)

    def fire(self, effect: str, *, task: str, value: Json) -> None:
        """Fire an external effect."""
        self.instruments.fire(effect, task=task, value=value)

    def work(self, seconds: float) -> None:
        """Be slow."""
        self.instruments.work(seconds)

    def persist(self, name: str, covers: Sequence[str] = ()) -> AbstractContextManager[None]:
        """Bracket a storage operation."""
        return self.instruments.persist(name, covers)
