"""A decision is served to every interrupt that is pending, whichever it was meant for."""

from __future__ import annotations

from resumption.contract.properties import Property
from resumption.planes.faulty.fault import Fault
from resumption.planes.reference.rules import Rules
from resumption.planes.reference.tampering import lose_leases, tamper

__all__ = ["FAULT", "lose_leases", "open_run", "tamper"]


FAULT = Fault(
    name="shared-answer",
    module=__name__,
    footprint=frozenset({Property.CONSUME_ONCE_COUNT}),
    rules=Rules(spreads=True),
)

open_run = FAULT.open_run
