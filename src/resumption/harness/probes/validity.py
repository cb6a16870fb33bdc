"""State that breaks its schema: written by a task, as the last one or amid others; or altered from outside."""

from __future__ import annotations

from resumption.contract.properties import Property
from resumption.harness.lab import Lab
from resumption.harness.probes.probe import Probe, probe
from resumption.harness.probes.workloads import SEQUENCE, corrupting
from resumption.history.workload import WriteFault
from resumption.planes.interface import Capability, Operation

__all__ = ["PROBES"]


def _corrupt_and_look(fault: WriteFault, *, terminal: bool) -> Probe:
    place = "terminal" if terminal else "middle"

    @probe(
        f"validity/{place}/{fault.value}",
        expectation="the write is refused with an error, and the state that is read back is valid",
        source="arXiv 2608.03836, property CV; LangGraph #6491",
        decides=(Property.CHECKPOINT_VALIDITY,),
        needs=(Capability.SCHEMA, Capability.OWN_WRITES),
    )
    def corrupt(lab: Lab) -> None:
        """Run a task whose write breaks the state schema; read the state back, in a new process where state outlives
        one; ask for a recovery there, and read the state once more: what was stored may escape late, or stop the run
        for good. Where an API lists past states, note what it still gives."""
        with lab.trial(corrupting(fault, terminal=terminal)) as trial:
            first = trial.process()
            first.start()
            second = trial.successor(first)
            second.inspect()
            if lab.has(Capability.RECOVERY):
                second.recover()
                second.inspect()
            if lab.spec.past_states:
                second.note_past_states()

    return corrupt


_LOADS = (Capability.SCHEMA, Capability.TAMPER, Capability.PROCESS_DEATH)
_REFUSED = "what loads the altered state raises an error, before any effect fires and without showing it"


@probe(
    "validity/tampered/parked",
    expectation=_REFUSED,
    source="arXiv 2608.03836, property CV where the caller writes",
    decides=(Property.LOAD_VALIDITY,),
    operation=Operation.DELIVER,
    needs=(Capability.GATE, *_LOADS),
)
def tampered_parked(lab: Lab) -> None:
    """Park, have a process that runs nothing make the durable trail a number, and read the run and deliver the decision
    in a new process."""
    with lab.trial(SEQUENCE) as trial:
        first = trial.process()
        first.start()
        where = first.address()
        first.close()
        trial.tamper()
        second = trial.process()
        second.inspect()
        second.answer("yes", target="approve", at=where)


@probe(
    "validity/tampered/complete",
    expectation=_REFUSED,
    source="arXiv 2608.03836, property CV where the caller writes",
    decides=(Property.LOAD_VALIDITY,),
    needs=_LOADS,
)
def tampered_complete(lab: Lab) -> None:
    """Let a run end, have a process that runs nothing make the durable trail a number, and read the run in a new
    process."""
    with lab.trial(SEQUENCE) as trial:
        first = trial.process()
        trial.complete(first, first.start())
        first.close()
        trial.tamper()
        trial.process().inspect()


PROBES = (
    *(_corrupt_and_look(fault, terminal=terminal) for terminal in (True, False) for fault in WriteFault),
    tampered_parked,
    tampered_complete,
)
