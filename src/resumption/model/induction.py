"""The contract proved for every number of tasks, values, resumes, crashes and extras (extra `prove`).

The proof is by induction: the invariant holds initially, and no action leads out of it. Each pair of an action and a
conjunct is one obligation, so that a failure says which sentence of the contract breaks, and where. The conjunction is
that of the six properties, `TypeOK`, and what makes them inductive: *where a run stands determines what it has done*.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import z3

from resumption.model.semantics import NOTHING, PROPERTIES, Faults
from resumption.model.solvers import Answer, ask_cvc5, ask_z3, counterexample
from resumption.model.symbolic import (
    REFERENCE_HOOKS,
    Boolean,
    Constants,
    Hooks,
    Integer,
    SymbolicState,
    constants_are_legal,
    fresh_constants,
    fresh_state,
    initially,
    transitions,
)

__all__ = [
    "INVARIANT",
    "Conjunct",
    "Obligation",
    "Proof",
    "liveness_obligations",
    "obligations",
    "prove",
    "unestablished",
    "vacuous_actions",
]

Conjunct = Callable[[Constants, SymbolicState], Boolean]
"""One claim about a state at given constants."""

INIT = "Init"


def _each(length: Integer, claim: Callable[[Integer], Boolean]) -> Boolean:
    index = z3.Int("i")
    return z3.ForAll([index], z3.Implies(z3.And(index >= 1, index <= length), claim(index)))


def _type_ok(c: Constants, s: SymbolicState) -> Boolean:
    def is_value(term: Integer) -> Boolean:
        return z3.And(term >= 1, term <= c.values)

    return z3.And(
        z3.And(s.pc >= 1, s.pc <= c.tasks + 1, s.durable >= 0, s.durable <= c.tasks),
        z3.And(s.consumed >= 0, s.consumed <= c.values, s.forks >= 0, s.forks <= c.resumes - 1),
        z3.And(s.crashes >= 0, s.crashes <= c.crashes, s.recoveries == s.crashes),
        z3.And(s.extras >= 0, s.extras <= c.extras, s.log_length >= 0),
        _each(s.forks, lambda i: z3.And(is_value(s.fork_values[i]), is_value(s.fork_outcomes[i]))),
        _each(s.recoveries, lambda i: z3.And(s.resumed_at[i] >= 1, s.resumed_at[i] <= c.tasks)),
    )


def _effects(c: Constants, s: SymbolicState) -> Boolean:
    return _each(c.tasks, lambda task: s.effects[task] == z3.If(task < s.pc, 1, 0))


def _log_is_prefix(_: Constants, s: SymbolicState) -> Boolean:
    return z3.And(s.log_length == s.durable, _each(s.log_length, lambda i: s.log_task[i] == i))


def _recovery_determinism(_: Constants, s: SymbolicState) -> Boolean:
    i, j = z3.Ints("i j")
    in_range = z3.And(i >= 1, i <= s.recoveries, j >= 1, j <= s.recoveries)
    alike = z3.Implies(s.recovered_from[i] == s.recovered_from[j], s.resumed_at[i] == s.resumed_at[j])
    return z3.ForAll([i, j], z3.Implies(in_range, alike))


INVARIANT: Mapping[str, Conjunct] = {
    "TypeOK": _type_ok,
    "Frontier": lambda _, s: s.durable == s.pc - 1,
    "Effects": _effects,
    "Parked": lambda c, s: z3.Implies(s.waiting, z3.And(s.pc == c.gate, s.consumed == NOTHING)),
    "Recoveries": lambda _, s: _each(s.recoveries, lambda i: s.resumed_at[i] == s.recovered_from[i] + 1),
    "LogIsPrefix": _log_is_prefix,
    "EO": lambda c, s: _each(c.tasks, lambda task: s.effects[task] <= 1),
    "PC": lambda _, s: z3.Not(s.prefix_regress),
    "FD": lambda _, s: _each(s.forks, lambda i: s.fork_outcomes[i] == s.fork_values[i]),
    "CV": lambda _, s: _each(s.log_length, lambda i: s.log_valid[i]),
    "CO": lambda c, s: s.effects[c.gate] <= 1,
    "RD": _recovery_determinism,
}
"""The invariant of the reference, conjunct by conjunct. `IndCheck` in `spec/` is the same at finite bounds."""

GOALS = ("TypeOK", "LogIsPrefix", *PROPERTIES)
"""What has to be established: an invariant without one of these proves less than the contract."""


@dataclass(frozen=True, slots=True)
class Obligation:
    """One thing to prove: `refutation`, the formula that says it fails, must be unsatisfiable."""

    action: str
    conjunct: str
    refutation: Boolean

    @property
    def name(self) -> str:
        """The obligation's name in reports."""
        return f"{self.action}/{self.conjunct}"


@dataclass(frozen=True, slots=True)
class Proof:
    """The answers of the solvers to one obligation."""

    name: str
    z3: Answer
    cvc5: Answer | None
    """`None` if cvc5 wasn't asked."""
    model: Mapping[str, str]
    """z3's counterexample, by unknown; empty if it is proved."""

    @property
    def proved(self) -> bool:
        """Whether every solver that was asked says so."""
        return {self.z3, self.cvc5 or self.z3} == {Answer.UNSATISFIABLE}


def obligations(
    invariant: Mapping[str, Conjunct] = INVARIANT,
    faults: Faults = frozenset(),
    hooks: Hooks = REFERENCE_HOOKS,
) -> list[Obligation]:
    """What makes `invariant` inductive: one obligation per conjunct for the initial state and for each action."""
    constants, before, first = fresh_constants(), fresh_state("s"), initially()
    legal = constants_are_legal(constants)
    holds = [conjunct(constants, before) for conjunct in invariant.values()]
    found = [
        Obligation(INIT, name, z3.And(legal, z3.Not(conjunct(constants, first))))
        for name, conjunct in invariant.items()
    ]
    for action, step in transitions(constants, before, faults, hooks).items():
        for name, conjunct in invariant.items():
            broken = z3.Not(conjunct(constants, step.after))
            found.append(Obligation(action, name, z3.And(legal, *holds, step.enabled, broken)))
    return found


def liveness_obligations() -> list[Obligation]:
    """What makes every fair run complete: a rank that each action raises, a bound on it, and never a dead end.

    That a bounded rank which always rises, and no dead end short of completion, lead to completion under weak fairness
    is an argument on paper; these are its premises.
    """
    constants, before = fresh_constants(), fresh_state("s")
    premise = [constants_are_legal(constants), *(conjunct(constants, before) for conjunct in INVARIANT.values())]
    steps = transitions(constants, before)
    rank = _rank(before)
    bound = 2 * (constants.tasks + 1) + 1 + constants.resumes + constants.crashes + constants.extras
    rises = [
        Obligation(action, "rank rises", z3.And(*premise, step.enabled, _rank(step.after) <= rank))
        for action, step in steps.items()
    ]
    # A value to consume exists: the least one stands for "some value".
    some_value = z3.Int("value") == 1
    stuck = z3.Not(z3.Or([steps[action].enabled for action in ("ExecTask", "EmitInterrupt", "Consume")]))
    running = before.pc != constants.tasks + 1
    return [
        *rises,
        Obligation("any", "rank bounded", z3.And(*premise, rank > bound)),
        Obligation("any", "no dead end", z3.And(*premise, running, some_value, stuck)),
    ]


def _rank(state: SymbolicState) -> Integer:
    return 2 * state.pc + z3.If(state.waiting, 1, 0) + state.forks + state.crashes + state.extras


def prove(obligation: Obligation, *, second_opinion: bool = True) -> Proof:
    """Discharge one obligation with z3 and, as the second opinion, cvc5."""
    answer = ask_z3(obligation.refutation)
    other = ask_cvc5(obligation.refutation) if second_opinion else None
    model = counterexample(obligation.refutation) if answer is Answer.SATISFIABLE else {}
    return Proof(obligation.name, answer, other, model)


def unestablished(invariant: Mapping[str, Conjunct] = INVARIANT) -> tuple[str, ...]:
    """The goals that aren't among the conjuncts, so that proving the invariant wouldn't prove them."""
    return tuple(goal for goal in GOALS if goal not in invariant)


def vacuous_actions(faults: Faults = frozenset(), hooks: Hooks = REFERENCE_HOOKS) -> dict[str, Answer]:
    """The actions that the invariant doesn't show to be possible, with z3's answer: nothing was proved about those.

    An action is possible if a state of the invariant enables it. Small constants are enough, and keep z3 quick.
    """
    constants, before = Constants(*(z3.IntVal(number) for number in (3, 2, 2, 2, 2, 1))), fresh_state("s")
    holds = [conjunct(constants, before) for conjunct in INVARIANT.values()]
    answers = {
        action: ask_z3(z3.And(*holds, step.enabled))
        for action, step in transitions(constants, before, faults, hooks).items()
    }
    return {action: answer for action, answer in answers.items() if answer is not Answer.SATISFIABLE}
