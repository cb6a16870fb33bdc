"""The published figures, as data: what every run is expected to give.

Figures of the paper "Resume Means Resume" (arXiv 2608.03836) are marked `Source.PAPER`. Those marked `Source.HERE` have
no printed counterpart that we know of: they are our own, obtained by two checkers, and kept so that a change shows.
`model check` and the tests compare against this module, so a wrong figure here makes them fail.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

__all__ = [
    "CONSUME_FOOTPRINTS",
    "FIGURES",
    "FOOTPRINTS",
    "FOOTPRINTS_AT_R8",
    "PARKED_FOOTPRINTS",
    "SEPARATION_FOOTPRINTS",
    "SPACES",
    "SPACES_AT_R8",
    "Figure",
    "Source",
]


class Source(StrEnum):
    """Who says so."""

    PAPER = "paper"
    HERE = "here"


@dataclass(frozen=True, slots=True)
class Figure:
    """The expected result of one run: `None` where no figure is known, and in `broken` where all claims hold."""

    generated: int | None
    distinct: int | None
    depth: int | None
    broken: str | None = None
    source: Source = Source.PAPER
    note: str = ""


HERE = Source.HERE

FIGURES: Mapping[str, Figure] = {
    "R0": Figure(87, 59, 8),
    "R1": Figure(7, 7, 4, "EO"),
    "R2": Figure(10, 10, 5, "FD"),
    "R3": Figure(8, 8, 5, "CV"),
    "R4": Figure(10, 10, 4, "RD"),
    "R5": Figure(20, 20, 6, "CO"),
    "R6": Figure(87, 59, 8),
    "R7": Figure(243, 153, 12, source=HERE),
    "R7-F": Figure(4, 4, 3, "StateRebuilt", source=HERE),
    "R8": Figure(14_753_520, 7_435_360, 24),
    "R8-F": Figure(None, None, 8, "FD", note="the paper prints 5 to 9: traces of several workers, not minimal ones"),
    "R8-D": Figure(None, None, 13, "CO"),
    "R9": Figure(7, 7, 4, "EO"),
    "R9-space": Figure(287, 183, None),
    "R9W": Figure(45, 35, 7, "NoPrefixEffectAfterGate"),
    "R10-Regate": Figure(389, 229, None),
    "R10-Rebuild": Figure(243, 153, None),
    "R10-Redeliver": Figure(175, 115, None),
    "R11-reference": Figure(87, 59, 8),
    "R11-race": Figure(127, 95, None),
    "R11-firing": Figure(127, 95, 8, source=HERE),
    "R11-wide": Figure(None, 8191, None),
    "Parked-durable": Figure(88, 59, None),
    "Parked-volatile": Figure(88, 60, None, "EventuallyCompletes"),
    "LGF-A": Figure(5, 5, 3, "FD"),
    "LGF-B": Figure(7, 7, 3),
    "FI-without": Figure(512, 256, 1, source=HERE),
    "FI-with": Figure(None, None, 1, "NoResponder", source=HERE),
    "IndCheck-1": Figure(776, 312, 1, source=HERE),
    "IndCheck-2": Figure(14_307, 5_292, 1, source=HERE),
    "IndCheck-3": Figure(194, 105, 1, source=HERE),
}

FOOTPRINTS: Mapping[str, Mapping[str, int]] = {
    "Replay": {"EO": 4, "PC": 4, "CO": 7},
    "PrefixReplay": {"EO": 4, "PC": 4},
    "ForkIgnore": {"FD": 5},
    "InvalidPersist": {"CV": 5},
    "DoubleConsume": {"EO": 6, "CO": 6},
    "NondetRecovery": {"EO": 4, "PC": 4, "CO": 7, "RD": 4},
}
"""Table III: the properties that each fault breaks, with the depth of the shortest counterexample. All others hold."""

SPACES: Mapping[str, tuple[int, int]] = {"PrefixReplay": (287, 183), "NondetRecovery": (690, 438)}
"""Generated and distinct states of the whole spaces that the paper prints for the clean cells of Table III."""

FOOTPRINTS_AT_R8: Mapping[str, Mapping[str, int]] = {
    "Replay": {"EO": 4, "PC": 4, "CO": 13},
    "PrefixReplay": {"EO": 4, "PC": 4},
    "ForkIgnore": {"FD": 8},
    "InvalidPersist": {"CV": 12},
    "DoubleConsume": {"EO": 13, "CO": 13},
    "NondetRecovery": {"EO": 4, "PC": 4, "CO": 13, "RD": 4},
}
"""Table III again at the constants of R8: the same properties, deeper."""

SPACES_AT_R8: Mapping[str, int] = {
    "Replay": 148_691_686,
    "PrefixReplay": 148_691_686,
    "ForkIgnore": 7_435_360,
    "InvalidPersist": 7_435_360,
    "DoubleConsume": 7_435_360,
    "NondetRecovery": 817_130_586,
    "reference": 7_435_360,
}
"""Distinct states at the constants of R8, by fault."""

SEPARATION_FOOTPRINTS: Mapping[str, Mapping[str, int]] = {
    "Regate": {"RD": 6},
    "Rebuild": {"PC": 4},
    "Redeliver": {"EO": 3},
}
"""R10: the one property that each separating deviation breaks, with its depth."""

CONSUME_FOOTPRINTS: Mapping[str, Mapping[str, Mapping[str, int]]] = {
    "reference": {
        "reference": {},
        "race": {"CO-c": 5},
        "firing": {"EO": 5, "CO-c": 5, "CO-e": 5},
        "extra": {"EO": 6, "CO-e": 6},
    },
    "wide": {
        "reference": {},
        "race": {"CO-c": 6},
        "firing": {"EO": 6, "CO-c": 6, "CO-e": 6},
        "extra": {"EO": 9, "CO-e": 9},
    },
}
"""R11 by bounds and arm. The paper prints the race; the other arms are ours."""

PARKED_FOOTPRINTS: Mapping[str, Mapping[str, Mapping[str, int]]] = {
    "durable": FOOTPRINTS,
    "volatile": {**FOOTPRINTS, "reference": {"EventuallyCompletes": 5}},
}
"""Crashes while parked, by kind of parking: no further property breaks, but a run parked in a process may hang."""
