"""A second decision is refused, but only after the gate's effects have fired again."""

from __future__ import annotations

from resumption.contract.properties import Property
from resumption.planes.faulty.fault import Fault
from resumption.planes.reference.rules import Refusal, Rules
from resumption.planes.reference.tampering import lose_leases, tamper

__all__ = ["FAULT", "lose_leases", "open_run", "tamper"]


def _fire_again(refusal: Refusal) -> None:
    if refusal.gate is not None:
        for effect in refusal.gate.effects:
            refusal.instruments.fire(effect.name, task=refusal.gate.name, value=refusal.decision.value)
    raise refusal.error


FAULT = Fault(
    name="double-consume",
    module=__name__,
    # A stray that is refused only after it was acted upon isn't refused (LA, which the model doesn't have).
    footprint=frozenset({Property.EFFECT_EXACTLY_ONCE, Property.CONSUME_ONCE_EFFECTS, Property.LOUD_ADDRESSING}),
    rules=Rules(refuse=_fire_again),
)

open_run = FAULT.open_run
