"""A comparison as a terminal report, as Markdown for a change's discussion, and as JSON for programs.

Cells that changed in the same way, on several backends, are told together, with one story of each side.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec
from rich.console import Console
from rich.text import Text

from resumption.contract.properties import STATEMENTS
from resumption.contract.verdicts import Facet, Finding, Label
from resumption.harness.comparison import CellChange, Change, Comparison, Side
from resumption.harness.receipts import Cell
from resumption.report.marks import MARKS
from resumption.report.text import hang, heading, mark
from resumption.report.view import codes, place, where

__all__ = ["as_json", "as_markdown", "print_changes", "print_comparison"]

_STORY = 4  # columns that a story is indented by
_ONE_SIDED = (Change.NEW, Change.GONE)
_TOLD = tuple(change for change in Change if change not in (Change.UNCHANGED, *_ONE_SIDED))


@dataclass(frozen=True, slots=True)
class _Group:
    """Cells of one property and resume form that changed in the same way."""

    cells: tuple[CellChange, ...]

    @property
    def labels(self) -> tuple[Label | None, Label | None]:
        """What the cells were called, and are now."""
        first = self.cells[0]
        return _labels(first)

    @property
    def told(self) -> Cell:
        """One of the cells, on either side: where they are, not what they say."""
        return _either(self.cells[0])

    @property
    def name(self) -> str:
        """The property, and the facet where it is not the cell itself."""
        return self.told.property + (f" {self.told.facet}" if self.told.facet is not Facet.CELL else "")

    @property
    def place(self) -> str:
        """Where the cells are."""
        return place([_either(change) for change in self.cells])

    @property
    def probes(self) -> str:
        """What the probes say that changed, where the merged label doesn't say it already."""
        first = self.cells[0]
        if self.labels[0] is not self.labels[1] and len(first.probes) < 2:
            return ""
        told = (f"{probe.probe} {MARKS[probe.before].word} to {MARKS[probe.after].word}" for probe in first.probes)
        return "; ".join(told)


def as_json(comparison: Comparison) -> bytes:
    """The whole comparison: both sides' cells of every change, with their findings."""
    return msgspec.json.format(msgspec.json.encode(comparison), indent=1) + b"\n"


def print_comparison(comparison: Comparison, console: Console, *, verbose: bool = False) -> None:
    """Print what changed. One story a side is told of each group of cells; with `verbose`, every one."""
    hang(console, Text("before "), _side(comparison.before), indent=7)
    hang(console, Text("after "), _side(comparison.after), indent=7)
    hang(console, Text(), _counts(comparison), indent=0, style="bold")
    for change in _TOLD:
        groups = _groups(comparison.of(change))
        if groups:
            heading(console, change.capitalize())
        for group in groups:
            _print_group(console, group, comparison, verbose=verbose)
    for title, cells in _summed_up(comparison):
        heading(console, title)
        _print_by_label(console, cells)
    if comparison.pins:
        heading(console, "Installed in other versions")
        hang(console, Text(" "), _pins(comparison), indent=1)


def print_changes(comparison: Comparison, console: Console) -> None:
    """Print a heading and a line for each change, without stories."""
    heading(console, f"{comparison.before.name} → {comparison.after.name}: {_counts(comparison)}")
    for change in (*_TOLD, *_ONE_SIDED):
        for group in _groups(comparison.of(change)):
            _print_title(console, group)


def _print_by_label(console: Console, found: Sequence[Cell]) -> None:
    for label, cells in _by_label(found):
        first = Text(" ") + mark(console, label) + Text(f" {len(cells)} {MARKS[label].word}: ")
        hang(console, first, f"{codes(cells)} on {place(cells, forms=False)}", indent=first.cell_len)


def _print_group(console: Console, group: _Group, comparison: Comparison, *, verbose: bool) -> None:
    _print_title(console, group)
    for side, _, says, finding in _stories(group, comparison, verbose=verbose):
        hang(console, Text(" " * _STORY), f"{side}: {says}", indent=_STORY)
        for step in finding.story if finding else ():
            number = Text(" " * _STORY) + Text(f"#{step.number}", style="cyan")
            hang(console, number, step.text, indent=_STORY + 6)


def _print_title(console: Console, group: _Group) -> None:
    before, after = group.labels
    marks = Text(" → ").join(mark(console, label) for label in (before, after) if label)
    title = Text(" ") + marks + Text(f" {group.name} {_transition(before, after)}: ", style="bold")
    hang(console, title, f"{STATEMENTS[group.told.property].name}, on {group.place}", indent=title.cell_len)
    if group.probes:
        hang(console, Text(" " * _STORY), group.probes, indent=_STORY)


def as_markdown(comparison: Comparison) -> str:
    """What changed as Markdown, with the stories folded away."""
    lines = [f"## {comparison.before.name} → {comparison.after.name}", ""]
    lines += [f"- before: {_side(comparison.before)}", f"- after: {_side(comparison.after)}"]
    lines += [f"- {_counts(comparison)}", ""]
    for change in _TOLD:
        cells = comparison.of(change)
        if cells:
            lines += [f"### {change.capitalize()}", "", "| cell | before | after |", "|---|---|---|"]
            lines += [_row(cell) for cell in cells]
            lines += [""]
        for group in _groups(cells):
            lines += _markdown_stories(group, comparison)
    for title, found in _summed_up(comparison):
        lines += [f"### {title}", "", "| label | cells | properties |", "|---|---|---|"]
        for label, summed in _by_label(found):
            lines.append(f"| {MARKS[label].symbol} {MARKS[label].word} | {len(summed)} | {codes(summed)} |")
        lines += [""]
    if comparison.pins:
        lines += ["### Installed in other versions", "", _pins(comparison), ""]
    return "\n".join(lines)


def _row(change: CellChange) -> str:
    told = (f"{MARKS[cell.label].symbol} {MARKS[cell.label].word}" if cell else "" for cell in _sides(change))
    return f"| `{change.identity}` | {' | '.join(told)} |"


def _markdown_stories(group: _Group, comparison: Comparison) -> Iterator[str]:
    stories = list(_stories(group, comparison, verbose=False))
    if not any(finding for *_, finding in stories):
        return
    yield f"<details><summary>{group.name}, on {group.place}</summary>"
    yield ""
    for side, told, says, finding in stories:
        yield f"**{side}** (`{told}`)" if finding else f"**{side}**: {says}"
        yield ""
        if finding:
            yield from _fenced(str(finding))
    yield "</details>"
    yield ""


def _fenced(text: str) -> tuple[str, ...]:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text", text, fence, ""


def _stories(group: _Group, comparison: Comparison, *, verbose: bool) -> Iterator[tuple[str, str, str, Finding | None]]:
    """What each side says of a group: the side's name, the probe, a sentence, and the finding if there is one."""
    for change in group.cells if verbose else group.cells[:1]:
        changed = {probe.probe for probe in change.probes}
        for side, cell in zip((comparison.before, comparison.after), _sides(change), strict=True):
            if cell is None:
                continue
            parts = [part for part in cell.parts if not changed or part.probe in changed]
            found = [(part.probe, finding) for part in parts for finding in part.findings]
            for probe, finding in found[: None if verbose else 1]:
                yield side.name, probe, f"{probe} on {where(cell)}: {finding.summary}", finding
            if not found:
                reasons = [part.reason for part in parts if part.reason and part.label is cell.label]
                yield side.name, "", _without_finding(cell, reasons), None


def _without_finding(cell: Cell, reasons: Sequence[str]) -> str:
    said = f"{MARKS[cell.label].word} on {where(cell)}"
    return f"{said}. {reasons[0]}" if reasons else said


def _groups(changes: Iterable[CellChange]) -> list[_Group]:
    groups: dict[object, list[CellChange]] = {}
    for change in changes:
        cell = _either(change)
        key = (cell.plane, cell.path, cell.property, cell.facet, cell.form, _labels(change), change.probes)
        groups.setdefault(key, []).append(change)
    return [_Group(tuple(found)) for found in groups.values()]


def _either(change: CellChange) -> Cell:
    return next(cell for cell in _sides(change) if cell)


def _sides(change: CellChange) -> tuple[Cell | None, Cell | None]:
    return change.before, change.after


def _labels(change: CellChange) -> tuple[Label | None, Label | None]:
    before, after = _sides(change)
    return before.label if before else None, after.label if after else None


def _transition(before: Label | None, after: Label | None) -> str:
    if before and after:
        return f"{MARKS[before].word} to {MARKS[after].word}" if before is not after else MARKS[before].word
    if after:
        return f"is new, {MARKS[after].word}"
    return f"is gone, was {MARKS[before].word}" if before else ""


def _summed_up(comparison: Comparison) -> Iterator[tuple[str, Sequence[Cell]]]:
    """What is told by label only: the cells that are what they were, and those that there is nothing to compare with.

    A receipt of fewer probes or backends lacks cells, and none of them is better or worse for it.
    """
    for change, side in zip(_ONE_SIDED, (comparison.after, comparison.before), strict=True):
        if cells := [_either(found) for found in comparison.of(change)]:
            yield f"Measured in {side.name} only, and so not compared", cells
    if comparison.unchanged:
        yield "Unchanged", comparison.unchanged


def _by_label(found: Sequence[Cell]) -> Iterator[tuple[Label, list[Cell]]]:
    for label in Label:
        if cells := [cell for cell in found if cell.label is label]:
            yield label, cells


def _side(side: Side) -> str:
    return f"{side.name} ({', '.join(side.versions)}; Python {side.python}, measured {side.created})"


def _counts(comparison: Comparison) -> str:
    return ", ".join(f"{comparison.count(change)} {change}" for change in Change)


def _pins(comparison: Comparison) -> str:
    return ", ".join(f"{pin.name} {pin.before} → {pin.after}" for pin in comparison.pins)
