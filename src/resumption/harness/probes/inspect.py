"""Reading a run back: that looking changes nothing, and that what is read is what was there."""

from __future__ import annotations

from resumption.contract.properties import Property
from resumption.harness.lab import Lab
from resumption.harness.probes.probe import probe
from resumption.harness.probes.workloads import SEQUENCE, WIDE_FAN_OUT
from resumption.harness.process import Process
from resumption.harness.trials import Trial
from resumption.planes.interface import Capability

__all__ = ["PROBES"]

_LOOKS = 3


def _look(trial: Trial, process: Process) -> Process:
    """Inspect the run several times in a process that comes after this one, between two digests of what is stored."""
    other = trial.successor(process)
    trial.note_content()
    for _ in range(_LOOKS):
        other.inspect()
    trial.note_content()
    return other


@probe(
    "inspect/inert",
    expectation="inspections run nothing, fire nothing, store nothing, and show the same each time",
    source="user obligation, beyond the paper",
    decides=(Property.READ_INERTNESS,),
    needs=(Capability.GATE,),
)
def inert(lab: Lab) -> None:
    """Inspect a run several times while it is parked, let it end, and inspect it several times more."""
    with lab.trial(SEQUENCE) as trial:
        first = trial.process()
        first.start()
        second = _look(trial, first)
        trial.complete(second, second.answer("yes", target="approve"))
        _look(trial, second)


@probe(
    "inspect/reload",
    expectation="another process reads back what the running process saw",
    source="user obligation, beyond the paper; LangGraph #8382, #8821",
    decides=(Property.RELOAD_EQUALS_LIVE,),
    needs=(Capability.GATE, Capability.PROCESS_DEATH),
)
def reload(lab: Lab) -> None:
    """Read the state in a new process while the run is parked, let it end, and read it in another one."""
    with lab.trial(SEQUENCE) as trial:
        first = trial.process()
        first.start()
        second = trial.successor(first)
        second.inspect()
        trial.complete(second, second.answer("yes", target="approve"))
        trial.successor(second).inspect()


@probe(
    "inspect/reload-fan-out",
    expectation="another process reads back what the running process saw, in the same order",
    source="LangGraph #8382, #8821",
    decides=(Property.RELOAD_EQUALS_LIVE,),
    needs=(Capability.FAN_OUT, Capability.PROCESS_DEATH),
)
def reload_fan_out(lab: Lab) -> None:
    """Let tasks that run at once end, and read the state in a new process: what they wrote has one order."""
    with lab.trial(WIDE_FAN_OUT) as trial:
        first = trial.process()
        first.start()
        trial.successor(first).inspect()


PROBES = (inert, reload, reload_fan_out)
