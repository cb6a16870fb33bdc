"""The footprint of each fault for *all* constants: which properties it breaks, and which it provably leaves alone.

A failed obligation isn't a footprint: under a replay fault the reference invariant breaks also where the property in
question still holds. So each clean cell is proved with an invariant made for that fault, and each dirty cell is refuted
by the shortest run from the initial state (bounded model checking with z3, at the constants of Table III; one set of
constants is enough to refute a claim about all).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import z3

from resumption.model.catalogue import MATRIX_BOUNDS
from resumption.model.induction import INVARIANT, Conjunct, Proof, obligations, prove
from resumption.model.semantics import NOTHING, PROPERTIES, Bounds, Fault
from resumption.model.symbolic import Boolean, Constants, SymbolicState, fresh_state, initially, transitions

__all__ = ["FAULT_INVARIANTS", "Footprint", "footprint", "shortest_refutations"]


def _restarts(_: Constants, state: SymbolicState) -> Boolean:
    """Every recovery started over."""
    index = z3.Int("i")
    in_range = z3.And(index >= 1, index <= state.recoveries)
    return z3.ForAll([index], z3.Implies(in_range, state.resumed_at[index] == 1))


def _gate_unfired(constants: Constants, state: SymbolicState) -> Boolean:
    """The gate's effect doesn't fire before its decision is consumed."""
    return z3.Implies(state.consumed == NOTHING, state.effects[constants.gate] == 0)


def _reference_without(*names: str) -> dict[str, Conjunct]:
    return {name: conjunct for name, conjunct in INVARIANT.items() if name not in names}


def _only(*names: str) -> dict[str, Conjunct]:
    return {name: INVARIANT[name] for name in names}


FAULT_INVARIANTS: Mapping[Fault, Mapping[str, Conjunct]] = {
    Fault.REPLAY: {**_only("FD", "CV", "RD"), "Restarts": _restarts},
    Fault.PREFIX_REPLAY: {
        **_only("FD", "CV", "CO", "RD", "Parked"),
        "Restarts": _restarts,
        "GateUnfired": _gate_unfired,
    },
    Fault.FORK_IGNORE: _reference_without("FD"),
    Fault.INVALID_PERSIST: _reference_without("CV"),
    Fault.DOUBLE_CONSUME: _reference_without("Effects", "EO", "CO"),
    Fault.NONDET_RECOVERY: _only("FD", "CV"),
}
"""For each fault, an invariant that holds under it. The properties in it are the fault's clean cells."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """What is known of one fault."""

    fault: Fault
    proofs: tuple[Proof, ...]
    """The obligations that make the fault's invariant inductive, for all constants."""
    clean: frozenset[str]
    """The properties proved to hold under the fault."""
    refuted: Mapping[str, int]
    """The properties that break, with the depth of a shortest run from the initial state."""

    @property
    def complete(self) -> bool:
        """Whether every property is decided, and everything that was to be proved is."""
        decided = self.clean | set(self.refuted) == set(PROPERTIES)
        return decided and not self.clean & set(self.refuted) and all(proof.proved for proof in self.proofs)


def footprint(fault: Fault, *, second_opinion: bool = True) -> Footprint:
    """Prove the fault's clean cells for all constants and refute the others."""
    invariant = FAULT_INVARIANTS[fault]
    proofs = tuple(
        prove(obligation, second_opinion=second_opinion) for obligation in obligations(invariant, frozenset({fault}))
    )
    failed = {proof.name.partition("/")[2] for proof in proofs if not proof.proved}
    # Conjuncts of one invariant lean on each other: if one of them fails, none of them is proved.
    clean = frozenset() if failed else frozenset(code for code in PROPERTIES if code in invariant)
    refuted = shortest_refutations(fault, [code for code in PROPERTIES if code not in invariant])
    return Footprint(fault, proofs, clean, refuted)


def shortest_refutations(
    fault: Fault, codes: Collection[str], bounds: Bounds = MATRIX_BOUNDS, limit: int = 10
) -> dict[str, int]:
    """The depth at which each property first breaks; a property that holds up to `limit` states is left out."""
    numbers = (bounds.tasks, bounds.gate, bounds.values, bounds.resumes, bounds.crashes, bounds.extras)
    constants = Constants(*(z3.IntVal(number) for number in numbers))
    solver = z3.Solver()
    state, refuted = initially(), dict[str, int]()
    for depth in range(1, limit + 1):
        for code in codes:
            if code not in refuted and solver.check(z3.Not(INVARIANT[code](constants, state))) == z3.sat:
                refuted[code] = depth
        if len(refuted) == len(codes):
            break
        following = fresh_state(f"s{depth}")
        steps = transitions(constants, state, frozenset({fault}), suffix=str(depth)).values()
        solver.add(z3.Or([z3.And(step.enabled, following.equals(step.after)) for step in steps]))
        state = following
    return refuted
