"""A receipt as JUnit XML: a suite for each line of the matrix, a test case for each cell.

The dialect is the one that Jenkins, GitLab and GitHub's reporters read: `failure` for a finding, `error` for what could
not be told, `skipped` for what says nothing or isn't counted.
"""

from __future__ import annotations

from collections import Counter
from xml.etree import ElementTree

from resumption.contract.properties import STATEMENTS
from resumption.harness.receipts import Cell
from resumption.report.grid import Line, command, lines
from resumption.report.legible import brief
from resumption.report.marks import MARKS
from resumption.report.outcomes import Outcome, outcome, why
from resumption.report.view import View

__all__ = ["junit"]

_LONGEST = 4000  # characters of a text that others chose
_ELEMENTS = {Outcome.FAILED: "failure", Outcome.ERROR: "error", Outcome.SKIPPED: "skipped"}


def junit(view: View) -> str:
    """The receipt of a view as JUnit XML."""
    root = ElementTree.Element("testsuites", name="resumption")
    total: Counter[Outcome] = Counter()
    for line in lines(view.cells):
        total += _suite(root, line, view)
    _count(root, total)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(root: ElementTree.Element, line: Line, view: View) -> Counter[Outcome]:
    suite = ElementTree.SubElement(
        root, "testsuite", name=_text(line.name), timestamp=_text(view.receipt.created.removesuffix("+00:00"))
    )
    counts: Counter[Outcome] = Counter()
    for cell in (cell for square in line.squares.values() for cell in square.cells):
        counts[_case(suite, line, cell, view)] += 1
    _count(suite, counts)
    return counts


def _case(suite: ElementTree.Element, line: Line, cell: Cell, view: View) -> Outcome:
    name = " ".join(filter(None, (cell.property, STATEMENTS[cell.property].name, *cell.identity.split("/")[4:])))
    case = ElementTree.SubElement(suite, "testcase", classname=_text(line.name.replace(" ", ".")), name=_text(name))
    found = outcome(cell, view)
    if found in _ELEMENTS:
        said = ElementTree.SubElement(
            case,
            _ELEMENTS[found],
            type="accepted" if cell.accepted else MARKS[cell.label].word,
            message=_text(why(cell, view)),
        )
        said.text = _text(_story(cell))
    return found


def _story(cell: Cell) -> str:
    told = [cell.identity]
    for part in cell.parts:
        told += [f"{part.probe}: {finding}" for finding in part.findings]
        told += [f"{part.probe}: {part.reason}"] if part.reason else []
        told += [f"again: {command(cell, part)}"] if part.findings else []
    return "\n".join(told)


def _count(element: ElementTree.Element, counts: Counter[Outcome]) -> None:
    element.set("tests", str(counts.total()))
    element.set("failures", str(counts[Outcome.FAILED]))
    element.set("errors", str(counts[Outcome.ERROR]))
    element.set("skipped", str(counts[Outcome.SKIPPED]))


def _text(text: str) -> str:
    return brief(text, _LONGEST)
