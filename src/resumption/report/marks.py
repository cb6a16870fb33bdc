"""How a label is written: a symbol that reads without colour, a word, and what it means."""

from __future__ import annotations

from dataclasses import dataclass

from resumption.contract.verdicts import Label

__all__ = ["MARKS", "Mark"]


@dataclass(frozen=True, slots=True)
class Mark:
    """One label as readers see it. `plain` stands for the symbol where the terminal knows ASCII only."""

    symbol: str
    plain: str
    style: str
    word: str
    meaning: str


MARKS: dict[Label, Mark] = {
    Label.VIOLATES: Mark(
        "✗", "X", "bold red", "violates", "a breach that contradicts what the framework states, or corrupts in silence"
    ),
    Label.UNDOCUMENTED: Mark("U", "U", "magenta", "undocumented", "a breach that nothing citable promises or admits"),
    Label.DIVERGENT: Mark("D", "D", "yellow", "divergent", "a breach that the framework documents as its discipline"),
    Label.INCONCLUSIVE: Mark("?", "?", "bold yellow", "inconclusive", "the harness could not tell; never a pass"),
    Label.NOT_RUN: Mark("·", ".", "bold yellow", "not run", "not measured here and now; never a pass"),
    Label.HOLDS: Mark("✓", "+", "green", "holds", "exercised, and kept"),
    Label.VACUOUS: Mark("∅", "0", "dim", "vacuous", "nothing happened that could have exercised it"),
    Label.NOT_APPLICABLE: Mark("–", "-", "dim", "not applicable", "the plane lacks the machinery"),
}
"""Every label's mark, in the order in which labels win when they are merged."""
