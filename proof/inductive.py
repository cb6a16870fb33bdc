"""The shipped decisions inside the unbounded induction.

The contract's induction (`resumption.model.induction`) is about a transition relation. Here each of its six actions is
rebuilt from calls of the translated decision functions: what they are told are the facts that the state determines, and
what they answer is what the action does. The obligations are the model's own, conjunct by conjunct, for any number of
tasks, values, resumes and crashes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import z3

from proof.formulas import call, number, some
from proof.spec import Obligation
from proof.symbolic import Module
from proof.terms import STR, Term, constant
from resumption.model.induction import INVARIANT
from resumption.model.semantics import NOTHING
from resumption.model.symbolic import (
    Constants,
    SymbolicState,
    constants_are_legal,
    fresh_constants,
    fresh_state,
    transitions,
)

__all__ = ["ACTIONS", "Core", "inductive", "refinement"]

ACTIONS = ("ExecTask", "EmitInterrupt", "Consume", "ForkResume", "CrashRecover", "ExtraResume")

# Nothing is assumed of digests, not even that they tell values apart: no property of the contract rests on that.
_digest = z3.Function("digest", z3.IntSort(), z3.StringSort())


@dataclass(frozen=True, slots=True)
class Core:
    """The translated files, by name."""

    branch: Module
    claim: Module
    commit: Module
    recover: Module
    view: Module


@dataclass(frozen=True, slots=True)
class Step:
    """One action of the implementation: where it is enabled, and the state after it."""

    enabled: Any
    after: SymbolicState


def inductive(core: Core) -> Iterator[Obligation]:
    """That no action of the shipped decisions leads out of the contract's invariant."""
    constants, before = fresh_constants(), fresh_state("s")
    premise = z3.And(constants_are_legal(constants), *(holds(constants, before) for holds in INVARIANT.values()))
    for action, step in _steps(core, constants, before).items():
        for name, holds in INVARIANT.items():
            broken = z3.Not(holds(constants, step.after))
            yield Obligation(f"{action}/{name}", z3.And(premise, step.enabled, broken))


def refinement(core: Core) -> Iterator[Obligation]:
    """That each action of the shipped decisions is enabled where the model's is, and leads to the same state.

    What the model's own proof shows is therefore true of the shipped decisions: that each action is possible, too.
    """
    constants, before = fresh_constants(), fresh_state("s")
    invariant = [holds(constants, before) for holds in INVARIANT.values()]
    premise = z3.And(constants_are_legal(constants), *(part for whole in invariant for part in _ground(whole)))
    model = transitions(constants, before)
    for action, step in _steps(core, constants, before).items():
        differ = z3.Xor(step.enabled, model[action].enabled)
        yield Obligation(f"{action} is enabled as in the model", z3.And(premise, differ))
        for variable in fields(SymbolicState):
            ours, theirs = (getattr(state, variable.name) for state in (step.after, model[action].after))
            anywhere = z3.Int("anywhere")
            differ = ours[anywhere] != theirs[anywhere] if z3.is_array(ours) else ours != theirs
            wrong = z3.And(premise, step.enabled, differ)
            yield Obligation(f"{action} leaves {variable.name} as in the model", wrong)


def _ground(formula: Any) -> Iterator[Any]:
    """The conjuncts of a premise that quantify over nothing: weaker, enough here, and decided by both solvers."""
    if z3.is_and(formula):
        for part in formula.children():
            yield from _ground(part)
    elif not z3.is_quantifier(formula):
        yield formula


def _steps(core: Core, c: Constants, s: SymbolicState) -> Mapping[str, Step]:
    value, decision = z3.Int("value"), z3.Int("decision")
    return {
        "ExecTask": _execute(core, c, s),
        "EmitInterrupt": _emit(core, c, s),
        "Consume": _consume(core, c, s, value),
        "ForkResume": _fork(core, c, s, value),
        "CrashRecover": _crash(core, c, s, decision),
        "ExtraResume": _extra(core, c, s, value),
    }


# What the state tells the decisions ---------------------------------------------------------------------------------


def _recorded(s: SymbolicState, task: Any) -> Any:
    """Membership in the log, which is a prefix by the invariant."""
    return task <= s.durable


def _missing(s: SymbolicState, task: Any) -> Any:
    """How many of the tasks before this one aren't in the log."""
    return z3.If(task - 1 > s.durable, task - 1 - s.durable, 0)


def _recovery(core: Core, c: Constants, s: SymbolicState, task: Any) -> Term:
    """What is to happen to a task."""
    answered = z3.If(s.consumed != NOTHING, 1, 0)
    asked = z3.If(z3.Or(s.waiting, s.consumed != NOTHING), 1, 0)
    is_gate = task == c.gate
    return call(
        core.recover,
        "recover",
        recorded=_recorded(s, task),
        missing=_missing(s, task),
        gates=z3.If(is_gate, 1, 0),
        asked=z3.If(is_gate, asked, 0),
        answered=z3.If(is_gate, answered, 0),
    ).result


def _stored(core: Core, s: SymbolicState, task: Any) -> SymbolicState:
    """The state after a task's write was handed to `commit` by the thread's executor."""
    outcome = call(
        core.commit,
        "commit",
        fence=1,
        current_fence=1,
        recorded=_recorded(s, task),
        valid=True,
        missing=_missing(s, task),
    ).result
    stored = outcome.member("STORED")
    length = z3.If(stored, s.log_length + 1, s.log_length)
    frontier = call(core.commit, "frontier_after", outcome=outcome, frontier=s.durable, position=task).result
    return replace(
        s,
        log_length=length,
        log_task=z3.If(stored, z3.Store(s.log_task, length, task), s.log_task),
        log_valid=z3.If(stored, z3.Store(s.log_valid, length, True), s.log_valid),
        durable=frontier.value,
    )


def _claim(core: Core, c: Constants, s: SymbolicState, value: Any) -> Any:
    """Whether a delivery of this value, by the holder of the lease, makes the gate run."""
    claimed = Term(STR.as_optional(), _digest(s.consumed), s.consumed != NOTHING)
    outcome = call(
        core.claim,
        "claim",
        leased=True,
        pending=s.waiting,
        consumed=z3.And(s.consumed != NOTHING, _recorded(s, c.gate)),
        claimed_digest=claimed,
        digest=Term(STR, _digest(value), z3.BoolVal(True)),
    ).result
    return call(core.claim, "consumes", outcome=outcome).result.value


# The six actions ----------------------------------------------------------------------------------------------------


def _execute(core: Core, c: Constants, s: SymbolicState) -> Step:
    outcome = _recovery(core, c, s, s.pc)
    runs = z3.Or(outcome.member("RUNS"), outcome.member("RUNS_DECIDED"))
    after = replace(
        _stored(core, s, s.pc),
        pc=s.pc + 1,
        effects=z3.Store(s.effects, s.pc, s.effects[s.pc] + 1),
        prefix_regress=z3.Or(s.prefix_regress, s.pc <= s.durable),
    )
    return Step(z3.And(s.pc <= c.tasks, runs), after)


def _emit(core: Core, c: Constants, s: SymbolicState) -> Step:
    asks = _recovery(core, c, s, s.pc).member("ASKS")
    return Step(z3.And(s.pc <= c.tasks, asks), replace(s, waiting=z3.BoolVal(True)))


def _consume(core: Core, c: Constants, s: SymbolicState, value: Any) -> Step:
    """A delivery that is claimed: its decision is on record, so that the gate runs, and its write is stored."""
    decided = replace(s, waiting=z3.BoolVal(False), consumed=value)
    runs = _recovery(core, c, decided, c.gate).member("RUNS_DECIDED")
    after = replace(
        _stored(core, decided, c.gate),
        pc=c.gate + 1,
        effects=z3.If(runs, z3.Store(s.effects, c.gate, s.effects[c.gate] + 1), s.effects),
    )
    served = z3.And(_is_value(c, value), _claim(core, c, s, value))
    # A delivery at a claimed interrupt is `ExtraResume`, or the recovery of a crash.
    return Step(z3.And(served, s.consumed == NOTHING), after)


def _fork(core: Core, c: Constants, s: SymbolicState, value: Any) -> Step:
    """A delivery with fork intent: the decisions on record are offered to the new attempt, the oldest first."""
    first = 1
    where = call(core.branch, "branch", known=True, interrupted=s.consumed != NOTHING, fork=True).result
    attempt = call(core.branch, "attempt_after", outcome=where, attempt=first, highest=s.forks + first).result
    outcome = z3.IntVal(NOTHING)
    for decided, recorded_on in ((value, attempt.value), (s.consumed, z3.IntVal(first))):
        seen = call(
            core.view,
            "view",
            interrupt=constant(STR, "gate"),
            attempt=number(attempt.value),
            position=c.gate,
            recorded_for=constant(STR.as_optional(), "gate"),
            recorded_on=recorded_on,
            shared_before=some(c.gate),
        ).result
        outcome = z3.If(call(core.view, "visible", outcome=seen).result.value, decided, outcome)
    after = replace(
        s,
        forks=s.forks + 1,
        fork_values=z3.Store(s.fork_values, s.forks + 1, value),
        fork_outcomes=z3.Store(s.fork_outcomes, s.forks + 1, outcome),
    )
    in_budget = s.forks < c.resumes - 1
    return Step(z3.And(where.member("FORK"), attempt.present, in_budget, _is_value(c, value)), after)


def _crash(core: Core, c: Constants, s: SymbolicState, decision: Any) -> Step:
    """A recovery continues at a task that neither has a record nor waits for one that has none."""
    outcome = _recovery(core, c, s, decision)
    continues = z3.Not(z3.Or(outcome.member("SERVED"), outcome.member("WAITS")))
    after = replace(
        s,
        pc=decision,
        crashes=s.crashes + 1,
        recoveries=s.recoveries + 1,
        recovered_from=z3.Store(s.recovered_from, s.recoveries + 1, s.durable),
        resumed_at=z3.Store(s.resumed_at, s.recoveries + 1, decision),
    )
    crashed = z3.And(z3.Not(s.waiting), s.pc > 1, s.pc <= c.tasks, s.crashes < c.crashes)
    return Step(z3.And(crashed, decision >= 1, decision <= c.tasks, continues), after)


def _extra(core: Core, c: Constants, s: SymbolicState, value: Any) -> Step:
    """A delivery without fork intent to a finished run: the gate runs if the claim says so."""
    again = _claim(core, c, s, value)
    effects = z3.If(again, z3.Store(s.effects, c.gate, s.effects[c.gate] + 1), s.effects)
    finished = z3.And(s.pc == c.tasks + 1, s.extras < c.extras)
    after = replace(s, effects=effects, extras=s.extras + 1)
    return Step(finished, after)


def _is_value(c: Constants, value: Any) -> Any:
    return z3.And(value >= 1, value <= c.values)
