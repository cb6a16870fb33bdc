"""Two notes of a finished task become durable in either order, and a recovery goes by which was first.

The notes stand in a file beside the log. The one that should be first nearly always is, unless it is held back.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from resumption.contract.properties import Property
from resumption.contract.verdicts import Facet
from resumption.history.workload import Workload
from resumption.planes.faulty.fault import Fault
from resumption.planes.faulty.passing import PassingInstruments
from resumption.planes.interface import Instruments, Run, Store
from resumption.planes.reference.log import Kind
from resumption.planes.reference.rules import Rules
from resumption.planes.reference.tampering import tamper

__all__ = ["FAULT", "open_run", "tamper"]

_FIRST, _SECOND = "first-note", "second-note"
_PATIENCE = 40
_WAIT_SECONDS = 0.05


def _by_the_first_note(workload: Workload, location: Path) -> frozenset[str]:
    notes = _notes(location)
    in_order = not notes.exists() or notes.read_text().startswith(_FIRST)
    return frozenset() if in_order else frozenset(task.name for task in workload.tasks)


FAULT = Fault(
    name="order-sensitive",
    module=__name__,
    footprint=frozenset({Property.RECOVERY_DETERMINISM}),
    rules=Rules(forgets=_by_the_first_note),
    facet=Facet.ORDER,
)


def open_run(workload: Workload, store: Store, instruments: Instruments) -> Run:
    """Open a run that takes its notes of the first task."""
    return FAULT.open_run(workload, store, _NoteTaking(instruments, workload.tasks[0].name, store.location))


def _notes(location: Path) -> Path:
    return location / "notes"


@dataclass(frozen=True, slots=True)
class _NoteTaking(PassingInstruments):
    """Instruments that write the two notes, from two threads, behind the record of one task."""

    noted: str
    location: Path

    @contextmanager
    def persist(self, name: str, covers: Sequence[str] = ()) -> Iterator[None]:
        """Bracket a storage operation, and take the notes if it was the task's record."""
        with self.instruments.persist(name, covers):
            yield
        if name == Kind.TASK and self.noted in covers:
            first = threading.Thread(target=self._note, args=(_FIRST,))
            first.start()
            for _ in range(_PATIENCE):
                if first.is_alive():
                    self.instruments.work(_WAIT_SECONDS)
            self._note(_SECOND)
            first.join()

    def _note(self, note: str) -> None:
        with self.instruments.persist(note), _notes(self.location).open("a") as file:
            file.write(f"{note}\n")
