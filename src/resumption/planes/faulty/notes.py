"""Notes of a task, which some faulty planes take behind its record: writes of their own, of which one is in no order.

The notes stand in a file beside the log. The one that a thread takes nearly always comes first, unless it is held back.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from resumption.history.events import Json
from resumption.planes.interface import Instruments, TaskSpan

__all__ = ["NoteTaking", "notes_at"]

_PATIENCE = 40
_WAIT_SECONDS = 0.05


def notes_at(location: Path) -> tuple[str, ...]:
    """The notes of the run at a location, in the order in which they became durable."""
    notes = _file(location)
    return tuple(notes.read_text().split()) if notes.exists() else ()


@dataclass(frozen=True, slots=True)
class NoteTaking:
    """Instruments that take notes behind the record of one task: the first from a thread, others in line.

    Nobody waits for a note that is the only one; of several, all are durable before the run goes on.
    """

    instruments: Instruments
    task_noted: str
    location: Path
    notes: Sequence[str]

    @contextmanager
    def persist(self, name: str, covers: Sequence[str] = ()) -> Iterator[None]:
        """Bracket a storage operation, and take the notes if it was the task's record."""
        with self.instruments.persist(name, covers):
            yield
        if self.task_noted in covers:
            first, *others = self.notes
            thread = threading.Thread(target=self._note, args=(first,), daemon=True)
            thread.start()
            for _ in range(_PATIENCE):
                if thread.is_alive():
                    self.instruments.work(_WAIT_SECONDS)
            for note in others:
                self._note(note)
            if others:
                thread.join()

    def _note(self, note: str) -> None:
        with self.instruments.persist(note), _file(self.location).open("a") as file:
            file.write(f"{note}\n")

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


def _file(location: Path) -> Path:
    return location / "notes"
