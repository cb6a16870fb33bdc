"""Proposition 2: which properties of the contract don't imply which, derived from the runs.

P doesn't imply Q if some system keeps P and breaks Q. That system is the witness, and it counts only if it *exercises*
P: a system in which nothing forks says nothing about fork determinism. CO is taken in its two halves, count (CO-c) and
effects (CO-e), since they separate in both directions. Source: "Resume Means Resume" (arXiv 2608.03836).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from resumption.model.catalogue import MATRIX_BOUNDS
from resumption.model.machine import Machine, Predicate
from resumption.model.search import survey
from resumption.model.semantics import NOTHING, Bounds, Fault, State
from resumption.model.variants import ConsumeArm, Separation, consume_count, separations

__all__ = ["IMPLIED", "SPLIT_PROPERTIES", "Evidence", "Relation", "derive", "gather"]

SPLIT_PROPERTIES = ("EO", "PC", "FD", "CV", "CO-c", "CO-e", "RD")

IMPLIED: Mapping[tuple[str, str], str] = {
    ("EO", "CO-e"): "the gate's effect is one of the effects that EO counts",
}
"""The one implication among them: it follows from the definitions."""


def _compared_recoveries(state: State) -> bool:
    found = [recovery.durable for recovery in state.recoveries]
    return len(set(found)) < len(found)


EXERCISED: Mapping[str, Predicate[State]] = {
    "EO": lambda state: any(state.effects),
    "PC": lambda state: bool(state.recoveries),
    "FD": lambda state: bool(state.fork_values),
    "CV": lambda state: bool(state.log),
    "CO-c": lambda state: state.consumed != NOTHING,
    "CO-e": lambda state: state.extras > 0,
    "RD": _compared_recoveries,
}
"""What some state has to show for a property to have been put to the test."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one system shows: which properties it breaks, and which it keeps having exercised them."""

    system: str
    broken: Mapping[str, int]
    kept: frozenset[str]
    vacuous: frozenset[str]
    """Properties that hold for want of exercise; they witness nothing."""


@dataclass(frozen=True, slots=True)
class Relation:
    """What is known about one ordered pair: a witness against the implication, a reason for it, or neither."""

    premise: str
    conclusion: str
    witness: str | None
    reason: str | None

    @property
    def decided(self) -> bool:
        """Whether there is a witness or a reason."""
        return self.witness is not None or self.reason is not None


def _systems(bounds: Bounds) -> Mapping[str, Machine[Any]]:
    """The systems that break something: the faults, the races, and the separations (which don't count consumptions)."""
    reference = ConsumeArm.REFERENCE
    return {
        **{fault.value: consume_count(bounds, reference, frozenset({fault})) for fault in Fault},
        "Race": consume_count(bounds, ConsumeArm.RACE),
        "FiringRace": consume_count(bounds, ConsumeArm.FIRING),
        **{separation.value: separations(bounds, separation) for separation in Separation},
    }


def gather(bounds: Bounds = MATRIX_BOUNDS) -> list[Evidence]:
    """Survey every system at these bounds."""
    found = []
    for name, machine in _systems(bounds).items():
        claims: dict[str, Predicate[Any]] = {
            ("CO-e" if code == "CO" else code): holds for code, holds in machine.invariants.items()
        }
        measured = [code for code in SPLIT_PROPERTIES if code in claims]
        checks = {code: claims[code] for code in measured}
        # "Exercised" is reachability: the claim that no state exercises the property has to break.
        checks |= {f"never {code}": _negated(EXERCISED[code]) for code in measured}
        broken = survey(machine, checks).broken
        holding = [code for code in measured if code not in broken]
        kept = frozenset(code for code in holding if f"never {code}" in broken)
        breaches = {code: broken[code] for code in measured if code in broken}
        found.append(Evidence(name, breaches, kept, frozenset(holding) - kept))
    return found


def _negated(predicate: Predicate[State]) -> Predicate[State]:
    return lambda state: not predicate(state)


def derive(evidence: list[Evidence]) -> list[Relation]:
    """Every ordered pair of properties with the first system that separates it, or the reason why none can."""
    relations = []
    for premise, conclusion in permutations(SPLIT_PROPERTIES, 2):
        separating = (e.system for e in evidence if premise in e.kept and conclusion in e.broken)
        reason = IMPLIED.get((premise, conclusion))
        relations.append(Relation(premise, conclusion, next(separating, None), reason))
    return relations
