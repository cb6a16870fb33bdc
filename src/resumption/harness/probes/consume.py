"""Second decisions: strays, repeated deliveries, one answer for two interrupts, and races."""

from __future__ import annotations

from resumption.contract.properties import Property
from resumption.harness.lab import Lab
from resumption.harness.probes.probe import Probe, probe
from resumption.harness.probes.workloads import SEQUENCE, SLOW_GATE, TWO_INTERRUPTS
from resumption.harness.process import Process
from resumption.history.events import Consume, Intent
from resumption.planes.interface import Capability, Operation
from resumption.worker.faults import Fault, Mode
from resumption.worker.points import consumed, effect_after

__all__ = ["PROBES"]

_CONSUME_ONCE = (Property.CONSUME_ONCE_COUNT, Property.CONSUME_ONCE_EFFECTS)
_REPETITIONS = 3


@probe(
    "consume/stray-after-completion",
    expectation="the second decision fires nothing, and is refused with an error",
    source="arXiv 2608.03836, property CO",
    decides=(*_CONSUME_ONCE, Property.EFFECT_EXACTLY_ONCE, Property.LOUD_ADDRESSING),
    operation=Operation.DELIVER,
    needs=(Capability.GATE,),
)
def stray_after_completion(lab: Lab) -> None:
    """Let the run end, and deliver another decision, without fork intent, to the interrupt that was consumed."""
    with lab.trial(SEQUENCE) as trial:
        first = trial.process()
        first.start()
        where = first.address()
        trial.complete(first, first.answer("yes", target="approve", at=where))
        trial.successor(first).answer("no", target="approve", at=where, intent=Intent.STRAY)


@probe(
    "consume/identical-redelivery",
    expectation="the repeated delivery fires nothing",
    source="arXiv 2608.03836, property CO",
    decides=(*_CONSUME_ONCE, Property.EFFECT_EXACTLY_ONCE),
    operation=Operation.DELIVER,
    needs=(Capability.GATE,),
)
def identical_redelivery(lab: Lab) -> None:
    """Let the run end, and make the very same delivery once more, as a client does whose connection broke."""
    with lab.trial(SEQUENCE) as trial:
        first = trial.process()
        first.start()
        where = first.address()
        trial.complete(first, first.answer("yes", target="approve", at=where, delivery="first"))
        second = trial.successor(first)
        second.answer("yes", target="approve", at=where, intent=Intent.RETRY, delivery="first")


@probe(
    "consume/next-input",
    expectation="the next run of the thread asks for a decision of its own, or the thread takes no other run",
    source="LangGraph 1.0 to 1.2, functional API, measured here; arXiv 2608.03836, property CO",
    decides=(Property.CONSUME_ONCE_COUNT,),
    operation=Operation.DELIVER,
    needs=(Capability.GATE,),
)
def next_input(lab: Lab) -> None:
    """Let the run end, deliver another decision, without fork intent, to the interrupt that was consumed, and give the
    thread its next input: a stray that is inert at the run that it was sent to may approve the next one."""
    with lab.trial(SEQUENCE) as trial:
        first = trial.process()
        first.start()
        where = first.address()
        trial.complete(first, first.answer("yes", target="approve", at=where))
        second = trial.successor(first)
        second.answer("no", target="approve", at=where, intent=Intent.STRAY)
        second.start()


@probe(
    "consume/one-answer-two-interrupts",
    expectation="an answer is consumed by the interrupt that it was given for, and by no other",
    source="LangGraph #8837",
    decides=(Property.CONSUME_ONCE_COUNT,),
    needs=(Capability.GATE, Capability.GATE_SEQUENCE),
)
def one_answer_two_interrupts(lab: Lab) -> None:
    """Answer the first of a task's two interrupts; then, in one trial, ask for a recovery while the second is pending,
    and in another make the first delivery once more."""
    with lab.trial(TWO_INTERRUPTS) as trial:
        process = trial.process()
        process.start()
        process.answer("yes", target="first")
        process.recover()
    with lab.trial(TWO_INTERRUPTS) as trial:
        process = trial.process()
        process.start()
        where = process.address()
        process.answer("yes", target="first", at=where, delivery="first")
        process.answer("yes", target="first", at=where, intent=Intent.RETRY, delivery="first")


@probe(
    "consume/failure-between-interrupts",
    expectation="once the task runs again, its second interrupt consumes the decision that was delivered to it",
    source="LangGraph 1.0 to 1.2, measured here",
    decides=(*_CONSUME_ONCE, Property.EFFECT_EXACTLY_ONCE, Property.LIVENESS),
    operation=Operation.DELIVER,
    needs=(Capability.GATE, Capability.GATE_SEQUENCE, Capability.RECOVERY),
)
def failure_between_interrupts(lab: Lab) -> None:
    """Answer the first of a task's two interrupts, and then the second, but have the task raise when it receives the
    first decision once more, before it asks for the second. Ask for a recovery. Planes whose tasks go on at the second
    interrupt, and not from their first line, have no such moment."""
    with lab.trial(TWO_INTERRUPTS) as trial:
        process = trial.process()
        _answer_both(process)
        again = sum(consume.interrupt == "first" for consume in trial.so_far().of(Consume)) > 1
    if again:
        with lab.trial(TWO_INTERRUPTS) as trial:
            process = trial.process(Fault(consumed("first"), Mode.RAISE, occurrence=2))
            _answer_both(process)
            trial.complete(process, process.recover())


def _answer_both(process: Process) -> None:
    process.start()
    process.answer("yes", target="first")
    process.answer("no", target="second")


def _race(racers: int) -> Probe:
    @probe(
        f"consume/race-{racers}-processes",
        expectation="one decision is consumed, and the gate's effect fires once",
        source="arXiv 2608.03836, property CO, race experiments",
        decides=_CONSUME_ONCE,
        operation=Operation.DELIVER,
        needs=(Capability.GATE, Capability.PROCESS_DEATH, Capability.CONCURRENT_RUNS),
    )
    def race(lab: Lab) -> None:
        """Park, and deliver a different decision from each of several processes at the same time."""
        for _ in range(_REPETITIONS):
            with lab.trial(SLOW_GATE) as trial:
                first = trial.process()
                first.start()
                first.close()
                line = [trial.process() for _ in range(racers)]
                trial.race(line, [f"decision-{n}" for n in range(1, racers + 1)], target="approve")

    return race


@probe(
    "consume/contradiction-after-crash",
    expectation="the second decision is refused, and fires nothing",
    source="arXiv 2608.03836, property CO",
    decides=_CONSUME_ONCE,
    operation=Operation.DELIVER,
    needs=(Capability.GATE, Capability.PROCESS_DEATH),
)
def contradiction_after_crash(lab: Lab) -> None:
    """Kill the process that serves a decision right behind the gate's effect, and deliver another decision, without
    fork intent, from a new process."""
    with lab.trial(SEQUENCE) as trial:
        first = trial.process(Fault(effect_after("charge")))
        first.start()
        where = first.address()
        first.answer("yes", target="approve", at=where)
        trial.process().answer("no", target="approve", at=where, intent=Intent.STRAY)


_LIVE = "the second decision fires nothing, and the interrupt consumes the first alone"


@probe(
    "consume/while-live",
    expectation=_LIVE,
    source="arXiv 2608.03836, property CO",
    decides=_CONSUME_ONCE,
    operation=Operation.DELIVER,
    needs=(Capability.GATE, Capability.LIVE_DELIVERY),
)
def while_live(lab: Lab) -> None:
    """Deliver a decision and, when the task behind the gate starts, another one from a second thread of the process.
    The run goes on once the second was taken or refused, or waits for the run."""
    with lab.trial(SEQUENCE) as trial:
        process = trial.process()
        process.start()
        where = process.address()
        process.answer_twice("yes", "no", target="approve", at=where, during="b")


@probe(
    "consume/while-live-elsewhere",
    expectation=_LIVE,
    source="arXiv 2608.03836, property CO",
    decides=_CONSUME_ONCE,
    operation=Operation.DELIVER,
    needs=(Capability.GATE, Capability.PROCESS_DEATH, Capability.CONCURRENT_RUNS),
)
def while_live_elsewhere(lab: Lab) -> None:
    """As consume/while-live, with the second decision from another process."""
    with lab.trial(SEQUENCE) as trial:
        process = trial.process()
        process.start()
        where = process.address()
        other = trial.process()
        if process.answer_and_pause("yes", target="approve", at=where, during="b"):
            other.answer_beside("no", target="approve", at=where, paused=process)


PROBES = (
    stray_after_completion,
    identical_redelivery,
    next_input,
    contradiction_after_crash,
    one_answer_two_interrupts,
    failure_between_interrupts,
    while_live,
    while_live_elsewhere,
    _race(2),
    _race(4),
)
