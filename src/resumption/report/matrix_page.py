"""The published matrix as a page of the documentation, made from committed receipts alone.

What the page says besides the data is the template beside this module.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from string import Template

import msgspec

from resumption.contract.profiles import Profile, separate
from resumption.contract.properties import CONTRACT, OBLIGATIONS, Property
from resumption.contract.verdicts import Facet, Label
from resumption.errors import UnknownName
from resumption.harness.locks import Recipe, read_recipe
from resumption.harness.receipts import Cell, Receipt
from resumption.planes.interface import Durability, PlaneSpec
from resumption.planes.registry import families, specs
from resumption.planes.statements import Bears, Citation, load
from resumption.report.grid import Line, lines
from resumption.report.marks import MARKS

__all__ = ["matrix_page"]

_DIGITS = 12


@dataclass(frozen=True, slots=True)
class _Edition:
    """One of the two matrices: what it is called, and which release of each family it shows."""

    title: str
    release: Callable[[Recipe], str]

    def shows(self, line: Line) -> bool:
        """Whether a line is of the release that this matrix is about."""
        return line.version == self.release(read_recipe(specs(line.plane)[0]))


_EDITIONS = (
    _Edition("At the releases that the paper measured", lambda recipe: recipe.paper),
    _Edition("At the newest releases", lambda recipe: recipe.newest),
)


def matrix_page(results: Mapping[str, Receipt]) -> str:
    """The page, as Markdown, of receipts by their file names.

    Raises `UnknownName` if a receipt is of a plane, path or statement that isn't known here.
    """
    order = families()
    found = [line for receipt in results.values() for line in lines(receipt.cells)]
    found.sort(key=lambda line: order.index(line.plane))
    cells = [cell for receipt in results.values() for cell in receipt.cells]
    template = resources.files(__package__).joinpath("matrix_page.md").read_text(encoding="utf-8")
    sections = {
        "legend": _legend(found),
        "editions": _each_edition(found, _tables),
        "separations": _each_edition(found, _separations),
        "strict": _strict_moves(cells),
        "savers": _savers(found),
        "stated": _stated(cells),
        "provenance": _provenance(results),
    }
    return Template(template).substitute({name: "\n".join(section) for name, section in sections.items()})


def _each_edition(found: Sequence[Line], section: Callable[[str, Sequence[Line]], Iterator[str]]) -> Iterator[str]:
    for edition in _EDITIONS:
        if shown := [line for line in found if edition.shows(line)]:
            yield from section(edition.title, shown)


# The tables ---------------------------------------------------------------------------------------------------------


def _legend(found: Sequence[Line]) -> Iterator[str]:
    shown = {square.label for line in found for square in line.squares.values()}
    yield ", ".join(f"{MARKS[label].symbol} {MARKS[label].word}" for label in Label if label in shown)


def _tables(title: str, shown: Sequence[Line]) -> Iterator[str]:
    yield f"## {title}\n"
    yield from _table(shown, CONTRACT)
    yield "User obligations, beyond the paper's contract:\n"
    yield from _table(shown, OBLIGATIONS)


def _table(shown: Sequence[Line], columns: Sequence[Property]) -> Iterator[str]:
    yield f"| plane | {' | '.join(columns)} |"
    yield "|---" * (len(columns) + 1) + "|"
    for line in shown:
        yield f"| {line.name} | {' | '.join(_square(line, column) for column in columns)} |"
    yield ""


def _square(line: Line, column: Property) -> str:
    square = line.squares.get(column)
    if square is None:
        return ""
    window = f" ({MARKS[square.window].symbol})" if square.window else ""
    return MARKS[square.label].symbol + window


def _separations(title: str, shown: Sequence[Line]) -> Iterator[str]:
    profiles = [Profile(line.name, {key: square.label for key, square in line.squares.items()}) for line in shown]
    numbers = range(1, len(profiles) + 1)
    yield f"{title}:\n"
    yield f"| | plane | {' | '.join(map(str, numbers))} |"
    yield "|---" * (len(profiles) + 2) + "|"
    for number, row in zip(numbers, profiles, strict=True):
        told = (_told_apart(row, column) if column is not row else "·" for column in profiles)
        yield f"| {number} | {row.plane} | {' | '.join(told)} |"
    yield ""


def _told_apart(left: Profile, right: Profile) -> str:
    found = separate(left, right)
    structural = f"({' '.join(found.structural)})" if found.structural else ""
    return " ".join(filter(None, (*found.behavioural, structural)))


# What stands behind the tables ----------------------------------------------------------------------------------------


def _strict_moves(cells: Iterable[Cell]) -> Iterator[str]:
    moved = [cell for cell in cells if cell.primary and cell.facet is Facet.CELL and cell.strict is not cell.label]
    if not moved:
        yield "None moves.\n"
        return
    yield "| plane | property | resume form | label | strictly |"
    yield "|---|---|---|---|---|"
    for cell in moved:
        plane = " ".join(filter(None, (cell.plane, cell.version, cell.path, cell.backend)))
        yield f"| {plane} | {cell.property} | {cell.form} | {MARKS[cell.label].word} | {MARKS[cell.strict].word} |"
    yield ""


def _savers(found: Sequence[Line]) -> Iterator[str]:
    callers = {(line.plane, line.path): _spec_of(line.plane, line.path) for line in found}
    policies = [spec for spec in callers.values() if spec.durability is Durability.CALLER]
    for spec in policies:
        yield f"- {spec.name} {spec.path}: {spec.snapshots}"
    if not policies:
        yield "No plane here leaves it to its caller."
    yield ""


def _stated(cells: Sequence[Cell]) -> Iterator[str]:
    cited: dict[str, dict[str, Citation]] = {}
    for cell in cells:
        known = {citation.id: citation for citation in load(_spec_of(cell.plane, cell.path))}
        for identity in cell.citations:
            cited.setdefault(cell.plane, {})[identity] = known[identity]
    for plane, statements in cited.items():
        yield f"**{plane}**\n"
        for citation in statements.values():
            kind = "promises" if citation.bears is Bears.PROMISE else "admits less"
            text = " ".join(citation.text.split())
            where = f"{citation.place}, versions {citation.versions}, read {citation.read}"
            yield f"- {citation.property} {kind}: “{text}” ({where})"
        yield ""


def _provenance(results: Mapping[str, Receipt]) -> Iterator[str]:
    yield "| receipt | measured | Python | platform | distributions | trials | histories kept | SHA-256 of verdicts |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, receipt in results.items():
        sizes = sorted({len(pins) for pins in receipt.pins.values()})
        distributions = " to ".join(map(str, dict.fromkeys((sizes[0], sizes[-1])))) if sizes else "none"
        trials = _trials(receipt.cells)
        digest = hashlib.sha256(msgspec.json.encode(receipt.cells)).hexdigest()[:_DIGITS]
        platform = receipt.platform.split("-with-")[0].split("-")[0]
        yield (
            f"| [{name}](../results/{name}) | {receipt.created[:10]} | {receipt.python} | {platform} |"
            f" {distributions} | {trials} | {len(receipt.histories)} | `{digest}` |"
        )
    yield ""


def _trials(cells: Sequence[Cell]) -> int:
    """How many protocols were run: a probe's trials on a plane and form are counted once, not in each property."""
    ran = {
        (cell.plane, cell.path, cell.backend, part.probe, cell.form): part.trials
        for cell in cells
        for part in cell.parts
    }
    return sum(ran.values())


def _spec_of(plane: str, path: str) -> PlaneSpec:
    for spec in specs(plane):
        if spec.path == path:
            return spec
    raise UnknownName(f"{plane} has no path {path!r}.", advice="Measure again: the receipt is of another release.")
