"""A decision that can't be served is dropped without a signal, and so is one that says nothing."""

from __future__ import annotations

from dataclasses import dataclass

from resumption.contract.properties import Property
from resumption.history.workload import Workload
from resumption.planes.faulty.fault import Fault
from resumption.planes.interface import Call, Decision, Handle, Instruments, Parked, Run, Store
from resumption.planes.reference.adapter import ReferenceRun
from resumption.planes.reference.rules import Refusal, Rules
from resumption.planes.reference.tampering import lose_leases, tamper

__all__ = ["FAULT", "lose_leases", "open_run", "tamper"]


def _say_nothing(refusal: Refusal) -> None:
    pass


FAULT = Fault(
    name="silent-address",
    module=__name__,
    footprint=frozenset({Property.LOUD_ADDRESSING}),
    rules=Rules(refuse=_say_nothing),
)


@dataclass(frozen=True, slots=True)
class _Deaf(ReferenceRun):
    """A run that doesn't hear an empty answer."""

    def deliver(self, decision: Decision) -> Handle:
        """Hand a decision over, unless there is nothing in it."""
        if decision.value:
            return ReferenceRun.deliver(self, decision)
        return Call(lambda: Parked(self.inspect().pending))


def open_run(workload: Workload, store: Store, instruments: Instruments) -> Run:
    """Open a run with this fault."""
    return _Deaf(workload, store, instruments, FAULT.rules)
