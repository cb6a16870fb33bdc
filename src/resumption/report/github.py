"""A receipt for a job of GitHub Actions: annotations, as commands that the runner reads from standard output.

GitHub shows ten annotations of each kind for a step, so the worst come first, and cells that breach alike share one.
"""

from __future__ import annotations

from collections.abc import Iterator

from resumption.contract.properties import STATEMENTS
from resumption.contract.verdicts import Facet, Label
from resumption.harness.policy import FailOn
from resumption.harness.receipts import Cell
from resumption.report.grid import story_cells
from resumption.report.legible import brief, one_line
from resumption.report.marks import MARKS
from resumption.report.outcomes import Outcome, change, outcome
from resumption.report.view import View, codes, place

__all__ = ["github_annotations"]

_LONGEST = 1000  # characters of a text that others chose
_OPEN = (Label.INCONCLUSIVE, Label.NOT_RUN)


def github_annotations(view: View) -> str:
    """The annotations of a view's receipt, a line each.

    A group with a finding by the policy in force is an error, what could not be told a warning, other breaches notices.
    """
    order = ("error", "warning", "notice")
    found = sorted([*_drifts(view), *_breaches(view), *_untold(view)], key=lambda item: order.index(item[0]))
    return "".join(f"::{level} title={_value(title)}::{_message(text)}\n" for level, title, text in found)


def _breaches(view: View) -> Iterator[tuple[str, str, str]]:
    for cells in story_cells(view.cells):
        first = cells[0]
        failed = any(outcome(cell, view) is Outcome.FAILED for cell in cells)
        facet = f" {first.facet}" if first.facet is not Facet.CELL else ""
        finding = next(finding for part in first.parts for finding in part.findings)
        title = f"{first.property}{facet} {MARKS[first.label].word}: {STATEMENTS[first.property].name}"
        accepted = f" (accepted: {first.accepted})" if first.accepted else ""
        yield "error" if failed else "notice", title, f"On {place(cells)}: {finding.summary}{accepted}"


def _drifts(view: View) -> Iterator[tuple[str, str, str]]:
    """What changed, where that counts and no breach tells it: what was fixed, is new, or is gone."""
    if view.policy.fail_on is not FailOn.DRIFT:
        return
    known = {cell.identity: cell for cell in view.cells}
    told: dict[str, list[str]] = {}
    for drift in view.drifts or ():
        cell = known.get(drift.cell)
        if cell is None or not (cell.accepted or any(part.findings for part in cell.parts)):
            told.setdefault(change(drift), []).append(drift.cell)
    for changed, cells in told.items():
        yield "error", f"Against the baseline: {changed}", f"On {', '.join(cells)}"


def _untold(view: View) -> Iterator[tuple[str, str, str]]:
    told: dict[tuple[Label, str], list[Cell]] = {}
    for cell in view.cells:
        for part in cell.parts:
            if part.label in _OPEN:
                told.setdefault((part.label, part.reason), []).append(cell)
    for (label, reason), cells in told.items():
        yield "warning", f"{MARKS[label].word}: {codes(cells)}", f"On {place(cells)}: {reason}"


def _message(text: str) -> str:
    return _escaped(brief(one_line(text), _LONGEST))


def _value(text: str) -> str:
    return _escaped(brief(one_line(text), _LONGEST)).replace(":", "%3A").replace(",", "%2C")


def _escaped(text: str) -> str:
    """The runner's own escapes: a percent sign is data only so, and a line break would end the command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
