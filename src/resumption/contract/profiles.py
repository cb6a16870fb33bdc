"""Profiles: what the cells of one plane say together, and what tells two planes apart.

Two planes are separated *behaviourally* only by a property that is seen to hold on one and is labelled `violates` or
`divergent` on the other. A breach that nothing citable promises or admits (`undocumented`) separates nothing by itself,
for the framework may never have meant it; nor does a cell that nothing exercised (`vacuous`), or that couldn't be told.
Any other difference is *structural*: one plane lacks the machinery, or documents its breach where the other denies it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

from resumption.contract.properties import CONTRACT, Property
from resumption.contract.verdicts import Label

__all__ = ["Profile", "Separation", "separate", "separations"]

_BREACHES = {Label.VIOLATES, Label.DIVERGENT}
_SAY_NOTHING = {Label.UNDOCUMENTED, Label.VACUOUS, Label.INCONCLUSIVE, Label.NOT_RUN}


@dataclass(frozen=True, slots=True)
class Profile:
    """The row of one plane: a label for each property that was measured."""

    plane: str
    labels: Mapping[Property, Label]


@dataclass(frozen=True, slots=True)
class Separation:
    """What tells two planes apart: the properties of each kind, in the order of the contract."""

    behavioural: tuple[Property, ...] = ()
    structural: tuple[Property, ...] = ()


def separate(left: Profile, right: Profile) -> Separation:
    """What tells two planes apart, over the nine columns of the contract."""
    pairs = {
        property_: {left.labels[property_], right.labels[property_]}
        for property_ in CONTRACT
        if property_ in left.labels and property_ in right.labels
    }
    behavioural = tuple(property_ for property_, pair in pairs.items() if _is_behavioural(pair))
    return Separation(
        behavioural,
        tuple(
            property_
            for property_, pair in pairs.items()
            if len(pair) > 1 and not pair & _SAY_NOTHING and property_ not in behavioural
        ),
    )


def _is_behavioural(pair: set[Label]) -> bool:
    return Label.HOLDS in pair and bool(pair & _BREACHES)


def separations(profiles: Iterable[Profile]) -> dict[tuple[str, str], Separation]:
    """What tells each two of the planes apart, by their names."""
    return {(left.plane, right.plane): separate(left, right) for left, right in combinations(profiles, 2)}
