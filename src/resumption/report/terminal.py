"""The report that `resumption check` prints: the matrix first, then everything that stands behind it."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from resumption.contract.verdicts import Facet, Label
from resumption.harness.comparison import Drift
from resumption.harness.policy import is_finding
from resumption.harness.receipts import Cell, Part
from resumption.report.findings import print_citations, print_findings
from resumption.report.grid import headline
from resumption.report.invariance import print_invariance
from resumption.report.marks import MARKS
from resumption.report.outcomes import change
from resumption.report.tables import print_forms, print_matrix, print_obligations
from resumption.report.text import hang, heading, mark
from resumption.report.view import View, codes, place

__all__ = ["print_report"]

_INDENT = 4
_UNMEASURED = (Label.INCONCLUSIVE, Label.NOT_RUN, Label.VACUOUS, Label.NOT_APPLICABLE)


def print_report(view: View, console: Console) -> None:
    """Print everything that a receipt says."""
    print_matrix(view, console)
    print_forms(view, console)
    print_obligations(view, console)
    print_findings(view, console)
    print_citations(view, console)
    print_invariance(view, console)
    _print_notes(view, console)
    _print_unmeasured(view, console)
    _print_moved(view, console)
    _print_accepted(view, console)
    _print_drifts(view, console)
    _print_closing(view, console)


def _print_notes(view: View, console: Console) -> None:
    told: dict[tuple[str, str], list[Cell]] = {}
    for cell, part in _parts(view.cells):
        if part.note:
            told.setdefault((part.probe, part.note), []).append(cell)
    if not told:
        return
    heading(console, "Seen beside (how often a race was lost is of this time)")
    for (probe, note), cells in told.items():
        hang(console, Text(f" {probe}"), f"{note} ({place(cells)})", indent=_INDENT)


def _print_unmeasured(view: View, console: Console) -> None:
    """Print why cells say nothing; and of every cell, which part of it could not be measured."""
    told: dict[tuple[Label, str], list[Cell]] = {}
    for cell, part in _parts(view.cells):
        whole = cell.label in _UNMEASURED and part.label is cell.label and cell.facet is Facet.CELL
        if part.reason and (whole or part.label in {Label.INCONCLUSIVE, Label.NOT_RUN, Label.NOT_APPLICABLE}):
            told.setdefault((part.label, part.reason), []).append(cell)
    if not told:
        return
    heading(console, "Not measured, and why")
    for (label, reason), cells in sorted(told.items(), key=lambda item: list(Label).index(item[0][0])):
        first = Text(" ") + mark(console, label) + Text(f" {MARKS[label].word}: ")
        hang(console, first, f"{codes(cells)} on {place(cells)}. {reason}", indent=first.cell_len)


def _print_moved(view: View, console: Console) -> None:
    if not view.policy.strict:
        return
    heading(console, "Moved by the strict rule, under which any breach of a documented form violates")
    for cell in view.moved:
        _print_change(console, cell.identity, cell.label, cell.strict)
    if not view.moved:
        console.print(" no cell")


def _print_accepted(view: View, console: Console) -> None:
    accepted = [cell for cell in view.cells if cell.accepted]
    if not accepted:
        return
    heading(console, "Accepted")
    for cell in accepted:
        word = MARKS[cell.label].word
        hang(console, Text(f" {cell.identity}"), f"{word}, accepted because: {cell.accepted}", indent=_INDENT)


def _print_drifts(view: View, console: Console) -> None:
    if view.drifts is None:
        return
    heading(console, "Against the baseline")
    if view.before:
        before, now = headline(view.before), headline(view.cells)
        hang(console, Text(" "), f"{before}, as now" if before == now else f"{before} then, {now} now", indent=1)
    for drift in view.drifts:
        _print_drift(console, drift)
    if not view.drifts:
        console.print(" nothing changed")


def _print_drift(console: Console, drift: Drift) -> None:
    if drift.before is not None and drift.now is not None:
        _print_change(console, f"{drift.cell} {drift.probe}", drift.before, drift.now)
    else:
        console.print(Text(f" {drift.cell} {change(drift)}"))


def _print_change(console: Console, what: str, before: Label, now: Label) -> None:
    change = Text.assemble(MARKS[before].word, " to ", (MARKS[now].word, MARKS[now].style))
    hang(console, Text(f" {what}"), change, indent=_INDENT)


def _print_closing(view: View, console: Console) -> None:
    receipt = view.receipt
    drifted = frozenset(drift.cell for drift in view.drifts or ())
    findings = sum(is_finding(cell, view.policy, drifted) for cell in receipt.cells)
    counts = [f"{MARKS[label].word} {view.count(label)}" for label in Label if view.count(label)]
    rule = f"--fail-on {view.policy.fail_on}{' --strict' if view.policy.strict else ''}"
    heading(console, f"{len(receipt.histories)} histories, Python {receipt.python}, {receipt.platform}")
    hang(console, Text(" cells"), ", ".join(counts) or "none", indent=8)
    hang(console, Text(" exit"), f"{view.code:d}: {findings} of them count as findings ({rule})", indent=8)


def _parts(cells: Iterable[Cell]) -> Iterable[tuple[Cell, Part]]:
    return ((cell, part) for cell in cells for part in cell.parts)
