"""A question is lost with the process that asked it, so nobody else can answer."""

from __future__ import annotations

import os

from resumption.contract.properties import Property
from resumption.history.events import Json
from resumption.planes.faulty.fault import Fault
from resumption.planes.reference.rules import Rules
from resumption.planes.reference.tampering import lose_leases, tamper

__all__ = ["FAULT", "lose_leases", "open_run", "tamper"]


def _asked_here(asker: Json) -> bool:
    return isinstance(asker, int) and asker == os.getpid()


FAULT = Fault(
    name="volatile-parking",
    module=__name__,
    footprint=frozenset({Property.LIVENESS}),
    rules=Rules(asks=os.getpid, keeps=_asked_here),
)

open_run = FAULT.open_run
