"""Notes of a task, which some faulty planes take behind its record: writes of their own, of which one is in no order.

The notes stand in a file beside the log. The one that a thread takes nearly always comes first, unless it is held back.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from resumption.planes.faulty.passing import PassingInstruments

__all__ = ["NoteTaking", "notes_at"]

_PATIENCE = 40
_WAIT_SECONDS = 0.05


def notes_at(location: Path) -> tuple[str, ...]:
    """The notes of the run at a location, in the order in which they became durable."""
    notes = _file(location)
    return tuple(notes.read_text().split()) if notes.exists() else ()


@dataclass(frozen=True, slots=True)
class NoteTaking(PassingInstruments):
    """Instruments that take notes behind the record of one task: the first from a thread, others in line.

    Nobody waits for a note that is the only one; of several, all are durable before the run goes on.
    """

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


def _file(location: Path) -> Path:
    return location / "notes"
