"""The shapes of what the page shows: plain data for its template."""

from __future__ import annotations

from dataclasses import dataclass

from resumption.contract.profiles import Separation
from resumption.contract.properties import Property
from resumption.contract.verdicts import Label, Step
from resumption.report.grid import Line
from resumption.report.lanes import Lanes

__all__ = ["Apart", "Breach", "Contribution", "Opened", "Quoted", "Section", "Shown", "Table", "Told"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One matrix of the page."""

    caption: str
    columns: tuple[Property, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A finding with its story."""

    summary: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    """A statement that a label rests on."""

    id: str
    bears: str
    text: str
    place: str
    read: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """What one probe contributed to a cell, with the numbers of the page's histories behind it."""

    probe: str
    label: Label
    trials: int
    does: str
    expects: str
    source: str
    note: str
    reason: str
    command: str
    stories: tuple[Told, ...]
    histories: tuple[int, ...]
    """The one that the first story is told of comes first."""
    told: tuple[int, ...]
    """Numbers of the events of the first story."""
    drawn: Lanes | None
    """The first history as lanes, for readers without scripts, around its story if it is long; None without a story."""
    drawn_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One cell of a square."""

    title: str
    label: Label
    accepted: str
    parts: tuple[Contribution, ...]
    citations: tuple[Quoted, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A square of the matrix, opened."""

    property: Property
    label: Label
    anchor: str
    gist: str
    cells: tuple[Shown, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A line of the matrix, opened."""

    plane: str
    name: str
    squares: tuple[Opened, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """Cells that breach one property in the same way, in one sentence."""

    label: Label
    name: str
    place: str
    summary: str
    anchor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """One line of the matrix, and what tells it apart from each line."""

    number: int
    name: str
    separations: tuple[Separation | None, ...]
    """None stands where the line would be compared with itself."""
