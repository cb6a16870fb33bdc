"""A recovery runs every task again from the first one, the gate included, and fires all effects again."""

from __future__ import annotations

from pathlib import Path

from resumption.contract.properties import Property
from resumption.contract.verdicts import Facet
from resumption.history.workload import Workload
from resumption.planes.faulty.fault import Fault
from resumption.planes.reference.rules import Rules
from resumption.planes.reference.tampering import lose_leases, tamper

__all__ = ["FAULT", "lose_leases", "open_run", "tamper"]


def _everything(workload: Workload, location: Path) -> frozenset[str]:
    return frozenset(task.name for task in workload.tasks)


FAULT = Fault(
    name="replay",
    module=__name__,
    footprint=frozenset({Property.EFFECT_EXACTLY_ONCE, Property.PREFIX_CONTINUATION, Property.CONSUME_ONCE_EFFECTS}),
    # Where an executor lost its lease, it and its successor run the prefix again at once.
    facets={Property.EFFECT_EXACTLY_ONCE: (Facet.CELL, Facet.RACE)},
    rules=Rules(forgets=_everything),
)

open_run = FAULT.open_run
