"""Effects across an interrupt: what fired before the run parked must not fire again when it goes on."""

from __future__ import annotations

from resumption.contract.properties import Property
from resumption.harness.lab import Lab
from resumption.harness.probes.probe import probe
from resumption.harness.probes.workloads import EFFECT_BEFORE_INTERRUPT, PARALLEL_GATES, SEQUENCE
from resumption.history.workload import Workload
from resumption.planes.interface import Capability, Operation

__all__ = ["PROBES"]

_PROPERTIES = (Property.EFFECT_EXACTLY_ONCE, Property.PREFIX_CONTINUATION, Property.LIVENESS)


def _park_and_answer(lab: Lab, workload: Workload, *, effect_service: bool = False) -> None:
    with lab.trial(workload, effect_service=effect_service) as trial:
        first = trial.process()
        first.start()
        second = trial.successor(first)
        trial.complete(second, second.answer("yes", target="approve"))


@probe(
    "interrupt/task-before",
    expectation="the task before the gate fires its effect once",
    source="arXiv 2608.03836, property EO; LangGraph #7361, #6792",
    decides=_PROPERTIES,
    operation=Operation.DELIVER,
    needs=(Capability.GATE,),
)
def task_before(lab: Lab) -> None:
    """Park at a gate behind a task with an effect, and deliver the decision from another process where there can be
    one."""
    _park_and_answer(lab, SEQUENCE)


@probe(
    "interrupt/code-before",
    expectation="the gate's own code before its interrupt fires its effect once",
    source="LangGraph #6208",
    decides=(Property.EFFECT_EXACTLY_ONCE, Property.PREFIX_CONTINUATION),
    operation=Operation.DELIVER,
    needs=(Capability.GATE,),
)
def code_before(lab: Lab) -> None:
    """Park in a gate that fired an effect before it asked, and deliver the decision."""
    _park_and_answer(lab, EFFECT_BEFORE_INTERRUPT)


@probe(
    "interrupt/effect-service",
    expectation="as interrupt/task-before: where an effect is served makes no difference",
    source="the oracle's own cross-check",
    decides=_PROPERTIES,
    needs=(Capability.GATE,),
)
def effect_service(lab: Lab) -> None:
    """As interrupt/task-before, with the effects fired through a service in a process of its own."""
    _park_and_answer(lab, SEQUENCE, effect_service=True)


@probe(
    "interrupt/parallel-partial-map",
    expectation="each gate receives its own decision once, and each effect fires once",
    source="LangGraph's documentation, handling multiple interrupts",
    decides=(Property.EFFECT_EXACTLY_ONCE, Property.CONSUME_ONCE_COUNT, Property.LIVENESS),
    operation=Operation.DELIVER,
    needs=(Capability.GATE, Capability.FAN_OUT, Capability.PARALLEL_GATES),
)
def parallel_partial_map(lab: Lab) -> None:
    """Park at two gates at once and, by their identities, answer the second first, and the other from another process
    where there can be one. Forms that name no interrupt are passed by."""
    if lab.names_interrupt:
        with lab.trial(PARALLEL_GATES) as trial:
            first = trial.process()
            first.start()
            first.answer("no", target="right")
            second = trial.successor(first)
            second.answer("yes", target="left")


@probe(
    "interrupt/parallel-complete-map",
    expectation="each gate receives its own decision once, and each effect fires once",
    source="LangGraph's documentation, handling multiple interrupts",
    decides=(Property.EFFECT_EXACTLY_ONCE, Property.CONSUME_ONCE_COUNT, Property.LIVENESS),
    operation=Operation.DELIVER,
    needs=(Capability.GATE, Capability.FAN_OUT, Capability.PARALLEL_GATES, Capability.SEVERAL_ANSWERS),
)
def parallel_complete_map(lab: Lab) -> None:
    """Park at two gates at once and, by their identities, answer both in one delivery, from another process where there
    can be one. Forms that name no interrupt are passed by."""
    if lab.names_interrupt:
        with lab.trial(PARALLEL_GATES) as trial:
            first = trial.process()
            first.start()
            second = trial.successor(first)
            second.answer("yes", target="left", answers={"right": "no"})


PROBES = (task_before, code_before, effect_service, parallel_partial_map, parallel_complete_map)
