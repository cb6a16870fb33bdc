"""Two notes of a finished task become durable in either order, and a recovery goes by which was first."""

from __future__ import annotations

from pathlib import Path

from resumption.contract.properties import Property
from resumption.contract.verdicts import Facet
from resumption.history.workload import Workload
from resumption.planes.faulty.fault import Fault
from resumption.planes.faulty.notes import NoteTaking, notes_at
from resumption.planes.interface import Instruments, Run, Store
from resumption.planes.reference.rules import Rules
from resumption.planes.reference.tampering import lose_leases, tamper

__all__ = ["FAULT", "lose_leases", "open_run", "tamper"]

_NOTES = ("first-note", "second-note")


def _by_the_first_note(workload: Workload, location: Path) -> frozenset[str]:
    in_order = notes_at(location)[:1] in ((), _NOTES[:1])
    return frozenset() if in_order else frozenset(task.name for task in workload.tasks)


FAULT = Fault(
    name="order-sensitive",
    module=__name__,
    footprint=frozenset({Property.RECOVERY_DETERMINISM}),
    rules=Rules(forgets=_by_the_first_note),
    facets={Property.RECOVERY_DETERMINISM: (Facet.ORDER,)},
)


def open_run(workload: Workload, store: Store, instruments: Instruments) -> Run:
    """Open a run that takes its notes of the first task."""
    return FAULT.open_run(workload, store, NoteTaking(instruments, workload.tasks[0].name, store.location, _NOTES))
