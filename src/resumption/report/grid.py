"""A receipt as a grid: a line for each plane, path and backend, and in it a square for each property.

A square holds every cell of its property: all resume forms, and the facets beside the cell. Every report that shows a
matrix is made from this.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from resumption.contract.properties import OBLIGATIONS, Property
from resumption.contract.verdicts import Facet, Label, merge
from resumption.harness.receipts import Cell, Part
from resumption.report.marks import MARKS

__all__ = ["Line", "Square", "all_drills", "command", "headline", "lines", "meaning", "obligations", "story_cells"]


@dataclass(frozen=True, slots=True)
class Square:
    """Everything that was measured of one property in one line; the primary forms' cells come first."""

    column: Property
    cells: tuple[Cell, ...]

    @property
    def label(self) -> Label:
        """What the matrix shows: the primary forms' cells together; inconclusive if there is none."""
        return merge(cell.label for cell in self.cells if cell.primary and cell.facet is Facet.CELL)

    @property
    def window(self) -> Label | None:
        """What the primary forms' window facets say together; None where no one exercised it."""
        found = [cell.label for cell in self.cells if cell.primary and cell.facet is Facet.WINDOW]
        return merge(found) if found and merge(found) is not Label.VACUOUS else None

    @property
    def accepted(self) -> bool:
        """Whether a user accepted one of the cells."""
        return any(cell.accepted for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the matrix."""

    plane: str
    version: str
    path: str
    backend: str
    squares: dict[Property, Square]

    @property
    def name(self) -> str:
        """What the line is called: `langgraph 1.2.24 graph sqlite`."""
        return " ".join(filter(None, (self.plane, self.version, self.path, self.backend)))


def lines(cells: Iterable[Cell]) -> tuple[Line, ...]:
    """The lines of the matrix, in the order in which they were measured."""
    found: dict[tuple[str, str, str, str], dict[Property, list[Cell]]] = {}
    for cell in cells:
        line = found.setdefault((cell.plane, cell.version, cell.path, cell.backend), {})
        line.setdefault(cell.property, []).append(cell)
    return tuple(
        Line(
            *place,
            {property_: Square(property_, _ordered(line[property_])) for property_ in Property if property_ in line},
        )
        for place, line in found.items()
    )


def obligations(cells: Iterable[Cell]) -> tuple[Property, ...]:
    """The user obligations that were measured."""
    measured = {cell.property for cell in cells}
    return tuple(property_ for property_ in OBLIGATIONS if property_ in measured)


def story_cells(cells: Iterable[Cell]) -> list[list[Cell]]:
    """The breaches, the worst first: cells that breach one property in the same way together, the primary form first.

    The facets beside a cell come after all cells.
    """
    order = list(Label)
    groups: dict[tuple[object, ...], list[Cell]] = {}
    for cell in cells:
        if any(part.findings for part in cell.parts):
            groups.setdefault((cell.label, cell.property, cell.facet, cell.citations), []).append(cell)
    for found in groups.values():
        found.sort(key=lambda cell: not cell.primary)
    return sorted(groups.values(), key=lambda found: (found[0].facet is not Facet.CELL, order.index(found[0].label)))


def headline(cells: Iterable[Cell]) -> str:
    """What was measured: `langgraph 1.2.24, reference`, or `app:graph on langgraph 1.2.24` for a drill."""
    return ", ".join(dict.fromkeys(_measured(cell) for cell in cells))


def _measured(cell: Cell) -> str:
    return f"{cell.plane} on langgraph {cell.version}" if _is_drill(cell) else f"{cell.plane} {cell.version}".strip()


def _is_drill(cell: Cell) -> bool:
    """Whether a cell speaks of a user's own program: compared with a run without faults, not with what is promised."""
    return any(part.probe.startswith("drill/") for part in cell.parts)


def all_drills(cells: Sequence[Cell]) -> bool:
    """Whether cells speak of users' own programs alone."""
    return bool(cells) and all(map(_is_drill, cells))


def meaning(label: Label, cells: Sequence[Cell]) -> str:
    """What a label says of cells. A user's own program states nothing that a breach could contradict."""
    if label is Label.VIOLATES and all_drills(cells):
        return "the program did otherwise than in a run without faults"
    return MARKS[label].meaning


def command(cell: Cell, part: Part) -> str:
    """The command that measures again what a probe said of a cell; empty for what a drill found nothing in."""
    if _is_drill(cell):
        return "resumption replay RECEIPT" if part.findings else ""
    release = f"@{cell.version}" if cell.version else ""
    target = shlex.quote(f"{cell.plane}/{cell.path}[{cell.backend}]{release}")
    return f"resumption check {target} --probe {shlex.quote(part.probe)}"


def _ordered(cells: Sequence[Cell]) -> tuple[Cell, ...]:
    facets = list(Facet)
    return tuple(sorted(cells, key=lambda cell: (not cell.primary, facets.index(cell.facet))))
