"""A fork is served the decision that was recorded first, not its own."""

from __future__ import annotations

from resumption.contract.properties import Property
from resumption.decide.view import View
from resumption.planes.faulty.fault import Fault
from resumption.planes.reference.rules import Rules
from resumption.planes.reference.tampering import lose_leases, tamper

__all__ = ["FAULT", "lose_leases", "open_run", "tamper"]


def _first_recorded(
    *,
    interrupt: str,
    attempt: int,
    position: int,
    recorded_for: str | None,
    recorded_on: int,
    shared_before: int | None,
) -> View:
    if recorded_for != interrupt:
        return View.OTHER_INTERRUPT
    return View.OWN


FAULT = Fault(
    name="fork-ignore",
    module=__name__,
    footprint=frozenset({Property.FORK_DETERMINISM}),
    rules=Rules(view=_first_recorded),
)

open_run = FAULT.open_run
