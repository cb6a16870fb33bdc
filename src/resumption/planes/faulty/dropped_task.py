"""A recovery takes the tasks that didn't run for done, and the run reads as finished without them."""

from __future__ import annotations

from resumption.contract.properties import Property
from resumption.planes.faulty.fault import Fault
from resumption.planes.reference.rules import Rules
from resumption.planes.reference.tampering import lose_leases, tamper

__all__ = ["FAULT", "lose_leases", "open_run", "tamper"]


FAULT = Fault(
    name="dropped-task",
    module=__name__,
    footprint=frozenset({Property.PREFIX_CONTINUATION, Property.LIVENESS, Property.NO_LOST_WORK}),
    rules=Rules(drops=True),
)

open_run = FAULT.open_run
