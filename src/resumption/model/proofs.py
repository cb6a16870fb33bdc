"""Everything that is proved for all bounds, as sections of one report. Needs the extra `prove` when it is called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from time import perf_counter
from typing import TYPE_CHECKING, Any

from resumption.errors import ToolMissing
from resumption.model.published import FOOTPRINTS
from resumption.model.semantics import Fault

if TYPE_CHECKING:
    from resumption.model.induction import Obligation, Proof

__all__ = ["CVC5_MISSING", "Section", "prove_all"]

CVC5_MISSING = "cvc5 isn't installed: proved by z3 alone, without a second opinion. pip install '.[prove]'."


@dataclass(frozen=True, slots=True)
class Section:
    """One group of obligations, and what failed of it."""

    title: str
    obligations: int
    failures: tuple[str, ...]
    solvers: tuple[str, ...]
    seconds: float

    def document(self) -> dict[str, Any]:
        """The section for a JSON report."""
        counts = {"title": self.title, "obligations": self.obligations, "failures": list(self.failures)}
        return {**counts, "solvers": list(self.solvers), "seconds": round(self.seconds, 2)}


def prove_all(*, second_opinion: bool = True) -> list[Section]:
    """Discharge every obligation. Raises `ToolMissing` without z3; without cvc5, z3 is alone: see `Section.solvers`."""
    if find_spec("z3") is None:
        raise ToolMissing("The proofs need z3.", advice="Install the extra: pip install '.[prove]'.")
    from resumption.model.induction import liveness_obligations, obligations
    from resumption.model.intent import fork_intent_obligations, keyed_responder_obligations

    second_opinion = second_opinion and find_spec("cvc5") is not None
    intent = [*fork_intent_obligations(), *keyed_responder_obligations()]
    return [
        _discharge("The invariant, and with it the six properties, is inductive", obligations(), second_opinion),
        _shape(),
        _discharge("Every fair run completes: premises of the rank argument", liveness_obligations(), second_opinion),
        *(_footprint(fault, second_opinion) for fault in Fault),
        _discharge("Proposition 1: fork intent needs a discriminator", intent, second_opinion),
    ]


def _discharge(title: str, goals: Sequence[Obligation], second_opinion: bool) -> Section:
    from resumption.model.induction import prove

    begin = perf_counter()
    proofs = [prove(goal, second_opinion=second_opinion) for goal in goals]
    return Section(title, len(proofs), _failures(proofs), _solvers(second_opinion), perf_counter() - begin)


def _failures(proofs: Sequence[Proof]) -> tuple[str, ...]:
    return tuple(f"{p.name} (z3: {p.z3}, cvc5: {p.cvc5 or 'not asked'})" for p in proofs if not p.proved)


def _solvers(second_opinion: bool) -> tuple[str, ...]:
    return ("z3", "cvc5") if second_opinion else ("z3",)


def _shape() -> Section:
    """That the proof is about what it should be about: every property is a conjunct, every action is possible."""
    from resumption.model.induction import INVARIANT, unestablished, vacuous_actions

    begin = perf_counter()
    missing = [f"{goal} is no conjunct of the invariant" for goal in unestablished(INVARIANT)]
    vacuous = [f"{action} is never enabled ({answer})" for action, answer in vacuous_actions().items()]
    title = "The proof isn't vacuous: every action is possible under the invariant"
    return Section(title, 6, (*missing, *vacuous), ("z3",), perf_counter() - begin)


def _footprint(fault: Fault, second_opinion: bool) -> Section:
    from resumption.model.footprints import footprint

    begin = perf_counter()
    found = footprint(fault, second_opinion=second_opinion)
    failures = list(_failures(found.proofs))
    if not found.complete:
        failures.append("not every property is decided")
    if dict(found.refuted) != dict(FOOTPRINTS[fault.value]):
        failures.append(f"breaks {dict(found.refuted)}, published {dict(FOOTPRINTS[fault.value])}")
    broken = ", ".join(f"{code} at {depth}" for code, depth in found.refuted.items())
    clean = ", ".join(sorted(found.clean))
    title = f"{fault}: {clean} hold for all bounds; {broken} refuted"
    count, seconds = len(found.proofs) + len(found.refuted), perf_counter() - begin
    return Section(title, count, tuple(failures), _solvers(second_opinion), seconds)
