"""A crashed run refuses to go on."""

from __future__ import annotations

from resumption.contract.properties import Property
from resumption.planes.faulty.fault import Fault
from resumption.planes.reference.rules import Rules
from resumption.planes.reference.tampering import lose_leases, tamper

__all__ = ["FAULT", "lose_leases", "open_run", "tamper"]


FAULT = Fault(
    name="lost-liveness",
    module=__name__,
    footprint=frozenset({Property.LIVENESS}),
    rules=Rules(recovers=False),
)

open_run = FAULT.open_run
