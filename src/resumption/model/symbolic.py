"""The contract's transition relation in logic: tasks, gate, values and every budget are unknowns (extra `prove`: z3).

An action is a guard and the state after it, both terms over the state before it. Two decisions are parameters of the
relation, `Hooks`: where a recovery continues and what a resume is answered with. The reference hooks are the contract's
own; translated functions of an implementation can be put in their place, and every obligation then is about them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias

import z3

from resumption.model.semantics import NOTHING, Fault, Faults

__all__ = [
    "REFERENCE_HOOKS",
    "Boolean",
    "Constants",
    "Hooks",
    "Integer",
    "SymbolicState",
    "Transition",
    "constants_are_legal",
    "fresh_constants",
    "fresh_state",
    "initially",
    "transitions",
]

Integer: TypeAlias = Any  # z3's terms carry no sort that a type checker could see
Boolean: TypeAlias = Any
IntegerArray: TypeAlias = Any
BooleanArray: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Constants:
    """The bounds, as unknowns or as numbers."""

    tasks: Integer
    gate: Integer
    values: Integer
    resumes: Integer
    crashes: Integer
    extras: Integer


@dataclass(frozen=True, slots=True)
class SymbolicState:
    """One state. Sequences are arrays counted from 1, with their length beside them."""

    pc: Integer
    effects: IntegerArray
    log_length: Integer
    log_task: IntegerArray
    log_valid: BooleanArray
    durable: Integer
    waiting: Boolean
    consumed: Integer
    forks: Integer
    fork_values: IntegerArray
    fork_outcomes: IntegerArray
    crashes: Integer
    recoveries: Integer
    recovered_from: IntegerArray
    resumed_at: IntegerArray
    extras: Integer
    prefix_regress: Boolean

    def equals(self, other: SymbolicState) -> Boolean:
        """That two states are the same, variable by variable."""
        return z3.And([getattr(self, item.name) == getattr(other, item.name) for item in fields(self)])


@dataclass(frozen=True, slots=True)
class Hooks:
    """The decisions that an implementation takes.

    `recover` maps the durable frontier to the tasks at which a recovery may continue (one, for a deterministic one).
    `serve` maps fork intent, the recorded decision and the resume's own value to the outcome of a resume that reaches a
    consumed interrupt.
    """

    recover: Callable[[Integer], Sequence[Integer]]
    serve: Callable[[Boolean, Integer, Integer], Integer]


REFERENCE_HOOKS = Hooks(
    recover=lambda durable: [durable + 1],
    serve=lambda is_fork, recorded, value: z3.If(is_fork, value, recorded),
)


@dataclass(frozen=True, slots=True)
class Transition:
    """Where an action is enabled (the conjunction of `guard`) and the state after it."""

    guard: Mapping[str, Boolean]
    after: SymbolicState

    @property
    def enabled(self) -> Boolean:
        """The whole guard."""
        return z3.And(list(self.guard.values()))


def fresh_constants() -> Constants:
    """Bounds about which nothing is known."""
    return Constants(*z3.Ints("tasks gate values resumes crash_budget extra_budget"))


def constants_are_legal(constants: Constants) -> Boolean:
    """What `Bounds` demands of its numbers."""
    return z3.And(
        constants.gate >= 1,
        constants.gate <= constants.tasks,
        constants.values >= 1,
        constants.resumes >= 1,
        constants.crashes >= 0,
        constants.extras >= 0,
    )


def fresh_state(name: str) -> SymbolicState:
    """A state about which nothing is known. `name` keeps it apart from others in the same formula."""
    arrays = {"effects", "log_task", "fork_values", "fork_outcomes", "recovered_from", "resumed_at"}
    integers_to_booleans = {"log_valid"}
    booleans = {"waiting", "prefix_regress"}

    def variable(variable_name: str) -> Any:
        label = f"{name}_{variable_name}"
        if variable_name in arrays:
            return z3.Array(label, z3.IntSort(), z3.IntSort())
        if variable_name in integers_to_booleans:
            return z3.Array(label, z3.IntSort(), z3.BoolSort())
        return z3.Bool(label) if variable_name in booleans else z3.Int(label)

    return SymbolicState(**{item.name: variable(item.name) for item in fields(SymbolicState)})


def initially() -> SymbolicState:
    """The initial state. Its arrays are constant ones: a quantified initial condition makes cvc5 give up."""
    zeros, valid = z3.K(z3.IntSort(), z3.IntVal(0)), z3.K(z3.IntSort(), z3.BoolVal(True))
    zero, no = z3.IntVal(0), z3.BoolVal(False)
    return SymbolicState(
        pc=z3.IntVal(1),
        effects=zeros,
        log_length=zero,
        log_task=zeros,
        log_valid=valid,
        durable=zero,
        waiting=no,
        consumed=z3.IntVal(NOTHING),
        forks=zero,
        fork_values=zeros,
        fork_outcomes=zeros,
        crashes=zero,
        recoveries=zero,
        recovered_from=zeros,
        resumed_at=zeros,
        extras=zero,
        prefix_regress=no,
    )


def transitions(
    constants: Constants,
    before: SymbolicState,
    faults: Faults = frozenset(),
    hooks: Hooks = REFERENCE_HOOKS,
    suffix: str = "",
) -> dict[str, Transition]:
    """The six actions from `before`. `suffix` keeps their choices (values, decisions) apart from other steps'."""
    value = z3.Int(f"value{suffix}")
    return {
        "ExecTask": _execute(constants, before, faults),
        "EmitInterrupt": _emit(constants, before),
        "Consume": _consume(constants, before, value),
        "ForkResume": _fork(constants, before, value, faults, hooks),
        "CrashRecover": _crash(constants, before, faults, hooks, z3.Int(f"decision{suffix}")),
        "ExtraResume": _extra(constants, before, faults),
    }


def _fire(effects: IntegerArray, task: Integer) -> IntegerArray:
    return z3.Store(effects, task, effects[task] + 1)


def _append(before: SymbolicState, task: Integer, valid: Boolean) -> SymbolicState:
    length = before.log_length + 1
    return replace(
        before,
        log_length=length,
        log_task=z3.Store(before.log_task, length, task),
        log_valid=z3.Store(before.log_valid, length, valid),
        durable=task,
    )


def _execute(constants: Constants, before: SymbolicState, faults: Faults) -> Transition:
    fires = _fire(before.effects, before.pc)
    if Fault.PREFIX_REPLAY in faults:
        fires = z3.If(before.pc == constants.gate, before.effects, fires)
    valid = before.pc != constants.tasks if Fault.INVALID_PERSIST in faults else z3.BoolVal(True)
    after = replace(
        _append(before, before.pc, valid),
        pc=before.pc + 1,
        effects=fires,
        prefix_regress=z3.Or(before.prefix_regress, before.pc <= before.durable),
    )
    guard = {
        "not completed": before.pc <= constants.tasks,
        "not parked": z3.Not(before.waiting),
        "gate only if consumed": z3.Implies(before.pc == constants.gate, before.consumed != NOTHING),
    }
    return Transition(guard, after)


def _emit(constants: Constants, before: SymbolicState) -> Transition:
    guard = {
        "at the gate": before.pc == constants.gate,
        "not parked": z3.Not(before.waiting),
        "not consumed": before.consumed == NOTHING,
    }
    return Transition(guard, replace(before, waiting=z3.BoolVal(True)))


def _consume(constants: Constants, before: SymbolicState, value: Integer) -> Transition:
    after = replace(
        _append(before, constants.gate, z3.BoolVal(True)),
        waiting=z3.BoolVal(False),
        consumed=value,
        effects=_fire(before.effects, constants.gate),
        pc=constants.gate + 1,
    )
    return Transition({"parked": before.waiting, "a value": _is_value(constants, value)}, after)


def _fork(constants: Constants, before: SymbolicState, value: Integer, faults: Faults, hooks: Hooks) -> Transition:
    is_fork = z3.BoolVal(Fault.FORK_IGNORE not in faults)
    outcome = hooks.serve(is_fork, before.consumed, value)
    number = before.forks + 1
    after = replace(
        before,
        forks=number,
        fork_values=z3.Store(before.fork_values, number, value),
        fork_outcomes=z3.Store(before.fork_outcomes, number, outcome),
    )
    guard = {
        "consumed": before.consumed != NOTHING,
        "in budget": before.forks < constants.resumes - 1,
        "a value": _is_value(constants, value),
    }
    return Transition(guard, after)


def _crash(constants: Constants, before: SymbolicState, faults: Faults, hooks: Hooks, decision: Integer) -> Transition:
    points: list[Integer] = list(hooks.recover(before.durable))
    if faults & {Fault.REPLAY, Fault.PREFIX_REPLAY}:
        points = [z3.IntVal(1)]
    elif Fault.NONDET_RECOVERY in faults:
        points.append(z3.IntVal(1))
    number = before.recoveries + 1
    after = replace(
        before,
        pc=decision,
        crashes=before.crashes + 1,
        recoveries=number,
        recovered_from=z3.Store(before.recovered_from, number, before.durable),
        resumed_at=z3.Store(before.resumed_at, number, decision),
    )
    guard = {
        "not parked": z3.Not(before.waiting),
        "begun": before.pc > 1,
        "not completed": before.pc <= constants.tasks,
        "in budget": before.crashes < constants.crashes,
        "a decision": z3.Or([decision == point for point in points]),
    }
    return Transition(guard, after)


def _extra(constants: Constants, before: SymbolicState, faults: Faults) -> Transition:
    effects = _fire(before.effects, constants.gate) if Fault.DOUBLE_CONSUME in faults else before.effects
    guard = {"completed": before.pc == constants.tasks + 1, "in budget": before.extras < constants.extras}
    return Transition(guard, replace(before, effects=effects, extras=before.extras + 1))


def _is_value(constants: Constants, value: Integer) -> Boolean:
    return z3.And(value >= 1, value <= constants.values)
