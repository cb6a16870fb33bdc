"""The tables of the terminal report: the matrix, the obligations, and the resume forms side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from resumption.contract.properties import CONTRACT, OBLIGATIONS, Property
from resumption.contract.verdicts import Facet, Label, merge
from resumption.harness.receipts import Cell, matrix
from resumption.planes.interface import Operation
from resumption.report.grid import meaning
from resumption.report.marks import MARKS
from resumption.report.text import hang, heading, mark
from resumption.report.view import View, place

__all__ = ["print_forms", "print_matrix", "print_obligations"]

_COLUMN = 7  # columns of the terminal for each column of the matrix
_WHEN = {Operation.DELIVER: "answer", Operation.RECOVER: "recovery", Operation.FORK: "fork"}
_WINDOW = "EO where a run is cut off between an effect and its durable record"

_Row = tuple[str, str, str, str]


def print_matrix(view: View, console: Console) -> None:
    """Print the nine columns of the contract, one row for each plane, path and backend, and the legend."""
    _print_table(view, console, CONTRACT)
    console.print()
    for label in Label:
        if any(cell.label is label for cell in view.cells):
            hang(
                console,
                Text(" ") + mark(console, label),
                f"{MARKS[label].word}: {meaning(label, view.cells)}",
                indent=5,
            )
    if _windows(view.cells):
        hang(console, Text("( )"), _WINDOW, indent=5)
    if any(cell.accepted for cell in view.cells):
        hang(console, Text(" *"), "accepted, for the reason given below", indent=5)


def print_obligations(view: View, console: Console) -> None:
    """Print the user obligations that were measured, if any."""
    measured = {cell.property for cell in view.cells}
    columns = [property_ for property_ in OBLIGATIONS if property_ in measured]
    if columns:
        heading(console, "User obligations, beyond the paper's contract")
        _print_table(view, console, columns)


def print_forms(view: View, console: Console) -> None:
    """Print what each resume form gives, where the forms of one operation differ."""
    lines: dict[tuple[str, str, tuple[tuple[Label, str], ...]], list[Cell]] = {}
    for key, cells in _by_operation(view.cells).items():
        if len({cell.label for cell in cells}) > 1:
            name = key.property + (f" {key.facet}" if key.facet is not Facet.CELL else "")
            told = tuple((cell.label, cell.form) for cell in cells)
            lines.setdefault((name, _WHEN[key.operation], told), []).extend(cells)
    if not lines:
        return
    heading(console, "Where resume forms differ (the matrix shows the first one named, the primary form)")
    places = {key: place(cells, forms=False) for key, cells in lines.items()}
    width = max(map(len, places.values()))
    for (name, when, told), where in places.items():
        lead = f" {where:{width}}  {name:9}  {when:8}  "
        hang(console, Text(lead), _by_label(console, told), indent=len(lead))


def _print_table(view: View, console: Console, columns: Sequence[Property]) -> None:
    windows = _windows(view.cells)
    accepted = {(_row(cell), cell.property) for cell in view.cells if cell.accepted}
    rows = [((row.plane, row.version, row.path, row.backend), row.labels) for row in matrix(view.cells)]
    names = [" ".join(filter(None, key)) for key, _ in rows]
    width = max([len("plane"), *map(len, names)])
    _print_row(console, Text("plane".ljust(width), style="bold"), [Text(column, style="bold") for column in columns])
    for name, (key, labels) in zip(names, rows, strict=True):
        told = [Text() for _ in columns]
        for text, property_ in zip(told, columns, strict=True):
            if property_ in labels:
                text.append_text(mark(console, labels[property_]))
            if (key, property_) in accepted:
                text.append("*")
            if (key, property_) in windows:
                text.append(" (").append_text(mark(console, windows[key, property_])).append(")")
        _print_row(console, Text(name.ljust(width)), told)


def _print_row(console: Console, name: Text, told: Sequence[Text]) -> None:
    line = Text(" ") + name + Text("  ")
    for text in told:
        text.pad_right(_COLUMN - text.cell_len)
        line += text
    line.rstrip()
    console.print(line, soft_wrap=True)


def _row(cell: Cell) -> _Row:
    return cell.plane, cell.version, cell.path, cell.backend


def _windows(cells: Iterable[Cell]) -> dict[tuple[_Row, Property], Label]:
    """The window facet of each row, as its primary forms' cells say together; nothing where none exercised it."""
    labels: dict[tuple[_Row, Property], list[Label]] = {}
    for cell in cells:
        if cell.primary and cell.facet is Facet.WINDOW:
            labels.setdefault((_row(cell), cell.property), []).append(cell.label)
    merged = {key: merge(found) for key, found in labels.items()}
    return {key: label for key, label in merged.items() if label is not Label.VACUOUS}


@dataclass(frozen=True, slots=True)
class _Operation:
    """What the forms of one operation are compared on."""

    plane: str
    path: str
    backend: str
    property: Property
    facet: Facet
    operation: Operation


def _by_operation(cells: Iterable[Cell]) -> dict[_Operation, list[Cell]]:
    """The cells of each property and facet, by the operation of their form; the primary form first."""
    groups: dict[_Operation, list[Cell]] = {}
    for cell in cells:
        if cell.operation is not None:
            key = _Operation(cell.plane, cell.path, cell.backend, cell.property, cell.facet, cell.operation)
            groups.setdefault(key, []).append(cell)
    return {key: sorted(found, key=lambda cell: not cell.primary) for key, found in groups.items()}


def _by_label(console: Console, told: Iterable[tuple[Label, str]]) -> Text:
    """The forms that each label was given to, in the order of the labels' first forms."""
    forms: dict[Label, list[str]] = {}
    for label, form in told:
        forms.setdefault(label, []).append(form)
    return Text("   ").join(mark(console, label) + Text(f" {', '.join(found)}") for label, found in forms.items())
