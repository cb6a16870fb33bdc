"""A recovery executes beside another one that is at work, and goes by what was on record when it began.

So the one that was overtaken fires what the other has fired and recorded, and is refused only where it writes.
"""

from __future__ import annotations

from pathlib import Path

from resumption.contract.properties import Property
from resumption.contract.verdicts import Facet
from resumption.history.workload import Workload
from resumption.planes.faulty.fault import Fault
from resumption.planes.interface import Store
from resumption.planes.reference.log import Kind, read_log
from resumption.planes.reference.program import Program
from resumption.planes.reference.rules import Rules
from resumption.planes.reference.tampering import lose_leases, tamper

__all__ = ["FAULT", "lose_leases", "not_on_record", "open_run", "tamper"]


def not_on_record(workload: Workload, location: Path) -> frozenset[str]:
    """The tasks that have no record in the store at a location."""
    end_of = Program(workload).end_of
    with read_log(location, Store("sqlite", location).thread) as log:
        return frozenset(task.name for task in workload.tasks if log is None or not log.at(Kind.TASK, end_of(task)))


FAULT = Fault(
    name="racing-recoveries",
    module=__name__,
    footprint=frozenset({Property.EFFECT_EXACTLY_ONCE}),
    # Both are needed: a recovery that reads the record before each effect finds what the other one has fired.
    rules=Rules(excludes=False, forgets=not_on_record),
    facets={Property.EFFECT_EXACTLY_ONCE: (Facet.RACE,)},
)

open_run = FAULT.open_run
