"""What is demanded of a function: the meaning of each outcome, and laws about it; and the obligations that follow.

A `Case` says when an outcome is due, in terms of the arguments alone and without an order of cases. Cases have to cover
everything and to exclude one another, so together they determine the function: any second function that meets them is
equal to it. Laws are what the cases are *for*: sentences of the contract, about one call or several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import z3

from proof.symbolic import Function, Module
from proof.terms import BOOL, Term, constant, equal, variable

__all__ = ["Case", "Given", "Law", "Obligation", "Spec", "obligations"]


class Given:
    """The arguments of a call by name: formulas for bools and ints, terms for strings and optionals."""

    def __init__(self, terms: Mapping[str, Term]) -> None:
        self._terms = terms

    def __getattr__(self, name: str) -> Any:
        term = self._terms[name]
        return term.value if not term.sort.optional and term.sort.name in ("int", "bool") else term


@dataclass(frozen=True, slots=True)
class Case:
    """One outcome and when it is due. The outcome is a member's name, a bool, a named string, or a term."""

    outcome: str | bool | Term
    due: Any
    name: str = ""

    def __str__(self) -> str:
        return self.name or str(self.outcome)


Law = Callable[[Module], Any]
"""A formula about calls of the module's functions, which must be valid."""


@dataclass(frozen=True, slots=True)
class Spec:
    """What is demanded of one function."""

    function: str
    cases: Callable[[Given], tuple[Case, ...]]
    laws: Mapping[str, Law] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Obligation:
    """One formula: `refutation` must be unsatisfiable or, for a `witness`, satisfiable."""

    name: str
    refutation: Any
    witness: bool = False


def obligations(module: Module, spec: Spec) -> Iterator[Obligation]:
    """Everything that has to be shown of a function. Raises `KeyError` if the module lacks it."""
    function = module.functions[spec.function]
    arguments = function.variables()
    run = function.run(arguments)
    cases = spec.cases(Given(arguments))
    at = f"{function.name}: "
    for number, need in enumerate(run.needs, 1):
        yield Obligation(f"{at}total, use {number} of an optional", z3.Not(need))
    for leaf in run.leaves:
        yield Obligation(f"{at}line {leaf.line} is reached", leaf.condition, witness=True)
    for case in cases:
        wrong = z3.Not(equal(run.value, _outcome(case, function)))
        yield Obligation(f"{at}{case} when it is due", z3.And(case.due, wrong))
        yield Obligation(f"{at}case {case} is possible", case.due, witness=True)
    yield Obligation(f"{at}cases cover everything", z3.Not(z3.Or([case.due for case in cases])))
    for one, other in combinations(cases, 2):
        yield Obligation(f"{at}cases {one} and {other} exclude each other", z3.And(one.due, other.due))
    if function.result.members:
        yield from _names_every_branch(function, run.leaves, cases, at)
    yield _determined(function, run.value, cases, at)
    for name, law in spec.laws.items():
        yield Obligation(f"{at}{name}", z3.Not(law(module)))


def _names_every_branch(
    function: Function, leaves: list[Any], cases: tuple[Case, ...], at: str
) -> Iterator[Obligation]:
    """Each member is one case and one `return`, so that a log names the branch by printing the outcome."""
    named = sorted(str(case.outcome) for case in cases) == sorted(function.result.members)
    one_each = len(leaves) == len(function.result.members)
    yield Obligation(f"{at}each branch has a name of its own", z3.BoolVal(not (named and one_each)))


def _determined(function: Function, value: Term, cases: tuple[Case, ...], at: str) -> Obligation:
    """A second function that meets all cases equals the first, at any arguments."""
    other = variable("other", function.result)
    meets = [z3.Implies(case.due, equal(other, _outcome(case, function))) for case in cases]
    return Obligation(f"{at}nothing is left unstated", z3.And(*meets, z3.Not(equal(other, value))))


def _outcome(case: Case, function: Function) -> Term:
    if isinstance(case.outcome, Term):
        return case.outcome
    if isinstance(case.outcome, bool):
        return constant(BOOL, case.outcome)
    if function.result.members:
        return constant(function.result, case.outcome)
    return function.module.constants[case.outcome]
