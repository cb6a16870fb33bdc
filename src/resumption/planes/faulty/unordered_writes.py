"""A task starts before all that belongs to its predecessor is durable, and a recovery takes what it built for undone.

Behind the gate's record comes a note of it, which nobody waits for. Where a recovery misses the note, the tasks behind
the gate run again, those on record included.
"""

from __future__ import annotations

from pathlib import Path

from resumption.contract.properties import Property
from resumption.history.workload import Task, Workload
from resumption.planes.faulty.fault import Fault
from resumption.planes.faulty.notes import NoteTaking, notes_at
from resumption.planes.interface import Instruments, Run, Store
from resumption.planes.reference.rules import Rules
from resumption.planes.reference.tampering import lose_leases, tamper

__all__ = ["FAULT", "lose_leases", "open_run", "tamper"]

_NOTE = "note"


def _noted(workload: Workload) -> Task:
    return next(workload.gates(), workload.tasks[0])


def _behind_the_gap(workload: Workload, location: Path) -> frozenset[str]:
    behind = workload.tasks[workload.index(_noted(workload).name) + 1 :]
    return frozenset() if notes_at(location) else frozenset(task.name for task in behind)


FAULT = Fault(
    name="unordered-writes",
    module=__name__,
    footprint=frozenset({Property.EFFECT_EXACTLY_ONCE}),
    rules=Rules(forgets=_behind_the_gap),
)


def open_run(workload: Workload, store: Store, instruments: Instruments) -> Run:
    """Open a run that takes a note of its gate, or of its first task where it has none."""
    if not workload.tasks:
        return FAULT.open_run(workload, store, instruments)
    return FAULT.open_run(workload, store, NoteTaking(instruments, _noted(workload).name, store.location, (_NOTE,)))
