"""The stories of what was found: one for each cell, with the statements that its label rests on."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from resumption.contract.properties import STATEMENTS, Property
from resumption.contract.verdicts import Facet, Finding, Label
from resumption.harness.receipts import Cell
from resumption.planes.statements import Bears
from resumption.report.marks import MARKS
from resumption.report.text import hang, heading, mark
from resumption.report.view import View, place, where

__all__ = ["print_citations", "print_findings"]

_STORY = 4  # columns that a story is indented by

_Group = tuple[Label, Property, Facet, tuple[str, ...]]


def print_findings(view: View, console: Console) -> None:
    """Print the breaches, the worst first.

    Cells that breach one property in the same way are told together, and one story is told of them: the first one of
    the primary form. With `verbose`, every story of every cell is told.
    """
    groups = _groups(view)
    if not groups:
        return
    heading(console, "Findings (events of one history are numbered in the order in which they were written)")
    for (label, property_, facet, citations), cells in groups:
        _print_title(console, label, property_, facet, cells)
        if citations:
            hang(console, Text(" " * _STORY + "rests on"), ", ".join(citations), indent=_STORY + 9)
        for cell in cells if view.verbose else cells[:1]:
            _print_stories(console, cell, verbose=view.verbose)


def print_citations(view: View, console: Console) -> None:
    """Print, word for word, the statements that the labels of breaches rest on."""
    used = dict.fromkeys((cell.plane, citation) for cell in view.cells for citation in cell.citations)
    known = {(plane, citation.id): citation for plane, found in view.citations.items() for citation in found}
    shown = [known[key] for key in used if key in known]
    if not shown:
        return
    heading(console, "What the frameworks state")
    for citation in shown:
        bears = "promises" if citation.bears is Bears.PROMISE else "admits less"
        hang(console, Text(), f" {citation.id} ({bears})", indent=0)
        hang(console, Text(), f"“{citation.text}”", indent=_STORY)
        hang(console, Text(), f"{citation.place}, read {citation.read}", indent=_STORY, style="dim")


def _groups(view: View) -> list[tuple[_Group, list[Cell]]]:
    groups: dict[_Group, list[Cell]] = {}
    for cell in view.cells:
        if _findings(cell):
            groups.setdefault((cell.label, cell.property, cell.facet, cell.citations), []).append(cell)
    order = list(Label)
    for cells in groups.values():
        cells.sort(key=lambda cell: not cell.primary)
    return sorted(groups.items(), key=lambda group: (group[0][2] is not Facet.CELL, order.index(group[0][0])))


def _print_title(console: Console, label: Label, property_: Property, facet: Facet, cells: Sequence[Cell]) -> None:
    name = f" {property_}" + (f" {facet}" if facet is not Facet.CELL else "")
    title = Text(" ") + mark(console, label) + Text(f"{name} {MARKS[label].word}: ", style="bold")
    hang(console, title, f"{STATEMENTS[property_].name}, on {place(cells)}", indent=title.cell_len)


def _print_stories(console: Console, cell: Cell, *, verbose: bool) -> None:
    for probe, finding in _findings(cell)[: None if verbose else 1]:
        hang(console, Text(), f"{probe} on {where(cell)}: {finding.summary}", indent=_STORY)
        for step in finding.story:
            number = Text(" " * _STORY) + Text(f"#{step.number}", style="cyan")
            hang(console, number, step.text, indent=_STORY + 6)


def _findings(cell: Cell) -> list[tuple[str, Finding]]:
    return [(part.probe, finding) for part in cell.parts for finding in part.findings]
