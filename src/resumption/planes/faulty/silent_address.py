"""A decision that can't be served is dropped without a signal."""

from __future__ import annotations

from resumption.contract.properties import Property
from resumption.planes.faulty.fault import Fault
from resumption.planes.reference.rules import Refusal, Rules

__all__ = ["FAULT", "open_run"]


def _say_nothing(refusal: Refusal) -> None:
    pass


FAULT = Fault(
    name="silent-address",
    module=__name__,
    footprint=frozenset({Property.LOUD_ADDRESSING}),
    rules=Rules(refuse=_say_nothing),
)

open_run = FAULT.open_run
