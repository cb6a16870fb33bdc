"""Putting obligations to the solvers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from proof.spec import Obligation, Spec, obligations
from proof.symbolic import Module
from resumption.model.solvers import Answer, ask_cvc5, ask_z3, counterexample

__all__ = ["Failure", "check", "demanded", "refuted"]


@dataclass(frozen=True, slots=True)
class Failure:
    """An obligation that isn't met, and why: a counterexample, or what a solver said instead."""

    obligation: str
    why: str

    def __str__(self) -> str:
        return f"{self.obligation}: {self.why}"


def demanded(module: Module, specs: Iterable[Spec]) -> Iterator[Obligation]:
    """Every obligation of a file. A function that nothing is demanded of is one that can't be met."""
    specs = tuple(specs)
    for spec in specs:
        yield from obligations(module, spec)
    for name in sorted(set(module.functions) ^ {spec.function for spec in specs}):
        yield Obligation(f"{name}: is both in the file and in its spec", True)


def check(obligation: Obligation, *, second_opinion: bool) -> Failure | None:
    """Ask z3 and, as the second opinion, cvc5; None if the obligation is met by all that were asked."""
    expected = Answer.SATISFIABLE if obligation.witness else Answer.UNSATISFIABLE
    said = ask_z3(obligation.refutation)
    if said is not expected:
        model = counterexample(obligation.refutation)
        return Failure(obligation.name, f"z3 says {said}" + (f": {model}" if model else ""))
    if second_opinion and (other := ask_cvc5(obligation.refutation)) is not expected:
        return Failure(obligation.name, f"z3 says {said}, but cvc5 says {other}")
    return None


def refuted(obligation: Obligation) -> bool:
    """Whether z3 shows that the obligation isn't met. That it can't tell is no refutation."""
    expected = Answer.UNSATISFIABLE if obligation.witness else Answer.SATISFIABLE
    return ask_z3(obligation.refutation) is expected
