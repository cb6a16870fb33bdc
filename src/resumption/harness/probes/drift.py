"""Programs that change under a parked run, as every deployment changes them."""

from __future__ import annotations

from resumption.contract.properties import Property
from resumption.harness.lab import Lab
from resumption.harness.probes.probe import Probe, probe
from resumption.harness.probes.workloads import SEQUENCE
from resumption.history.workload import Effect, Task, Workload
from resumption.planes.interface import Capability, Operation

__all__ = ["PROBES"]

_A, _APPROVE, _B, _C = SEQUENCE.tasks
_ADDED = Task("added", (Effect("added"),))


def _drift(name: str, what: str, changed: Workload) -> Probe:
    @probe(
        f"drift/{name}",
        expectation="the resume is refused with an error, or every task of the changed program has run at the end",
        source="haystack #12672",
        decides=(Property.TOPOLOGY_DRIFT,),
        operation=Operation.DELIVER,
        needs=(Capability.GATE,),
        description=f"Park at a gate; {what}; and deliver the decision to the changed program.",
    )
    def drift(lab: Lab) -> None:
        with lab.trial(SEQUENCE) as trial:
            first = trial.process()
            first.start()
            where = first.address()
            second = trial.successor(first, workload=changed)
            trial.complete(second, second.answer("yes", target="approve", at=where))

    return drift


PROBES = (
    _drift("task-before", "add a task in front of the gate", Workload((_A, _ADDED, _APPROVE, _B, _C))),
    _drift("task-after", "add a task behind the gate", Workload((_A, _APPROVE, _ADDED, _B, _C))),
    _drift("gate-removed", "remove the gate", Workload((_A, _B, _C))),
    _drift(
        "gate-renamed",
        "give the gate's task another name",
        Workload((_A, Task("consent", _APPROVE.steps), _B, _C)),
    ),
    _drift(
        "task-renamed",
        "give the task behind the gate another name",
        Workload((_A, _APPROVE, Task("renamed", _B.steps), _C)),
    ),
)
