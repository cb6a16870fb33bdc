"""Instruments that only record: what the planes' own tests give to an adapter instead of the worker's."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from resumption.history.events import Json
from resumption.planes.interface import TaskSpan

__all__ = ["Persisted", "RecordingInstruments"]


@dataclass(frozen=True, slots=True)
class Persisted:
    """One storage operation that ended."""

    name: str
    covers: tuple[str, ...]


@dataclass(slots=True)
class _Span:
    writes: list[Json]

    def wrote(self, write: Json) -> None:
        self.writes.append(write)


@dataclass(slots=True)
class RecordingInstruments:
    """What happened, by kind and in order. Adapters may call it from several threads."""

    started: list[tuple[str, Json]] = field(default_factory=list)
    """Each task that began, with the trail that it saw."""
    wrote: list[Json] = field(default_factory=list)
    consumed: list[tuple[str, Json]] = field(default_factory=list)
    """Each interrupt that received a decision, by name, with the decision."""
    fired: list[tuple[str, Json]] = field(default_factory=list)
    """Each effect, with the decision that it acted upon."""
    persisted: list[Persisted] = field(default_factory=list)
    failing: str = ""
    """The effect that raises instead of firing, as an outage does."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def tasks(self) -> list[str]:
        """The tasks that began, in order."""
        return [name for name, _ in self.started]

    @contextmanager
    def task(self, name: str, trail: Json) -> Iterator[TaskSpan]:
        self.started.append((name, list(trail)))
        yield _Span(self.wrote)

    def consume(self, task: str, interrupt: str, value: Json) -> None:
        self.consumed.append((interrupt, value))

    def fire(self, effect: str, *, task: str, value: Json) -> None:
        if effect == self.failing:
            raise ConnectionError(f"{effect} is out of reach")
        self.fired.append((effect, value))

    def work(self, seconds: float) -> None:
        """Work takes no time here."""

    @contextmanager
    def persist(self, name: str, covers: Sequence[str] = ()) -> Iterator[None]:
        yield
        with self._lock:
            self.persisted.append(Persisted(name, tuple(covers)))
