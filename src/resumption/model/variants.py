"""Neighbours of the contract's model, each built from it by replacing one or two actions.

They answer what the base model can't: whether parking survives a crash (`parked`), whether each property can break
alone (`separations`), whether counting consumptions differs from counting effects (`consume_count`), what a recovery
that rebuilds state from the log looks like (`state_rebuild`), and what a framework that ignores fork values does
(`langgraph_fork`). The TLA+ module of the same name is under `spec/`. The counts published in "Resume Means Resume"
(arXiv 2608.03836) pin the choices below.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

from resumption.model.machine import Action, Machine, Predicate
from resumption.model.semantics import (
    NOTHING,
    Bounds,
    Fault,
    Faults,
    Recovery,
    State,
    consume,
    contract_claims,
    crash_and_recover,
    emit_interrupt,
    execute_task,
    fired,
    is_completed,
    recovery_points,
    reference_actions,
    resume_contract,
)

__all__ = [
    "ConsumeArm",
    "CountedState",
    "ForkPath",
    "ForkState",
    "ParkedState",
    "Parking",
    "RebuildState",
    "Separation",
    "consume_count",
    "langgraph_fork",
    "parked",
    "separations",
    "state_rebuild",
]

NO_FAULTS: Faults = frozenset()


# --- parking: does a parked gate survive a crash? ---


class Parking(StrEnum):
    """Where the parked interrupt lives."""

    DURABLE = "durable"
    """In the durable store: a crash while parked comes back parked."""

    VOLATILE = "volatile"
    """In the process: a crash while parked comes back at the gate with the interrupt gone and nobody to ask again."""


@dataclass(frozen=True, slots=True)
class ParkedState(State):
    """The contract's state and whether the interrupt was lost."""

    lost: bool = False


def parked(bounds: Bounds, parking: Parking, faults: Faults = NO_FAULTS) -> Machine[ParkedState]:
    """The contract where a parked run may crash too."""

    def emit(state: ParkedState) -> Iterator[ParkedState]:
        if not state.lost:
            yield from emit_interrupt(bounds, state)

    def crash(state: ParkedState) -> Iterator[ParkedState]:
        yield from crash_and_recover(bounds, faults, state)
        if state.waiting and state.crashes < bounds.crashes:
            for resumed_at in recovery_points(faults, state.durable):
                at_gate = resumed_at == bounds.gate
                yield replace(
                    state,
                    pc=resumed_at,
                    waiting=at_gate and parking is Parking.DURABLE,
                    lost=at_gate and parking is Parking.VOLATILE,
                    crashes=state.crashes + 1,
                    recoveries=(*state.recoveries, Recovery(state.durable, resumed_at)),
                )

    actions: dict[str, Action[ParkedState]] = reference_actions(bounds, faults)
    actions |= {"EmitInterrupt": emit, "CrashRecover": crash}
    start = ParkedState(pc=1, effects=(0,) * bounds.tasks)
    return Machine((start,), actions, contract_claims(bounds), partial(is_completed, bounds))


# --- separations: each property broken alone ---


class Separation(StrEnum):
    """A deviation that breaks exactly one property which the six faults break only together with others."""

    REGATE = "Regate"
    """RD alone: a recovery behind the gate may put the gate's question again; the answer is served, nothing fires."""

    REBUILD = "Rebuild"
    """PC alone: a recovery runs the durable prefix again, every effect served from the record."""

    REDELIVER = "Redeliver"
    """EO alone: a recovery delivers the frontier task's effect again, unless that task is the gate."""


def separations(bounds: Bounds, separation: Separation) -> Machine[State]:
    """The contract with one separating deviation."""
    actions: dict[str, Action[State]] = reference_actions(bounds)
    if separation is Separation.REGATE:
        actions["Consume"] = partial(_consume_again, bounds)
        actions["CrashRecover"] = partial(_recover_to_gate, bounds)
    elif separation is Separation.REBUILD:
        actions["ExecTask"] = partial(_execute_or_serve, bounds)
        actions["CrashRecover"] = partial(_recover_to_start, bounds)
    else:
        actions["CrashRecover"] = partial(_redeliver, bounds)
    return replace(resume_contract(bounds), actions=actions)


def _recover_to_gate(bounds: Bounds, state: State) -> Iterator[State]:
    for recovered in crash_and_recover(bounds, NO_FAULTS, state):
        if state.durable >= bounds.gate:
            decision = Recovery(state.durable, bounds.gate)
            again = (*state.recoveries, decision)
            yield replace(recovered, pc=bounds.gate, waiting=True, recoveries=again)
        yield recovered


def _consume_again(bounds: Bounds, state: State) -> Iterator[State]:
    if state.consumed == NOTHING:
        yield from consume(bounds, state)
    elif state.waiting:
        for _ in range(bounds.values):  # whatever is answered now, the recorded decision is what counts
            yield replace(state, waiting=False, pc=bounds.gate + 1)


def _recover_to_start(bounds: Bounds, state: State) -> Iterator[State]:
    for recovered in crash_and_recover(bounds, NO_FAULTS, state):
        yield replace(recovered, pc=1, recoveries=(*state.recoveries, Recovery(state.durable, 1)))


def _execute_or_serve(bounds: Bounds, state: State) -> Iterator[State]:
    if state.pc <= state.durable:
        yield replace(state, pc=state.pc + 1, prefix_regress=True)
    else:
        yield from execute_task(bounds, NO_FAULTS, state)


def _redeliver(bounds: Bounds, state: State) -> Iterator[State]:
    for recovered in crash_and_recover(bounds, NO_FAULTS, state):
        if state.durable in (0, bounds.gate):
            yield recovered
        else:
            yield replace(recovered, effects=fired(state.effects, state.durable))


# --- consume-once: counting consumptions apart from counting effects ---


class ConsumeArm(StrEnum):
    """What else may consume the interrupt."""

    REFERENCE = "reference"
    RACE = "race"
    """A second resume wins the same interrupt, and its effect is idempotent: nothing fires."""

    FIRING = "firing"
    """A second resume wins the same interrupt and fires the effect."""

    EXTRA = "extra"
    """No race, but an extra resume of the finished run fires the effect: an effect without a consumption."""


@dataclass(frozen=True, slots=True)
class CountedState(State):
    """The contract's state and how many resumes have consumed the interrupt."""

    consumptions: int = 0


def consume_count(bounds: Bounds, arm: ConsumeArm, faults: Faults = NO_FAULTS) -> Machine[CountedState]:
    """The contract with consumptions counted: CO split into its count (CO-c) and its effects (CO-e)."""
    if arm is ConsumeArm.EXTRA:
        faults |= {Fault.DOUBLE_CONSUME}

    def consume_counted(state: CountedState) -> Iterator[CountedState]:
        for consumed in consume(bounds, state):
            yield replace(consumed, consumptions=consumed.consumptions + 1)

    actions: dict[str, Action[CountedState]] = reference_actions(bounds, faults)
    actions["Consume"] = consume_counted
    if arm in (ConsumeArm.RACE, ConsumeArm.FIRING):
        actions["RaceConsume"] = partial(_race_consume, bounds, arm)
    claims: dict[str, Predicate[CountedState]] = dict(contract_claims(bounds))
    claims["CO-e"] = claims.pop("CO")
    claims["CO-c"] = lambda state: state.consumptions <= 1
    start = CountedState(pc=1, effects=(0,) * bounds.tasks)
    return Machine((start,), actions, claims, partial(is_completed, bounds))


def _race_consume(bounds: Bounds, arm: ConsumeArm, state: CountedState) -> Iterator[CountedState]:
    just_consumed = state.consumed != NOTHING and state.pc == bounds.gate + 1 and state.consumptions == 1
    if just_consumed and len(state.fork_values) < bounds.resumes - 1:
        effects = fired(state.effects, bounds.gate) if arm is ConsumeArm.FIRING else state.effects
        for value in range(1, bounds.values + 1):
            yield replace(
                state,
                fork_values=(*state.fork_values, value),
                fork_outcomes=(*state.fork_outcomes, value),
                consumptions=2,
                effects=effects,
            )


# --- state rebuild: where does a recovery get its state from? ---


class Rebuilding(StrEnum):
    """What a recovering process does about the state that died with the last one."""

    FROM_LOG = "from-log"
    """It runs again from the start, is served every recorded result, and fires nothing: memoised replay conforms."""

    FORGETFUL = "forgetful"
    """It goes on behind the frontier with empty hands."""


@dataclass(frozen=True, slots=True)
class RebuildState(State):
    """The contract's state and what the running process knows: the results of the tasks, in the order it got them."""

    memory: tuple[int, ...] = ()


STATE_REBUILT = "StateRebuilt"


def state_rebuild(bounds: Bounds, rebuilding: Rebuilding) -> Machine[RebuildState]:
    """The contract with the state of the process modelled, so that continuing from *what* can be asked.

    The result of a task is its number, that of the gate is the decision. `StateRebuilt` says that a process which
    executes (rather than being served) knows exactly the results in the durable log.
    """

    def result(state: RebuildState, task: int) -> int:
        return state.consumed if task == bounds.gate else task

    def execute(state: RebuildState) -> Iterator[RebuildState]:
        if state.pc <= state.durable:
            served = (*state.memory, result(state, state.pc))
            yield replace(state, pc=state.pc + 1, memory=served)
        else:
            for done in execute_task(bounds, NO_FAULTS, state):
                yield replace(done, memory=(*state.memory, result(state, state.pc)))

    def consume_and_know(state: RebuildState) -> Iterator[RebuildState]:
        for done in consume(bounds, state):
            yield replace(done, memory=(*state.memory, done.consumed))

    def crash(state: RebuildState) -> Iterator[RebuildState]:
        for recovered in crash_and_recover(bounds, NO_FAULTS, state):
            starts_over = rebuilding is Rebuilding.FROM_LOG
            yield replace(recovered, memory=(), pc=1 if starts_over else recovered.pc)

    def state_rebuilt(state: RebuildState) -> bool:
        served = state.pc <= state.durable
        return served or state.memory == tuple(result(state, record.task) for record in state.log)

    actions: dict[str, Action[RebuildState]] = reference_actions(bounds)
    actions |= {"ExecTask": execute, "Consume": consume_and_know, "CrashRecover": crash}
    claims: dict[str, Predicate[RebuildState]] = {**contract_claims(bounds), STATE_REBUILT: state_rebuilt}
    start = RebuildState(pc=1, effects=(0,) * bounds.tasks)
    return Machine((start,), actions, claims, partial(is_completed, bounds))


# --- LangGraph's fork, reduced to what decides fork determinism ---


class ForkPath(StrEnum):
    """How a second value reaches an interrupt that was answered."""

    STORED_ANSWER_WINS = "A"
    """A resume at the checkpoint before the answer: the answer stored there is served, the new value is dropped."""

    ANSWER_CLEARED = "B"
    """The two-call form: the fork is created without an answer, then answered with its own value."""


@dataclass(frozen=True, slots=True)
class ForkState:
    """The decision that was recorded, the value a fork carried, and the outcome that the fork had."""

    recorded: int = NOTHING
    forked: int = NOTHING
    outcome: int = NOTHING


def langgraph_fork(values: int, path: ForkPath) -> Machine[ForkState]:
    """One answer and one fork at the same interrupt."""

    def resume(state: ForkState) -> Iterator[ForkState]:
        if state.recorded == NOTHING:
            yield from (replace(state, recorded=value) for value in range(1, values + 1))

    def fork(state: ForkState) -> Iterator[ForkState]:
        if state.recorded != NOTHING and state.forked == NOTHING:
            for value in range(1, values + 1):
                outcome = state.recorded if path is ForkPath.STORED_ANSWER_WINS else value
                yield replace(state, forked=value, outcome=outcome)

    return Machine(
        initial=(ForkState(),),
        actions={"Resume": resume, "Fork": fork},
        invariants={"FD": lambda state: state.outcome == state.forked},
        completed=lambda state: state.forked != NOTHING,
    )
