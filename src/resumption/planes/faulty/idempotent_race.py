"""A decision that lost a race is reported as consumed too; it fires nothing."""

from __future__ import annotations

from resumption.contract.properties import Property
from resumption.planes.faulty.fault import Fault
from resumption.planes.reference.rules import Refusal, Rules
from resumption.planes.reference.tampering import lose_leases, tamper

__all__ = ["FAULT", "lose_leases", "open_run", "tamper"]


def _consume_too(refusal: Refusal) -> None:
    if refusal.gate is None or not refusal.raced:
        raise refusal.error
    refusal.instruments.consume(refusal.gate.name, refusal.decision.target, refusal.decision.value)


FAULT = Fault(
    name="idempotent-race",
    module=__name__,
    footprint=frozenset({Property.CONSUME_ONCE_COUNT}),
    rules=Rules(refuse=_consume_too),
)

open_run = FAULT.open_run
