"""An inspection shows the state without what the last task wrote."""

from __future__ import annotations

from dataclasses import replace

from resumption.contract.properties import Property
from resumption.planes.faulty.fault import Fault
from resumption.planes.interface import Snapshot
from resumption.planes.reference.rules import Rules
from resumption.planes.reference.tampering import lose_leases, tamper

__all__ = ["FAULT", "lose_leases", "open_run", "tamper"]


def _without_the_last(snapshot: Snapshot) -> Snapshot:
    return replace(snapshot, trail=snapshot.trail[:-1])


FAULT = Fault(
    name="stale-inspection",
    module=__name__,
    footprint=frozenset({Property.RELOAD_EQUALS_LIVE}),
    rules=Rules(shows=_without_the_last),
)

open_run = FAULT.open_run
