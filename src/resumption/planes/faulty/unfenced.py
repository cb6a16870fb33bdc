"""An executor that lost its lease is not refused where it writes, and goes by what was on record when it began.

So while its lease holds, nobody else is at work and nothing is amiss; once it was replaced, it fires again what its
successor has fired and recorded.
"""

from __future__ import annotations

from resumption.contract.properties import Property
from resumption.contract.verdicts import Facet
from resumption.decide.commit import Commit, commit
from resumption.planes.faulty.fault import Fault
from resumption.planes.faulty.racing_recoveries import not_on_record
from resumption.planes.reference.rules import Rules
from resumption.planes.reference.tampering import lose_leases, tamper

__all__ = ["FAULT", "lose_leases", "open_run", "tamper"]


def _whoever_writes(*, fence: int, current_fence: int, recorded: bool, valid: bool, missing: int) -> Commit:
    return commit(fence=current_fence, current_fence=current_fence, recorded=recorded, valid=valid, missing=missing)


FAULT = Fault(
    name="unfenced",
    module=__name__,
    footprint=frozenset({Property.EFFECT_EXACTLY_ONCE, Property.CONSUME_ONCE_EFFECTS}),
    rules=Rules(commit=_whoever_writes, forgets=not_on_record),
    facets={Property.EFFECT_EXACTLY_ONCE: (Facet.RACE,)},
)

open_run = FAULT.open_run
