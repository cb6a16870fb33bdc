"""The resume contract as a transition system: what a run may do, and what must never be seen.

One run on one thread has `tasks` tasks in a row. Each task has an external effect. One of them, the *gate*, fires only
after somebody has answered its interrupt. The process may crash, the answer may come twice, and somebody may ask for a
second future (a fork). Read the six actions below in order to learn what the contract lets each of these do; read
`PROPERTIES` to learn what it forbids.

A `Fault` is one deviation, as data: each names the sentence of the contract that it breaks, and each action says where
it would deviate. The reference semantics is the empty set of faults.

The relation is that of `spec/ResumeContract.tla`, written a second time and independently: the two must agree in every
state count, verdict and depth. Source: "Resume Means Resume" (arXiv 2608.03836), sections on the contract and its
model. Choices which the published counts pin down are marked *pinned*.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import TypeVar

from resumption.model.machine import Action, Machine, Predicate

__all__ = [
    "NOTHING",
    "PROPERTIES",
    "WITNESS_AFTER_GATE",
    "Bounds",
    "Fault",
    "Faults",
    "Record",
    "Recovery",
    "State",
    "consume",
    "contract_claims",
    "crash_and_recover",
    "emit_interrupt",
    "execute_task",
    "extra_resume",
    "fired",
    "fork_resume",
    "initial_state",
    "is_completed",
    "recovery_points",
    "reference_actions",
    "resume_contract",
    "type_ok",
]

NOTHING = 0
"""The decision that has not been made. Decisions are the integers from 1."""


class Fault(StrEnum):
    """One way to break the contract. The value is its name in the paper and, as `Fault<value>`, in the TLA+ modules."""

    REPLAY = "Replay"
    """Recovery starts again at the first task, and every effect fires again."""

    PREFIX_REPLAY = "PrefixReplay"
    """Recovery starts again at the first task; only the answered gate is served from its record."""

    FORK_IGNORE = "ForkIgnore"
    """A fork is answered with the decision recorded first, whatever value it carries."""

    INVALID_PERSIST = "InvalidPersist"
    """The last task's write breaks the schema and is stored all the same."""

    DOUBLE_CONSUME = "DoubleConsume"
    """A further resume of a finished run fires the gate's effect again."""

    NONDET_RECOVERY = "NondetRecovery"
    """Recovery decides freely between the frontier and the first task."""


Faults = frozenset[Fault]


@dataclass(frozen=True, slots=True)
class Bounds:
    """The constants of one exploration. `gate` is the position of the task that waits for a decision."""

    tasks: int = 3
    gate: int = 2
    values: int = 2
    resumes: int = 2
    crashes: int = 1
    extras: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.gate <= self.tasks:
            raise ValueError(f"the gate must be one of the {self.tasks} tasks, not task {self.gate}")
        if min(self.values, self.resumes) < 1 or min(self.crashes, self.extras) < 0:
            raise ValueError(f"a run needs at least one value and one resume, and no negative budget: {self}")


@dataclass(frozen=True, slots=True)
class Record:
    """One entry of the durable log: a task that is done, and whether what it wrote satisfies the state schema."""

    task: int
    valid: bool


@dataclass(frozen=True, slots=True)
class Recovery:
    """One recovery decision: the frontier it found in the durable log and the task at which it continued."""

    durable: int
    resumed_at: int


@dataclass(frozen=True, slots=True)
class State:
    """Everything observable about one run."""

    pc: int
    """The task that executes next; one more than the number of tasks when the run is completed."""
    effects: tuple[int, ...]
    """How often the effect of each task has fired on this branch."""
    log: tuple[Record, ...] = ()
    durable: int = 0
    """The frontier: the last task whose record was made durable."""
    waiting: bool = False
    consumed: int = NOTHING
    """The decision that the gate consumed."""
    fork_values: tuple[int, ...] = ()
    fork_outcomes: tuple[int, ...] = ()
    crashes: int = 0
    recoveries: tuple[Recovery, ...] = ()
    extras: int = 0
    prefix_regress: bool = False
    """Some task at or before the frontier has executed again."""


St = TypeVar("St", bound=State)


def initial_state(bounds: Bounds) -> State:
    """A run that was started and has done nothing yet."""
    return State(pc=1, effects=(0,) * bounds.tasks)


def is_completed(bounds: Bounds, state: State) -> bool:
    """Every task of the run is done."""
    return state.pc == bounds.tasks + 1


def fired(effects: tuple[int, ...], task: int) -> tuple[int, ...]:
    """The effect counts after the effect of `task` has fired once more."""
    return (*effects[: task - 1], effects[task - 1] + 1, *effects[task:])


# --- the six actions, in the order of the TLA+ module ---


def execute_task(bounds: Bounds, faults: Faults, state: St) -> Iterator[St]:
    """The next task runs: its effect fires, its record becomes durable, the frontier moves to it.

    A gate executes here only when its decision is already recorded, which is so during a replay alone.
    """
    may_pass_gate = state.pc != bounds.gate or state.consumed != NOTHING
    if state.pc <= bounds.tasks and not state.waiting and may_pass_gate:
        served_from_record = Fault.PREFIX_REPLAY in faults and state.pc == bounds.gate
        valid = not (Fault.INVALID_PERSIST in faults and state.pc == bounds.tasks)
        yield replace(
            state,
            pc=state.pc + 1,
            effects=state.effects if served_from_record else fired(state.effects, state.pc),
            log=(*state.log, Record(state.pc, valid)),
            durable=state.pc,
            prefix_regress=state.prefix_regress or state.pc <= state.durable,
        )


def emit_interrupt(bounds: Bounds, state: St) -> Iterator[St]:
    """The gate parks: it asks for a decision and waits. It never asks again for one that it has consumed."""
    if state.pc == bounds.gate and not state.waiting and state.consumed == NOTHING:
        yield replace(state, waiting=True)


def consume(bounds: Bounds, state: St) -> Iterator[St]:
    """A resume answers the parked gate: decision, effect and record are one atomic step."""
    if state.waiting:
        for value in range(1, bounds.values + 1):
            yield replace(
                state,
                waiting=False,
                consumed=value,
                effects=fired(state.effects, bounds.gate),
                log=(*state.log, Record(bounds.gate, valid=True)),
                durable=bounds.gate,
                pc=bounds.gate + 1,
            )


def fork_resume(bounds: Bounds, faults: Faults, state: St) -> Iterator[St]:
    """A resume with fork intent opens a branch from the consumed interrupt, whose outcome is that of its own value.

    *Pinned*: the consuming resume uses one of the budget, and a fork is legal anywhere after it, also during a replay
    and after completion. What runs on the branch is not part of this state: only its outcome is.
    """
    if state.consumed != NOTHING and len(state.fork_values) < bounds.resumes - 1:
        for value in range(1, bounds.values + 1):
            outcome = state.consumed if Fault.FORK_IGNORE in faults else value
            yield replace(
                state,
                fork_values=(*state.fork_values, value),
                fork_outcomes=(*state.fork_outcomes, outcome),
            )


def crash_and_recover(bounds: Bounds, faults: Faults, state: St) -> Iterator[St]:
    """The process dies and another one recovers, at the task after the durable frontier.

    *Pinned*: only a run that has begun and is neither parked nor completed crashes. (A crash while parked is the
    subject of `variants.parked`.)
    """
    if not state.waiting and 1 < state.pc <= bounds.tasks and state.crashes < bounds.crashes:
        for resumed_at in recovery_points(faults, state.durable):
            yield replace(
                state,
                pc=resumed_at,
                crashes=state.crashes + 1,
                recoveries=(*state.recoveries, Recovery(state.durable, resumed_at)),
            )


def recovery_points(faults: Faults, durable: int) -> tuple[int, ...]:
    """Where a recovery that found the frontier `durable` may continue, in ascending order."""
    if Fault.REPLAY in faults or Fault.PREFIX_REPLAY in faults:
        return (1,)
    if Fault.NONDET_RECOVERY in faults:
        return tuple(sorted({1, durable + 1}))
    return (durable + 1,)


def extra_resume(bounds: Bounds, faults: Faults, state: St) -> Iterator[St]:
    """A resume without fork intent reaches a completed run: it is counted, and fires nothing. *Pinned*: counted."""
    if is_completed(bounds, state) and state.extras < bounds.extras:
        effects = fired(state.effects, bounds.gate) if Fault.DOUBLE_CONSUME in faults else state.effects
        yield replace(state, extras=state.extras + 1, effects=effects)


# --- what must never be seen ---


def effect_exactly_once(_: Bounds, state: State) -> bool:
    """EO: no effect fires twice on one branch."""
    return all(count <= 1 for count in state.effects)


def prefix_continuation(_: Bounds, state: State) -> bool:
    """PC: execution continues after the durable frontier; what is durable does not execute again."""
    return not state.prefix_regress


def fork_determinism(_: Bounds, state: State) -> bool:
    """FD: every fork has the outcome of its own value."""
    return state.fork_outcomes == state.fork_values


def checkpoint_validity(_: Bounds, state: State) -> bool:
    """CV: no invalid record is in the durable log."""
    return all(record.valid for record in state.log)


def consume_once(bounds: Bounds, state: State) -> bool:
    """CO: the gate's decision takes effect at most once."""
    return state.effects[bounds.gate - 1] <= 1


def recovery_determinism(_: Bounds, state: State) -> bool:
    """RD: recoveries that found the same durable frontier decided alike."""
    decisions = set(state.recoveries)
    return len({decision.durable for decision in decisions}) == len(decisions)


PROPERTIES = {
    "EO": effect_exactly_once,
    "PC": prefix_continuation,
    "FD": fork_determinism,
    "CV": checkpoint_validity,
    "CO": consume_once,
    "RD": recovery_determinism,
}
"""The six properties of the contract as invariants, by code."""


def type_ok(bounds: Bounds, state: State) -> bool:
    """Every variable is within its type: the sanity check that a specification itself has to pass."""
    tasks, values = range(1, bounds.tasks + 1), range(1, bounds.values + 1)
    return (
        1 <= state.pc <= bounds.tasks + 1
        and len(state.effects) == bounds.tasks
        and all(count >= 0 for count in state.effects)
        and all(record.task in tasks for record in state.log)
        and 0 <= state.durable <= bounds.tasks
        and 0 <= state.consumed <= bounds.values
        and len(state.fork_values) == len(state.fork_outcomes) <= bounds.resumes - 1
        and all(value in values for value in (*state.fork_values, *state.fork_outcomes))
        and len(state.recoveries) == state.crashes <= bounds.crashes
        and all(0 <= r.durable <= bounds.tasks and r.resumed_at in tasks for r in state.recoveries)
        and 0 <= state.extras <= bounds.extras
    )


def no_prefix_effect_after_gate(bounds: Bounds, state: State) -> bool:
    """False in the state that shows the damage of a prefix replay across an answered gate.

    A recovery began after the gate, the first task's effect has fired twice, and the gate's own only once: the decision
    was honoured while everything before it happened again. Not a property: its violation is a reachability witness.
    """
    return not (
        any(recovery.durable >= bounds.gate for recovery in state.recoveries)
        and state.effects[0] >= 2
        and state.pc == bounds.gate + 1
        and state.effects[bounds.gate - 1] == 1
    )


WITNESS_AFTER_GATE = "NoPrefixEffectAfterGate"
"""The name of the reachability witness `no_prefix_effect_after_gate`, negated so that a checker looks for it."""


def reference_actions(bounds: Bounds, faults: Faults = frozenset()) -> dict[str, Action[St]]:
    """The actions of the contract, with the faults switched on; `variants` replaces single ones."""
    return {
        "ExecTask": partial(execute_task, bounds, faults),
        "EmitInterrupt": partial(emit_interrupt, bounds),
        "Consume": partial(consume, bounds),
        "ForkResume": partial(fork_resume, bounds, faults),
        "CrashRecover": partial(crash_and_recover, bounds, faults),
        "ExtraResume": partial(extra_resume, bounds, faults),
    }


def contract_claims(bounds: Bounds) -> dict[str, Predicate[State]]:
    """Everything that can be claimed of a state: the properties, `TypeOK` and the witness."""
    return {
        **{code: partial(holds, bounds) for code, holds in PROPERTIES.items()},
        "TypeOK": partial(type_ok, bounds),
        WITNESS_AFTER_GATE: partial(no_prefix_effect_after_gate, bounds),
    }


def resume_contract(bounds: Bounds, faults: Faults = frozenset()) -> Machine[State]:
    """The contract's machine at these bounds, with everything in `contract_claims` as invariants."""
    return Machine(
        initial=(initial_state(bounds),),
        actions=reference_actions(bounds, faults),
        invariants=contract_claims(bounds),
        completed=partial(is_completed, bounds),
    )
