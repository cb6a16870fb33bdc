"""A parked run goes on with whatever program it is opened with."""

from __future__ import annotations

from resumption.contract.properties import Property
from resumption.planes.faulty.fault import Fault
from resumption.planes.reference.rules import Rules

__all__ = ["FAULT", "open_run"]


FAULT = Fault(
    name="ignored-drift",
    module=__name__,
    footprint=frozenset({Property.TOPOLOGY_DRIFT}),
    rules=Rules(compares_topology=False),
)

open_run = FAULT.open_run
