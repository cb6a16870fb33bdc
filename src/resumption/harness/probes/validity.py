"""Writes that break the state schema: as the last thing a program does, and amid it."""

from __future__ import annotations

from resumption.contract.properties import Property
from resumption.harness.lab import Lab
from resumption.harness.probes.probe import Probe, probe
from resumption.harness.probes.workloads import corrupting
from resumption.history.workload import WriteFault
from resumption.planes.interface import Capability

__all__ = ["PROBES"]


def _corrupt_and_look(fault: WriteFault, *, terminal: bool) -> Probe:
    place = "terminal" if terminal else "middle"

    @probe(
        f"validity/{place}/{fault.value}",
        expectation="the write is refused with an error, and the state that is read back is valid",
        source="arXiv 2608.03836, property CV; LangGraph #6491",
        decides=(Property.CHECKPOINT_VALIDITY,),
        needs=(Capability.SCHEMA,),
    )
    def corrupt(lab: Lab) -> None:
        """Run a task whose write breaks the state schema; read the state back, in a new process where state outlives
        one; ask for a recovery there, and read the state once more: what was stored may escape late, or stop the run
        for good."""
        with lab.trial(corrupting(fault, terminal=terminal)) as trial:
            first = trial.process()
            first.start()
            second = trial.successor(first)
            second.inspect()
            if lab.has(Capability.RECOVERY):
                second.recover()
                second.inspect()

    return corrupt


PROBES = tuple(_corrupt_and_look(fault, terminal=terminal) for terminal in (True, False) for fault in WriteFault)
