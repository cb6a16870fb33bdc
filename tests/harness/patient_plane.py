"""The reference plane, on which deliveries take turns: a second one waits until the run that is live has ended."""

from __future__ import annotations

import fcntl
from dataclasses import dataclass

from resumption.history.workload import Workload
from resumption.planes.interface import Call, Decision, Handle, Instruments, Outcome, Run, Store
from resumption.planes.reference.adapter import ReferenceRun
from resumption.planes.reference.rules import REFERENCE
from resumption.planes.reference.tampering import tamper

__all__ = ["open_run", "tamper"]


@dataclass(frozen=True, slots=True)
class _PatientRun(ReferenceRun):
    def deliver(self, decision: Decision) -> Handle:
        def deliver() -> Outcome:
            with (self.store.location / "turn").open("w") as turn:
                fcntl.flock(turn, fcntl.LOCK_EX)
                return ReferenceRun.deliver(self, decision).wait()

        return Call(deliver)


def open_run(workload: Workload, store: Store, instruments: Instruments) -> Run:
    return _PatientRun(workload, store, instruments, REFERENCE)
