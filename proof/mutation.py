"""Mutation of the shipped files: every mutant has to be refuted, and a mutant that crashes the tools isn't refuted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from proof.checking import check, demanded, refuted
from proof.mutants import Mutant, mutants
from proof.spec import Spec
from proof.symbolic import IllTyped, OutsideSubset
from proof.translate import translate

__all__ = ["Mutated", "mutate"]


@dataclass(slots=True)
class Mutated:
    """What became of a file's mutants."""

    unmutated: list[str] = field(default_factory=list)
    """Why the file as it is doesn't pass, in either of two passes; nothing else counts unless this is empty."""
    refuted: int = 0
    rejected: int = 0
    """Mutants that the translator refuses as ill-typed or outside the subset."""
    crashed: list[str] = field(default_factory=list)
    survived: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        """How many mutants there were."""
        return self.refuted + self.rejected + len(self.crashed) + len(self.survived)

    @property
    def clean(self) -> bool:
        """Whether the unmutated file passes and every mutant was caught."""
        return not (self.unmutated or self.crashed or self.survived)


def mutate(source: str, specs: Sequence[Spec]) -> Mutated:
    """Check a file twice as it is, and then each of its mutants."""
    found = Mutated()
    for _ in range(2):
        failures = (check(o, second_opinion=False) for o in demanded(translate(source), specs))
        found.unmutated += [str(failure) for failure in failures if failure]
    if found.unmutated:
        return found
    for mutant in mutants(source):
        try:
            caught = _caught(mutant, specs)
        except (IllTyped, OutsideSubset):
            found.rejected += 1
        except Exception as error:
            # The tools failing on a mutant is a defect of the tools, whatever the exception: it is reported as one.
            found.crashed.append(f"{mutant}: {type(error).__name__}: {error}")
        else:
            if caught:
                found.refuted += 1
            else:
                found.survived.append(str(mutant))
    return found


def _caught(mutant: Mutant, specs: Sequence[Spec]) -> bool:
    """Whether a mutant fails an obligation, by a solver's word; those of the mutated function are asked first."""
    module = translate(mutant.source)
    nearest_first = sorted(specs, key=lambda spec: spec.function != mutant.function)
    return any(refuted(obligation) for obligation in demanded(module, nearest_first))
