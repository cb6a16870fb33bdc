"""Crashes: SIGKILL at every point that a program passes, exceptions at every effect, death while parked."""

from __future__ import annotations

from resumption.contract.judges.branches import COPIES, ORDERS
from resumption.contract.properties import Property
from resumption.harness.kill_points import (
    frozen_prefixes,
    kill_points,
    likely_pins,
    partly_recorded,
    pinned_points,
    reorderings,
    sample,
    withheld,
)
from resumption.harness.lab import Lab
from resumption.harness.probes.probe import probe
from resumption.harness.probes.workloads import FAN_OUT, SEQUENCE
from resumption.harness.process import Died
from resumption.history.workload import Workload
from resumption.planes.interface import Capability, Failed, Operation
from resumption.worker.faults import Fault, Mode
from resumption.worker.points import effect_after, is_after, is_effect_after, is_task_start

__all__ = ["PROBES"]

_CRASH_PROPERTIES = (
    Property.EFFECT_EXACTLY_ONCE,
    Property.PREFIX_CONTINUATION,
    Property.CONSUME_ONCE_EFFECTS,
    Property.LIVENESS,
    Property.NO_LOST_WORK,
)

_DEATH_AND_RECOVERY = (Capability.PROCESS_DEATH, Capability.RECOVERY, Capability.GATE)

_SAMPLE = 5  # frozen prefixes, where not all are tried


def _crash_and_recover(lab: Lab, fault: Fault, workload: Workload = SEQUENCE) -> None:
    """One trial: let a run fail, recover it, where the process died in a new one, and let it end."""
    with lab.trial(workload) as trial:
        alive, outcome = trial.run_into(fault)
        if isinstance(outcome, Died | Failed):
            second = alive or trial.process()
            trial.complete(second, second.recover())


@probe(
    "crash/every-point",
    expectation="each effect fires once on the branch, and the run ends with every task done",
    source="arXiv 2608.03836, probes of EO and PC; LangGraph #8039, #8764",
    decides=_CRASH_PROPERTIES,
    operation=Operation.RECOVER,
    needs=_DEATH_AND_RECOVERY,
)
def every_point(lab: Lab) -> None:
    """Kill the process at every point that the fault-free run passes, recover in a new process, answer what is
    pending, and let the run end. Forms of recovery other than the primary one are tried behind each effect and each
    storage operation."""
    for fault in kill_points(lab.trace(SEQUENCE)):
        if lab.form_is_primary or is_after(fault.point):
            _crash_and_recover(lab, fault)


@probe(
    "crash/exception",
    expectation="each recorded effect fires once, and the run ends with every task done",
    source="arXiv 2608.03836, probes of EO in exception mode",
    decides=_CRASH_PROPERTIES,
    operation=Operation.RECOVER,
    needs=(Capability.RECOVERY, Capability.GATE),
)
def exception(lab: Lab) -> None:
    """Raise in the program after each of its effects and at the start of each of its tasks, and recover."""
    for fault in kill_points(lab.trace(SEQUENCE)):
        if is_task_start(fault.point) or is_effect_after(fault.point):
            _crash_and_recover(lab, Fault(fault.point, Mode.RAISE, fault.occurrence))


@probe(
    "crash/parked",
    expectation="the pending interrupt survives, and its answer brings the run to its end",
    source="arXiv 2608.03836, run R9 (parked crash)",
    decides=(Property.LIVENESS, Property.EFFECT_EXACTLY_ONCE),
    operation=Operation.DELIVER,
    needs=(Capability.PROCESS_DEATH, Capability.GATE),
)
def parked(lab: Lab) -> None:
    """Kill the process while the run is parked, and deliver the decision from a new process."""
    with lab.trial(SEQUENCE) as trial:
        first = trial.process()
        first.start()
        first.kill()
        second = trial.process()
        trial.complete(second, second.answer("yes", target="approve"))


@probe(
    "crash/identical-logs",
    expectation="both recoveries skip and execute the same tasks",
    source="arXiv 2608.03836, property RD",
    decides=(Property.RECOVERY_DETERMINISM,),
    operation=Operation.RECOVER,
    needs=_DEATH_AND_RECOVERY,
)
def identical_logs(lab: Lab) -> None:
    """Kill the process after each effect, copy the store twice, byte for byte, and recover each copy."""
    for fault in kill_points(lab.trace(SEQUENCE)):
        if is_effect_after(fault.point):
            with lab.trial(SEQUENCE) as trial:
                trial.run_into(fault)
                for branch in COPIES:
                    other = trial.process(store=trial.copy_store(branch))
                    other.branch = branch
                    other.recover()


@probe(
    "crash/frozen-prefix",
    expectation="each recorded effect fires once, and the run ends with every task done",
    source="arXiv 2608.03836, probes of EO and PC; LangGraph #8764",
    decides=_CRASH_PROPERTIES,
    operation=Operation.RECOVER,
    needs=_DEATH_AND_RECOVERY,
)
def frozen_prefix(lab: Lab) -> None:
    """Let exactly k storage operations become durable and hold later ones back while the run goes on, kill the process
    once it is at rest, recover in a new process, answer what is pending, and let the run end; for each k and form of
    recovery, or, where time is short, for some k and the primary form."""
    if lab.thorough or lab.form_is_primary:
        prefixes = frozen_prefixes(lab.trace(SEQUENCE))
        for fault in prefixes if lab.thorough else sample(prefixes, _SAMPLE):
            _crash_and_recover(lab, fault)


@probe(
    "crash/pinned",
    expectation="each recorded effect fires once, and the run ends with every task done",
    source="arXiv 2608.03836, probes of EO and PC; LangGraph #8039",
    decides=_CRASH_PROPERTIES,
    operation=Operation.RECOVER,
    needs=_DEATH_AND_RECOVERY,
)
def pinned(lab: Lab) -> None:
    """Kill the process where exactly k storage operations are durable and an effect's point is reached, recover in a
    new process, answer what is pending, and let the run end; for each pair that can be had and each form of recovery,
    or, where time is short, for the pairs next to the fault-free run and the primary form."""
    if lab.thorough or lab.form_is_primary:
        trace = lab.trace(SEQUENCE)
        for fault in pinned_points(trace) if lab.thorough else likely_pins(trace):
            _crash_and_recover(lab, fault)


@probe(
    "crash/unordered-pair",
    expectation="recoveries skip and execute the same tasks, whichever of two unordered writes was durable first",
    source="arXiv 2608.03836, property RD; LangGraph #8039",
    decides=(Property.RECOVERY_DETERMINISM,),
    operation=Operation.RECOVER,
    needs=_DEATH_AND_RECOVERY,
)
def unordered_pair(lab: Lab) -> None:
    """Take two neighbouring storage operations; in one run hold the second back until the first is durable, in another
    the first until the second is; kill each run once both are durable, and recover it. Pairs that the plane orders are
    passed by. Forms of recovery other than the primary one are left out where time is short."""
    if lab.thorough or lab.form_is_primary:
        for orders in reorderings(lab.trace(SEQUENCE)):
            with lab.trial(SEQUENCE) as trial:
                for branch, fault in zip(ORDERS, orders, strict=True):
                    store = trial.new_store(branch)
                    first = trial.process(fault, store=store)
                    first.branch = branch
                    trial.complete(first, first.start())
                    second = trial.process(store=store)
                    second.branch = branch
                    second.recover()


@probe(
    "crash/write-order",
    expectation="a task's record is durable before the next task starts, and after all that it builds on",
    source="LangGraph #8039",
    decides=(Property.EFFECT_EXACTLY_ONCE, Property.LIVENESS, Property.NO_LOST_WORK),
    operation=Operation.RECOVER,
    needs=_DEATH_AND_RECOVERY,
)
def write_order(lab: Lab) -> None:
    """Withhold one storage operation from a store that is slow but lawful, and kill the process where something builds
    on it: at the start of the next task, or once the next task is on record; recover, and let the run end. Moments that
    the plane doesn't have are passed by. For comparison, each task's start is a kill point without anything withheld.
    Forms of recovery other than the primary one are left out where time is short."""
    if lab.thorough or lab.form_is_primary:
        trace = lab.trace(SEQUENCE)
        starts = [fault for fault in kill_points(trace) if is_task_start(fault.point)]
        for fault in (*starts, *withheld(trace)):
            _crash_and_recover(lab, fault)


@probe(
    "crash/fan-out-sibling",
    expectation="a task that was on record when its sibling crashed doesn't fire its effect again",
    source="arXiv 2608.03836, property EO; README of langgraph-checkpoint, on pending writes",
    decides=(Property.EFFECT_EXACTLY_ONCE, Property.PREFIX_CONTINUATION, Property.LIVENESS),
    operation=Operation.RECOVER,
    needs=(Capability.PROCESS_DEATH, Capability.RECOVERY, Capability.FAN_OUT),
)
def fan_out_sibling(lab: Lab) -> None:
    """Run three tasks at once, let one of them, and then two, come on record while all have fired, kill the process
    once it is at rest, recover, and let the run end."""
    for fault in partly_recorded(lab.trace(FAN_OUT)):
        _crash_and_recover(lab, fault, FAN_OUT)


@probe(
    "crash/spawned",
    expectation="as crash/every-point: whether a process is a fork makes no difference",
    source="the harness's own cross-check",
    decides=_CRASH_PROPERTIES,
    operation=Operation.RECOVER,
    needs=_DEATH_AND_RECOVERY,
)
def spawned(lab: Lab) -> None:
    """Kill the process right behind the effect of the task behind the gate, recover in a new process, and let the run
    end; with processes that are fresh interpreters. Forms of recovery other than the primary one are left out."""
    if lab.form_is_primary:
        with lab.trial(SEQUENCE) as trial:
            first = trial.process(Fault(effect_after("b")), spawned=True)
            if isinstance(trial.complete(first, first.start()), Died):
                second = trial.process(spawned=True)
                trial.complete(second, second.recover())


PROBES = (
    every_point,
    spawned,
    exception,
    frozen_prefix,
    pinned,
    parked,
    identical_logs,
    unordered_pair,
    write_order,
    fan_out_sibling,
)
