"""Durable state is taken for sound whatever is in it."""

from __future__ import annotations

from resumption.contract.properties import Property
from resumption.history.events import Json
from resumption.planes.faulty.fault import Fault
from resumption.planes.reference.rules import Rules
from resumption.planes.reference.tampering import lose_leases, tamper

__all__ = ["FAULT", "lose_leases", "open_run", "tamper"]


def _anything(write: Json) -> bool:
    return True


FAULT = Fault(
    name="trusting-load",
    module=__name__,
    footprint=frozenset({Property.LOAD_VALIDITY}),
    rules=Rules(trusts=_anything),
)

open_run = FAULT.open_run
