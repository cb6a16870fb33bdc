"""What a judge says (`Judgement`), what a cell is called (`Label`), and how cells merge.

A judge *measures*; the classification rule (`contract.classification`) *labels*. The two never mix: a judge does not
know what a framework documents, and the rule does not look at events.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from resumption.contract.properties import Property

__all__ = ["Facet", "Finding", "Judgement", "Label", "Measured", "Step", "merge", "merge_measured"]


class Measured(StrEnum):
    """What a judge found in one history."""

    CONFORMS = "conforms"
    BREACHES = "breaches"
    UNEXERCISED = "unexercised"
    UNDETERMINED = "undetermined"


class Label(StrEnum):
    """What a cell of the matrix is called."""

    VIOLATES = "violates"
    UNDOCUMENTED = "undocumented"
    DIVERGENT = "divergent"
    INCONCLUSIVE = "inconclusive"
    NOT_RUN = "not_run"
    HOLDS = "holds"
    VACUOUS = "vacuous"
    NOT_APPLICABLE = "not_applicable"


class Facet(StrEnum):
    """A part of a property that is measured, and shown, on its own.

    `CELL` is what the matrix shows. `WINDOW` is effect exactly-once between an effect and its durable record, which
    no framework can close by itself. `RACE` is effect exactly-once where two operations on one run were under way at
    once. `ORDER` is recovery determinism across the two orders in which an unordered pair of writes may have become
    durable. All three stand beside the cell and are never merged into it.
    """

    CELL = "cell"
    WINDOW = "window"
    RACE = "race"
    ORDER = "order"


@dataclass(frozen=True, slots=True)
class Step:
    """One sentence of a causal story, about the numbered event that it is anchored to."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One breach, told as a story over numbered events."""

    summary: str
    story: tuple[Step, ...]
    silent_corruption: bool = False
    """Whether the breach is a state that breaks its schema and was stored without an error at the write."""

    def __str__(self) -> str:
        return "\n".join([self.summary, *(f"  #{step.number} {step.text}" for step in self.story)])


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one judge says of one history.

    `witnesses` are the numbers of the events that exercised the property: a `conforms` without any can't be built.
    """

    property: Property
    measured: Measured
    facet: Facet = Facet.CELL
    witnesses: tuple[int, ...] = ()
    findings: tuple[Finding, ...] = ()
    reason: str = ""

    def __post_init__(self) -> None:
        if self.measured is Measured.CONFORMS and not self.witnesses:
            raise ValueError(f"a judgement that {self.property} conforms must name its witnesses")
        if (self.measured is Measured.BREACHES) != bool(self.findings):
            raise ValueError(f"a judgement on {self.property} has findings exactly if it says breaches")
        if self.measured in {Measured.UNEXERCISED, Measured.UNDETERMINED} and not self.reason:
            raise ValueError(f"a judgement on {self.property} that says {self.measured} must say why")


# The order in which labels win when the parts of a cell are merged: what a reader must not miss comes first.
_MERGE_ORDER = tuple(Label)
_MEASURED_ORDER = (Measured.BREACHES, Measured.UNDETERMINED, Measured.CONFORMS, Measured.UNEXERCISED)


def merge(labels: Iterable[Label]) -> Label:
    """Return the label of a cell made of parts; the merge of nothing is `inconclusive`, never a pass."""
    return min(labels, key=_MERGE_ORDER.index, default=Label.INCONCLUSIVE)


def merge_measured(measured: Iterable[Measured]) -> Measured:
    """Return what several histories say together; nothing at all is `undetermined`."""
    return min(measured, key=_MEASURED_ORDER.index, default=Measured.UNDETERMINED)
