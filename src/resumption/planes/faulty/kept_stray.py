"""A stray decision is refused, and kept: the gate of the thread's next run takes it without asking.

It is kept in a file beside the log.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from resumption.contract.properties import Property
from resumption.history.events import Intent, Json
from resumption.history.workload import Workload
from resumption.planes.faulty.fault import Fault
from resumption.planes.interface import Call, Completed, Decision, Failed, Handle, Instruments, Outcome, Run, Store
from resumption.planes.reference.adapter import ReferenceRun
from resumption.planes.reference.program import Program
from resumption.planes.reference.rules import Rules
from resumption.planes.reference.tampering import lose_leases, tamper

__all__ = ["FAULT", "lose_leases", "open_run", "tamper"]

FAULT = Fault(
    name="kept-stray",
    module=__name__,
    footprint=frozenset({Property.CONSUME_ONCE_COUNT}),
    rules=Rules(),
)


@dataclass(frozen=True, slots=True)
class _Keeping(ReferenceRun):
    """A run whose thread remembers the decisions that it refused."""

    def deliver(self, decision: Decision) -> Handle:
        """Hand a decision over, and keep it if it is a stray that is refused."""
        return Call(lambda: self._keep(decision))

    def start(self, value: Json) -> Handle:
        """Start the run; a second one is served what was kept."""
        if not self._kept.exists():
            return ReferenceRun.start(self, value)
        return Call(self._run_with_what_was_kept)

    def _keep(self, decision: Decision) -> Outcome:
        outcome = ReferenceRun.deliver(self, decision).wait()
        if isinstance(outcome, Failed) and decision.intent is Intent.STRAY:
            self._kept.write_text(json.dumps([decision.target, decision.value]))
        return outcome

    def _run_with_what_was_kept(self) -> Outcome:
        target, value = json.loads(self._kept.read_text())
        gate = Program(self.workload).gate(target)
        if gate is not None:
            self.instruments.consume(gate.name, target, value)
        return Completed(self.inspect().trail)

    @property
    def _kept(self) -> Path:
        return self.store.location / "stray.json"


def open_run(workload: Workload, store: Store, instruments: Instruments) -> Run:
    """Open a run with this fault."""
    return _Keeping(workload, store, instruments, FAULT.rules)
