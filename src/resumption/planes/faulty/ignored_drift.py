"""A run that is opened with another program than its own reads as finished, wherever it was parked.

What it was opened with first stands in a file beside the log.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from resumption.contract.properties import Property
from resumption.history.ndjson import decode_workload, encode_workload
from resumption.history.workload import Workload
from resumption.planes.faulty.fault import Fault
from resumption.planes.interface import Call, Completed, Decision, Handle, Instruments, Run, Store
from resumption.planes.reference.adapter import ReferenceRun
from resumption.planes.reference.rules import Rules
from resumption.planes.reference.tampering import lose_leases, tamper

__all__ = ["FAULT", "lose_leases", "open_run", "tamper"]


FAULT = Fault(
    name="ignored-drift",
    module=__name__,
    footprint=frozenset({Property.TOPOLOGY_DRIFT}),
    rules=Rules(),
)


@dataclass(frozen=True, slots=True)
class _Abandoned(ReferenceRun):
    """A run whose parked task is nowhere in the program that it was opened with."""

    def deliver(self, decision: Decision) -> Handle:
        """Find nothing to run, and report that as the run's end."""
        return Call(lambda: Completed(self.inspect().trail))


def open_run(workload: Workload, store: Store, instruments: Instruments) -> Run:
    """Open a run, and take it for finished if its program changed."""
    first = store.location / "program.json"
    if not first.exists():
        first.write_text(json.dumps(encode_workload(workload)))
    program = decode_workload(json.loads(first.read_text()))
    if program == workload:
        return FAULT.open_run(workload, store, instruments)
    return _Abandoned(program, store, instruments, FAULT.rules)
