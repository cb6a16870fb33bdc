"""Recovery determinism inside one process, where the store dies with it: an exception ends the run in place of SIGKILL.

The process copies its store, and recovers the copies one after the other, each as a run of its own.
"""

from __future__ import annotations

from dataclasses import replace

from resumption.contract.judges.branches import COPIES, ORDERS
from resumption.contract.properties import Property
from resumption.harness.kill_points import kill_points, reorderings
from resumption.harness.lab import Lab
from resumption.harness.probes.probe import probe
from resumption.harness.probes.workloads import SEQUENCE
from resumption.harness.process import Died, Process
from resumption.harness.trials import Trial
from resumption.history.events import Crash
from resumption.planes.interface import Capability, Operation, Parked
from resumption.worker.faults import Fault, Mode
from resumption.worker.points import is_effect_after

__all__ = ["PROBES"]

_NEEDS = (Capability.COPY_INSIDE, Capability.RECOVERY, Capability.GATE)


def _recover_copy(trial: Trial, process: Process, branch: str) -> None:
    trial.reopen_at(process, trial.copy_inside(process, branch))
    process.branch = branch
    process.recover()


def _has_failed(trial: Trial, process: Process) -> bool:
    """Whether a process has come to its fault: where nothing follows, a run ends or parks all the same."""
    return any(crash.process == process.number for crash in trial.so_far().of(Crash))


@probe(
    "inside/identical-logs",
    expectation="both recoveries skip and execute the same tasks",
    source="arXiv 2608.03836, property RD",
    decides=(Property.RECOVERY_DETERMINISM,),
    operation=Operation.RECOVER,
    needs=_NEEDS,
)
def identical_logs(lab: Lab) -> None:
    """Raise in the program after each effect, copy the store twice within the process, and recover each copy there."""
    for fault in kill_points(lab.trace(SEQUENCE)):
        if is_effect_after(fault.point):
            with lab.trial(SEQUENCE) as trial:
                process = trial.process(Fault(fault.point, Mode.RAISE, fault.occurrence))
                trial.complete(process, process.start())
                crashed = process.store
                for branch in COPIES:
                    trial.reopen_at(process, crashed)
                    _recover_copy(trial, process, branch)


@probe(
    "inside/unordered-pair",
    expectation="recoveries skip and execute the same tasks, whichever of two unordered writes was durable first",
    source="arXiv 2608.03836, property RD; LangGraph #8039",
    decides=(Property.RECOVERY_DETERMINISM,),
    operation=Operation.RECOVER,
    needs=_NEEDS,
)
def unordered_pair(lab: Lab) -> None:
    """Take two neighbouring storage operations; in one run hold the second back until the first is durable, in another
    the first until the second is; have each run fail once both are durable, and recover a copy of its store within its
    process. Pairs that the plane orders are passed by. Forms of recovery other than the primary one are left out where
    time is short."""
    if lab.thorough or lab.form_is_primary:
        for orders in reorderings(lab.trace(SEQUENCE)):
            with lab.trial(SEQUENCE) as trial:
                for branch, fault in zip(ORDERS, orders, strict=True):
                    process = trial.process(
                        replace(fault, mode=Mode.REORDER_AND_RAISE), store=trial.new_store(f"{branch}-log")
                    )
                    process.branch = branch
                    outcome = process.start()
                    if isinstance(outcome, Parked) and not _has_failed(trial, process):
                        outcome = process.answer("yes", target=outcome.pending[0].name)
                    if not isinstance(outcome, Died):  # else it waits for an order that the plane doesn't make
                        _recover_copy(trial, process, branch)


PROBES = (identical_logs, unordered_pair)
