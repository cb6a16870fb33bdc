"""What a checker says about a run, and how two such sayings, or one and a published figure, are compared."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from resumption.model.published import Figure
from resumption.model.search import Violation

__all__ = ["Engine", "Result", "deviations", "disagreements"]


class Engine(StrEnum):
    """Which checker gave a result."""

    SEARCH = "search"
    PACKED = "packed"
    TLC = "TLC"


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of one run by one checker. Counts are `None` where the checker's own would not be comparable."""

    run: str
    engine: Engine
    generated: int | None
    distinct: int | None
    depth: int | None
    broken: str | None
    seconds: float
    violation: Violation[Any] | None = None

    def figures(self) -> dict[str, int | str | None]:
        """What can be compared."""
        return {
            "generated": self.generated,
            "distinct": self.distinct,
            "depth": self.depth,
            "broken": self.broken,
        }


def deviations(result: Result, figure: Figure) -> list[str]:
    """Where a result isn't what was published, in words; empty if it is. What isn't published can't deviate."""
    found = []
    for name in ("generated", "distinct", "depth"):
        expected, obtained = getattr(figure, name), getattr(result, name)
        if expected is not None and obtained != expected:
            found.append(f"{result.run}: {name} {obtained}, expected {expected}")
    if result.broken != figure.broken:
        found.append(f"{result.run}: {result.broken or 'nothing'} broke, expected {figure.broken or 'nothing'}")
    return found


def disagreements(one: Result, other: Result) -> list[str]:
    """Where two checkers of the same run differ, in words; empty if they agree on all that both give."""
    found = []
    for name, value in one.figures().items():
        opposite = other.figures()[name]
        both_known = name == "broken" or (value is not None and opposite is not None)
        if both_known and value != opposite:
            found.append(f"{one.run}: {name} {value} by {one.engine}, {opposite} by {other.engine}")
    return found
