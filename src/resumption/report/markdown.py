"""A receipt as Markdown: the matrix, and what stands behind it, with stories folded away.

It reads on GitHub and GitLab, as a comment or a summary of a job. What was recorded can't become markup in it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence

from resumption.contract.properties import CONTRACT, STATEMENTS, Property
from resumption.contract.verdicts import Facet, Finding, Label
from resumption.harness.receipts import Cell
from resumption.report.grid import Line, command, headline, lines, meaning, obligations, story_cells
from resumption.report.legible import brief, one_line
from resumption.report.marks import MARKS
from resumption.report.outcomes import change
from resumption.report.view import View, place

__all__ = ["markdown"]

_LONGEST = 1000  # characters of a text that others chose
_SPECIAL = re.compile(r"([\\`*_\[\]|~$])")


def markdown(view: View) -> str:
    """The receipt of a view as Markdown."""
    found = lines(view.cells)
    parts = [f"## Resume conformance of {_plain(headline(view.cells) or 'nothing')}", "", _counts(view), ""]
    parts += _table(found, CONTRACT)
    if beyond := obligations(view.cells):
        parts += ["User obligations, beyond the paper's contract:", "", *_table(found, beyond)]
    parts += _legend(view)
    parts += _drifts(view)
    parts += _findings(view)
    parts += _unmeasured(view)
    receipt = view.receipt
    parts.append(
        f"Measured {_plain(receipt.created)} on Python {_plain(receipt.python)}, {_plain(receipt.platform)}: "
        f"{len(receipt.histories)} histories."
    )
    return "\n".join(parts) + "\n"


def _counts(view: View) -> str:
    counts = [f"{view.count(label)} {MARKS[label].word}" for label in Label if view.count(label)]
    return f"Over all resume forms: {', '.join(counts) or 'no cell'}."


def _table(found: Sequence[Line], columns: Sequence[Property]) -> Iterator[str]:
    yield f"| plane | {' | '.join(columns)} |"
    yield "|---" * (len(columns) + 1) + "|"
    for line in found:
        yield f"| {_plain(line.name)} | {' | '.join(_square(line, column) for column in columns)} |"
    yield ""


def _square(line: Line, column: Property) -> str:
    if column not in line.squares:
        return ""
    square = line.squares[column]
    window = f" ({MARKS[square.window].symbol})" if square.window else ""
    accepted = r"\*" if square.accepted else ""
    return f"{MARKS[square.label].symbol} {MARKS[square.label].word}{accepted}{window}"


def _legend(view: View) -> Iterator[str]:
    shown = {cell.label for cell in view.cells}
    for label in Label:
        if label in shown:
            yield f"- {MARKS[label].symbol} {MARKS[label].word}: {meaning(label, view.cells)}"
    if any(square.window for line in lines(view.cells) for square in line.squares.values()):
        yield "- ( ) EO where a run is cut off between an effect and its durable record"
    if any(cell.accepted for cell in view.cells):
        yield "- \\* accepted, for a reason that the receipt has"
    yield ""


def _drifts(view: View) -> Iterator[str]:
    if view.drifts is None:
        return
    baseline = _plain(headline(view.before) or "which has none of it")
    yield f"Against the baseline, {baseline}: {'' if view.drifts else 'nothing changed.'}"
    yield ""
    if view.drifts:
        yield from (f"- {_plain(f'{drift.cell} {change(drift)}')}" for drift in view.drifts)
        yield ""


def _findings(view: View) -> Iterator[str]:
    groups = story_cells(view.cells)
    if groups:
        yield "### Findings"
        yield ""
    for cells in groups:
        yield from _finding(cells)


def _finding(cells: Sequence[Cell]) -> Iterator[str]:
    first = cells[0]
    part, finding = next((part, finding) for part in first.parts for finding in part.findings)
    facet = f" {first.facet}" if first.facet is not Facet.CELL else ""
    title = f"{MARKS[first.label].symbol} {first.property}{facet} {MARKS[first.label].word}: "
    title += f"{STATEMENTS[first.property].name}, on {place(cells)}"
    yield f"<details><summary>{html.escape(brief(one_line(title), _LONGEST))}</summary>"
    yield ""
    yield _plain(finding.summary)
    yield ""
    yield from _fenced("text", _story(finding))
    yield from _fenced("console", [f"$ {one_line(command(first, part))}"])
    if first.citations:
        yield f"Rests on {', '.join(map(_plain, first.citations))}."
        yield ""
    yield "</details>"
    yield ""


def _story(finding: Finding) -> list[str]:
    return [f"#{step.number:<4} {brief(one_line(step.text), _LONGEST)}" for step in finding.story]


def _unmeasured(view: View) -> Iterator[str]:
    told = dict.fromkeys(
        (part.label, part.reason, cell.property)
        for cell in view.cells
        for part in cell.parts
        if part.reason and part.label in (Label.INCONCLUSIVE, Label.NOT_RUN)
    )
    if told:
        yield "### Not measured, which is never a pass"
        yield ""
    for label, reason, property_ in told:
        yield f"- {property_} {MARKS[label].word}: {_plain(reason)}"
    if told:
        yield ""


def _fenced(language: str, body: Iterable[str]) -> Iterator[str]:
    """A block whose fence is longer than any run of backticks in it."""
    body = list(body)
    longest = max((len(run) for line in body for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    yield f"{fence}{language}"
    yield from body
    yield fence
    yield ""


def _plain(text: str) -> str:
    """The text on one line, with everything that Markdown or HTML would act on escaped; code stays code."""
    pieces = re.split("`([^`]+)`", brief(one_line(text), _LONGEST))
    return "".join(f"`{piece}`" if at % 2 else _escaped(piece) for at, piece in enumerate(pieces))


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", html.escape(text, quote=False))
