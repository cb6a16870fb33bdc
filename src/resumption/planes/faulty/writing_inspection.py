"""An inspection writes to the store."""

from __future__ import annotations

from pathlib import Path

from resumption.contract.properties import Property
from resumption.planes.faulty.fault import Fault
from resumption.planes.interface import Instruments
from resumption.planes.reference.rules import Rules
from resumption.planes.reference.tampering import lose_leases, tamper

__all__ = ["FAULT", "lose_leases", "open_run", "tamper"]


def _count_reads(location: Path, instruments: Instruments) -> None:
    with instruments.persist("inspection"), (location / "inspections").open("ab") as file:
        file.write(b".")


FAULT = Fault(
    name="writing-inspection",
    module=__name__,
    footprint=frozenset({Property.READ_INERTNESS}),
    rules=Rules(inspects=_count_reads),
)

open_run = FAULT.open_run
