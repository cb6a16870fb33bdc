"""The protocols of a drill: what is done to the program, enumerated from a run of it without faults."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from resumption.harness.drill.driving import Answered, Driver, Stuck
from resumption.harness.drill.request import Request
from resumption.harness.drill.site import Ground
from resumption.harness.drill.twin import Twin
from resumption.harness.kill_points import kill_points
from resumption.harness.process import Died, Process
from resumption.history.events import EffectBegin, EffectEnd, Event, Intent, Json, Persist
from resumption.history.history import History
from resumption.planes.drill.spec import BARE, CHECKPOINT, MAP, NO_INPUT, REPLAY
from resumption.planes.interface import Completed, Failed, Form, Operation, Outcome, Parked, Snapshot
from resumption.worker.faults import Fault
from resumption.worker.points import is_persist_before, is_task_start

__all__ = ["Action", "Protocol", "Ran", "enumerate_protocols", "is_first_question", "run"]

_RACES = 2
"""Repetitions of a race: each is another chance to lose it."""


class Action(StrEnum):
    """What is done to the program."""

    CRASH = "crash"
    """A process is killed at a point, and the run is resumed in a new one."""
    HANDOVER = "handover"
    """Each answer comes to a new process, as after a deployment."""
    REDELIVER = "redeliver"
    """A decision that was served is delivered once more."""
    RACE = "race"
    """Two processes deliver one decision at the same time."""
    FORK = "fork"
    """After the end, another decision is given where one was given before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """One thing done to the program. `place` is that of an answer among those of the fault-free run."""

    action: Action
    form: Form
    fault: Fault | None = None
    place: int = -1
    gate: str = ""
    repetition: int = 1

    @property
    def name(self) -> str:
        """What tells it from the others of its drill."""
        what = self.at or "every-gate"
        again = f"~{self.repetition}" if self.repetition > 1 else ""
        return f"{self.action}/{what}/{self.form.name}{again}"

    @property
    def at(self) -> str:
        """Where it strikes: a kill point, or a gate, with its number where that comes more than once."""
        if self.fault is not None:
            return self.fault.point + (f"~{self.fault.occurrence}" if self.fault.occurrence > 1 else "")
        return f"{self.gate}@{self.place + 1}" if self.gate else ""


@dataclass(frozen=True, slots=True)
class Ran:
    """How a protocol went, beside its history."""

    stuck: Stuck | None = None
    problem: str = ""
    """Why it isn't the protocol that was meant; empty if it is."""
    before: Sequence[str] = ()
    """The identities of what was pending when a repeated delivery came."""
    after: Sequence[str] = ()
    """Those of what was pending when that ended."""


def enumerate_protocols(twin: Twin, request: Request, *, fork: Form) -> tuple[Protocol, ...]:
    """Every protocol for a program, in the order of its run; forks in the form given."""
    return (*_crashes(twin), *_at_gates(twin, request, fork))


def _crashes(twin: Twin) -> Iterator[Protocol]:
    for fault, number in _points(twin.history):
        place = twin.operation_at(number)
        forms = [NO_INPUT, CHECKPOINT]
        if place >= 0 and twin.answered[place].gate.identity:
            forms += _ways_to_answer(twin)
        for form in forms:
            yield Protocol(action=Action.CRASH, form=form, fault=fault, place=place)


def _ways_to_answer(twin: Twin) -> list[Form]:
    """The forms of answering: a run that waits at several gates at once takes no answer that doesn't name its gate."""
    return [MAP, BARE] if all(answered.pending == 1 for answered in twin.answered) else [MAP]


def _points(history: History) -> list[tuple[Fault, int]]:
    """The kill points around each effect and behind each storage operation, each with the number of its event."""
    numbers = [event.number for event in history.events if event.process == 1 and _is_point(event)]
    faults = [fault for fault in kill_points(history) if not is_task_start(fault.point)]
    points = zip(faults, numbers, strict=True)
    return [(fault, number) for fault, number in points if not is_persist_before(fault.point)]


def _is_point(event: Event) -> bool:
    return isinstance(event, EffectBegin | EffectEnd | Persist)


def _at_gates(twin: Twin, request: Request, fork: Form) -> Iterator[Protocol]:
    if twin.answered:
        yield Protocol(action=Action.HANDOVER, form=MAP)
    for place, answered in enumerate(twin.answered):
        if not answered.gate.identity:
            continue  # a breakpoint takes no answer
        gate = answered.gate.name
        for form in _ways_to_answer(twin):
            yield Protocol(action=Action.REDELIVER, form=form, place=place, gate=gate)
        for repetition in range(1, _RACES + 1):
            yield Protocol(action=Action.RACE, form=MAP, place=place, gate=gate, repetition=repetition)
        asked_again = fork != REPLAY or is_first_question(twin, place)
        if asked_again and request.decisions.other(answered.gate) is not None:
            yield Protocol(action=Action.FORK, form=fork, place=place, gate=gate)


def is_first_question(twin: Twin, place: int) -> bool:
    """Whether a gate is the first of its task. Where a task asks several times, all of its questions are pending at one
    checkpoint; a fork there asks the first of them again, so that a second answer for a later one has no address.
    """
    this = twin.answered[place]
    return all(
        (answered.gate.name, answered.where.checkpoint) != (this.gate.name, this.where.checkpoint)
        for answered in twin.answered[:place]
    )


# Running them ---------------------------------------------------------------------------------------------------------


def run(protocol: Protocol, ground: Ground, request: Request) -> Ran:
    """Run a protocol on a ground of its own."""
    return _RUNS[protocol.action](protocol, ground, Driver(request.decisions), request)


def _crash(protocol: Protocol, ground: Ground, driver: Driver, request: Request) -> Ran:
    first = ground.process(protocol.fault)
    outcome = first.start(request.input)
    while isinstance(outcome, Parked):
        outcome = driver.step(first, outcome)
    second = ground.process()
    interrupted = driver.answered[-1] if driver.answered else None
    if not isinstance(outcome, Died):
        return Ran(problem=f"the process never came to {protocol.at}")
    if protocol.form.operation is Operation.RECOVER or interrupted is None:
        return Ran(stuck=driver.finish(second, second.recover()))
    return Ran(stuck=driver.finish(second, _again(second, interrupted)))


def _again(process: Process, answered: Answered) -> Outcome | Died:
    """Make a delivery once more; where it is refused, the run is asked to go on without it."""
    outcome = process.answer(
        answered.value,
        target=answered.gate.name,
        at=answered.where,
        delivery=answered.delivery,
        intent=Intent.RETRY,
    )
    return process.recover() if isinstance(outcome, Failed) else outcome


def _handover(protocol: Protocol, ground: Ground, driver: Driver, request: Request) -> Ran:
    process = ground.process()
    outcome = process.start(request.input)
    while isinstance(outcome, Parked):
        process.close()
        process = ground.process()
        outcome = driver.step(process, outcome)
    return Ran(stuck=driver.finish(process, outcome))


def _redeliver(protocol: Protocol, ground: Ground, driver: Driver, request: Request) -> Ran:
    process = ground.process()
    outcome = driver.until(process, process.start(request.input), protocol.place + 1)
    before = _identities(outcome)
    second = ground.process()
    repeated = _again(second, driver.answered[-1])
    after = _identities(repeated)
    stuck = driver.finish(second, repeated)
    return Ran(stuck, before=before, after=after)


def _race(protocol: Protocol, ground: Ground, driver: Driver, request: Request) -> Ran:
    first = ground.process()
    outcome = driver.until(first, first.start(request.input), protocol.place)
    if not isinstance(outcome, Parked):
        return Ran(problem=f"the run doesn't wait for an answer {protocol.place + 1}")
    decided = driver.decide(first, outcome)
    first.close()
    racers = [ground.process() for _ in range(2)]
    for racer in racers:
        racer.hold_delivery(decided.value, target=decided.gate.name, at=decided.where)
    for racer in racers:
        racer.release()
    for racer in racers:
        racer.outcome()
    for racer in racers:
        racer.close()
    last = ground.process()
    return Ran(stuck=driver.finish(last, _going_on(last)))


def _going_on(process: Process) -> Outcome | Died:
    """What the run waits for now; where nothing is pending and it isn't finished, it is recovered."""
    seen = process.inspect()
    if not isinstance(seen, Snapshot):
        return seen
    if seen.pending:
        return Parked(seen.pending)
    return Completed(seen.trail) if seen.finished else process.recover()


def _fork(protocol: Protocol, ground: Ground, driver: Driver, request: Request) -> Ran:
    process = ground.process()
    outcome = driver.until(process, process.start(request.input), protocol.place + 1)
    decided = driver.answered[-1]
    stuck = driver.finish(process, outcome)
    if stuck is not None:
        return Ran(stuck)
    other: Json = request.decisions.other(decided.gate)
    outcome = process.fork(other, target=decided.gate.name, at=decided.where)
    return Ran(stuck=driver.finish(process, outcome))


def _identities(outcome: Outcome | Died) -> tuple[str, ...]:
    return tuple(pending.identity for pending in outcome.pending) if isinstance(outcome, Parked) else ()


_RUNS: dict[Action, Callable[[Protocol, Ground, Driver, Request], Ran]] = {
    Action.CRASH: _crash,
    Action.HANDOVER: _handover,
    Action.REDELIVER: _redeliver,
    Action.RACE: _race,
    Action.FORK: _fork,
}
