"""A write that breaks the state schema is stored, and nobody is told; of what no codec knows, its `repr` is."""

from __future__ import annotations

from resumption.contract.properties import Property
from resumption.decide.commit import Commit, commit
from resumption.history.ndjson import jsonable
from resumption.planes.faulty.fault import Fault
from resumption.planes.reference.rules import Rules
from resumption.planes.reference.tampering import lose_leases, tamper

__all__ = ["FAULT", "lose_leases", "open_run", "tamper"]


def _unchecked(*, fence: int, current_fence: int, recorded: bool, valid: bool, missing: int) -> Commit:
    return commit(fence=fence, current_fence=current_fence, recorded=recorded, valid=True, missing=missing)


FAULT = Fault(
    name="invalid-persist",
    module=__name__,
    footprint=frozenset({Property.CHECKPOINT_VALIDITY}),
    rules=Rules(commit=_unchecked, stores=jsonable),
)

open_run = FAULT.open_run
