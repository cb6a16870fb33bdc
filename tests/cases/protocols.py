"""Public cases whose protocol no probe of the suite runs: each is a probe of its own, named by its issue."""

from __future__ import annotations

from resumption.contract.properties import Property
from resumption.harness.lab import Lab
from resumption.harness.probes.probe import probe
from resumption.harness.probes.workloads import SEQUENCE
from resumption.history.workload import Effect, Interrupt, Task, Workload
from resumption.planes.interface import Operation
from resumption.worker.faults import Fault, Mode

EFFECTS_BETWEEN_QUESTIONS = Workload(
    (Task("approve", (Effect("notify"), Interrupt("first"), Effect("hold"), Interrupt("second"), Effect("charge"))),)
)


@probe(
    "interrupt/effects-between-questions",
    expectation="each effect fires once",
    source="LangGraph #6208",
    decides=(Property.EFFECT_EXACTLY_ONCE,),
    operation=Operation.DELIVER,
)
def effects_between_questions(lab: Lab) -> None:
    """Answer both questions of a task that has an effect in front of each."""
    with lab.trial(EFFECTS_BETWEEN_QUESTIONS) as trial:
        process = trial.process()
        process.start()
        for question in ("first", "second"):
            process.answer(f"answer to {question}", target=question)


@probe(
    "case/nothing-durable",
    expectation="a run of which nothing was durable is told from one that can go on",
    source="LangGraph #8764",
    decides=(Property.LIVENESS, Property.EFFECT_EXACTLY_ONCE),
    operation=Operation.RECOVER,
)
def nothing_durable(lab: Lab) -> None:
    """Kill the process before its first checkpoint, and recover."""
    with lab.trial(SEQUENCE) as trial:
        trial.process(Fault(mode=Mode.FREEZE, durable=0)).start()
        trial.process().recover()


CASES = (effects_between_questions, nothing_durable)
