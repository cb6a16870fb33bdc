"""A recovery runs the tasks before the frontier again, but for the gate, whose record is served."""

from __future__ import annotations

from pathlib import Path

from resumption.contract.properties import Property
from resumption.contract.verdicts import Facet
from resumption.history.workload import Workload
from resumption.planes.faulty.fault import Fault
from resumption.planes.reference.rules import Rules
from resumption.planes.reference.tampering import lose_leases, tamper

__all__ = ["FAULT", "lose_leases", "open_run", "tamper"]


def _everything_but_gates(workload: Workload, location: Path) -> frozenset[str]:
    return frozenset(task.name for task in workload.tasks if not task.interrupts)


FAULT = Fault(
    name="prefix-replay",
    module=__name__,
    footprint=frozenset({Property.EFFECT_EXACTLY_ONCE, Property.PREFIX_CONTINUATION}),
    # Where an executor lost its lease, it and its successor run the prefix again at once.
    facets={Property.EFFECT_EXACTLY_ONCE: (Facet.CELL, Facet.RACE)},
    rules=Rules(forgets=_everything_but_gates),
)

open_run = FAULT.open_run
