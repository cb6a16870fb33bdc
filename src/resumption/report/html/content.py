"""What the page shows, made of a view: every text in it is legible, and cut where it gets long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from resumption.contract.profiles import Profile, separate
from resumption.contract.properties import CONTRACT, STATEMENTS, Property
from resumption.contract.verdicts import Facet, Label, Step
from resumption.harness.comparison import CellChange, Change, Comparison
from resumption.harness.probes import PROBES
from resumption.harness.races import Race
from resumption.harness.receipts import Cell, Part
from resumption.planes.statements import Bears
from resumption.report.grid import Line, Square, all_drills, command, headline, lines, meaning, obligations, story_cells
from resumption.report.html.blocks import history_block
from resumption.report.html.figures import panels
from resumption.report.html.shapes import Apart, Breach, Contribution, Opened, Quoted, Section, Shown, Table, Told
from resumption.report.lanes import excerpt, histories_of, lanes, teller
from resumption.report.legible import brief, legible
from resumption.report.view import View, place

__all__ = ["Content", "anchor"]

_SEVERAL = 2
_LONGEST = 2000  # characters of a text that others chose
_BEARS = {Bears.PROMISE: "promises", Bears.WEAKER: "admits less", Bears.FORM: "documents the form"}
_WHAT = {
    Facet.CELL: "",
    Facet.WINDOW: "the window between an effect and its record",
    Facet.RACE: "two operations under way at once",
    Facet.ORDER: "the order of writes",
}
_PROBES = {probe.address: probe for probe in PROBES}


def anchor(line: Line, property_: Property) -> str:
    """The name by which a link finds a square."""
    return "-".join([*filter(None, (line.plane, line.version, line.path, line.backend)), property_]).replace(" ", "-")


class Content:
    """What the page of one view holds. Raises `ReceiptUnreadable` if a history of the receipt can't be read."""

    def __init__(self, view: View, comparison: Comparison | None, race: Race | None) -> None:
        self._view = view
        self.comparison = comparison
        self.panels = tuple(panels(race)) if race else ()
        self._histories = histories_of(view.receipt)
        self._numbers = {name: number for number, name in enumerate(self._histories)}
        self._lines = lines(view.cells)

    @property
    def title(self) -> str:
        """What the page is about."""
        return brief(f"What “resume” means for {headline(self._view.cells) or 'nothing'}", _LONGEST)

    @property
    def lead(self) -> str:
        """The outcome in a sentence."""
        squares = [square for line in self._lines for square in line.squares.values()]
        breached = [s for s in squares if s.label in (Label.VIOLATES, Label.UNDOCUMENTED, Label.DIVERGENT)]
        violated = sum(square.label is Label.VIOLATES for square in squares)
        unknown = sum(square.label in (Label.INCONCLUSIVE, Label.NOT_RUN) for square in squares)
        told = f"In the matrix, {len(breached)} of {len(squares)} cells are breaches"
        if all_drills(self._view.cells):
            told += ": there the program did otherwise than in a run without faults."
        else:
            told += f"; {violated} of those contradict what the framework states, or corrupt state in silence."
        return told + (f" {unknown} could not be told, which is never a pass." if unknown else "")

    @property
    def counts(self) -> tuple[tuple[Label, int], ...]:
        """How many cells have which label; the facets beside the cells aren't counted."""
        shown = {cell.label for cell in self._view.cells}
        return tuple((label, self._view.count(label)) for label in Label if label in shown)

    def meaning(self, label: Label) -> str:
        """What a label says here."""
        return meaning(label, self._view.cells)

    @property
    def has_blanks(self) -> bool:
        """Whether a place of a matrix is empty."""
        return any(
            column not in line.squares for table in self.tables for line in table.lines for column in table.columns
        )

    @property
    def created(self) -> str:
        """When it was measured."""
        return legible(self._view.receipt.created)

    @property
    def python(self) -> str:
        """The version of Python that the harness ran on."""
        return legible(self._view.receipt.python)

    @property
    def platform(self) -> str:
        """The platform that was measured on."""
        return legible(self._view.receipt.platform)

    @property
    def events(self) -> int:
        """How many events all histories have."""
        return sum(len(history.events) for history in self._histories.values())

    @property
    def planes(self) -> tuple[str, ...]:
        """The planes, for the filter."""
        return tuple(dict.fromkeys(line.plane for line in self._lines))

    @property
    def properties(self) -> tuple[Property, ...]:
        """The properties that were measured, for the filter."""
        measured = {property_ for line in self._lines for property_ in line.squares}
        return tuple(property_ for property_ in Property if property_ in measured)

    @property
    def tables(self) -> Iterator[Table]:
        """The matrix of the contract, and that of the obligations if any was measured."""
        yield Table(caption="The contract’s nine columns", columns=CONTRACT, lines=self._lines)
        if beyond := obligations(self._view.cells):
            asked = tuple(line for line in self._lines if any(column in line.squares for column in beyond))
            yield Table(caption="User obligations, beyond the paper’s contract", columns=beyond, lines=asked)

    @property
    def has_window(self) -> bool:
        """Whether a window stands beside a cell."""
        return any(square.window for line in self._lines for square in line.squares.values())

    @property
    def has_accepted(self) -> bool:
        """Whether a cell was accepted."""
        return any(cell.accepted for cell in self._view.cells)

    @property
    def stories(self) -> Iterator[Breach]:
        """The breaches, the worst first."""
        by_row = {(line.plane, line.version, line.path, line.backend): line for line in self._lines}
        for cells in story_cells(self._view.cells):
            first = cells[0]
            line = by_row[first.plane, first.version, first.path, first.backend]
            finding = next(finding for part in first.parts for finding in part.findings)
            facet = f" {first.facet}" if first.facet is not Facet.CELL else ""
            yield Breach(
                label=first.label,
                name=f"{first.property}{facet} {STATEMENTS[first.property].name}",
                place=brief(place(cells), _LONGEST),
                summary=brief(finding.summary, _LONGEST),
                anchor=anchor(line, first.property),
            )

    @property
    def separations(self) -> tuple[Apart, ...]:
        """What tells each two lines apart; nothing where there is one line only."""
        profiles = [
            Profile(line.name, {key: square.label for key, square in line.squares.items()}) for line in self._lines
        ]
        if len(profiles) < _SEVERAL:
            return ()
        return tuple(
            Apart(
                number=number,
                name=legible(one.plane),
                separations=tuple(None if one is other else separate(one, other) for other in profiles),
            )
            for number, one in enumerate(profiles, 1)
        )

    @property
    def changes(self) -> tuple[CellChange, ...]:
        """What changed since the receipt that this one is compared with."""
        found = self.comparison.changes if self.comparison else ()
        return tuple(change for change in found if change.before and change.after)

    @property
    def counts_of_changes(self) -> str:
        """How many cells changed in which way."""
        return ", ".join(f"{self.comparison.count(change)} {change}" for change in Change) if self.comparison else ""

    @cached_property
    def lines(self) -> tuple[Section, ...]:
        """Every square, opened."""
        return tuple(
            Section(
                plane=line.plane,
                name=line.name,
                squares=tuple(self._opened(line, square) for square in line.squares.values()),
            )
            for line in self._lines
        )

    @property
    def histories(self) -> list[str]:
        """The data of each history, for the script."""
        return [history_block(name, lanes(history)) for name, history in self._histories.items()]

    def _opened(self, line: Line, square: Square) -> Opened:
        shown = (cell for cell in square.cells if cell.primary and cell.facet is Facet.CELL)
        parts = [part for cell in shown for part in cell.parts if part.label is square.label]
        said = [*(finding.summary for part in parts for finding in part.findings), *(part.reason for part in parts)]
        gist = next(filter(None, said), "")
        return Opened(
            property=square.column,
            label=square.label,
            anchor=anchor(line, square.column),
            gist=brief(gist, _LONGEST),
            cells=tuple(self._shown(cell) for cell in square.cells),
        )

    def _shown(self, cell: Cell) -> Shown:
        return Shown(
            title=_title(cell),
            label=cell.label,
            accepted=brief(cell.accepted, _LONGEST),
            parts=tuple(self._contribution(cell, part) for part in sorted(cell.parts, key=_severity)),
            citations=tuple(_quoted(self._view, cell)),
        )

    def _contribution(self, cell: Cell, part: Part) -> Contribution:
        probe = _PROBES.get(part.probe)
        first = part.findings[0] if part.findings else None
        telling = teller(first, part.histories, self._histories) if first else ""
        story = tuple(step.number for step in first.story) if first and telling else ()
        known = [name for name in part.histories if name in self._numbers]
        ordered = sorted(known, key=lambda name: name != telling)
        return Contribution(
            probe=legible(part.probe),
            label=part.label,
            trials=part.trials,
            does=probe.description if probe else "",
            expects=probe.expectation if probe else "",
            source=probe.source if probe else "",
            note=brief(part.note, _LONGEST),
            reason=brief(part.reason, _LONGEST),
            command=legible(command(cell, part)),
            stories=tuple(
                Told(
                    summary=brief(finding.summary, _LONGEST),
                    steps=tuple(Step(step.number, brief(step.text, _LONGEST)) for step in finding.story),
                )
                for finding in part.findings
            ),
            histories=tuple(self._numbers[name] for name in ordered),
            told=story,
            drawn=excerpt(lanes(self._histories[telling]), story) if telling else None,
            drawn_name=legible(ordered[0]) if ordered else "",
        )


def _severity(part: Part) -> int:
    return list(Label).index(part.label)


def _title(cell: Cell) -> str:
    form = f"{cell.operation or 'resume'} in form {cell.form}" + (", the primary one" if cell.primary else "")
    return legible("; ".join(filter(None, (form if cell.form else "", _WHAT[cell.facet]))))


def _quoted(view: View, cell: Cell) -> Sequence[Quoted]:
    known = {citation.id: citation for citation in view.citations.get(cell.plane, ())}
    return [
        Quoted(
            id=found.id,
            bears=_BEARS[found.bears],
            text=brief(found.text, _LONGEST),
            place=brief(found.place, _LONGEST),
            read=str(found.read),
        )
        for found in (known[id_] for id_ in cell.citations if id_ in known)
    ]
