"""Matrices of faults against properties: Table III and its relatives, published and obtained verdicts side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from resumption.errors import ToolMissing
from resumption.model.catalogue import (
    R8_BOUNDS,
    Run,
    consume_cells,
    matrix_cells,
    parked_cells,
    separation_cells,
)
from resumption.model.published import (
    CONSUME_FOOTPRINTS,
    FOOTPRINTS,
    FOOTPRINTS_AT_R8,
    PARKED_FOOTPRINTS,
    SEPARATION_FOOTPRINTS,
    SPACES,
    SPACES_AT_R8,
)
from resumption.model.search import LIVENESS, eventually_completes, survey
from resumption.model.semantics import Fault
from resumption.model.variants import Parking

__all__ = ["Cell", "Matrix", "MatrixKind", "Row", "matrix"]

EXPLICIT_LIMIT = 10_000_000
"""State spaces above this many states are counted as a product instead of visited."""

REFERENCE = "reference"

Footprints = Mapping[str, Mapping[str, int]]


class MatrixKind(StrEnum):
    """The matrices that there are."""

    CONTRACT = "contract"
    SEPARATIONS = "separations"
    CONSUME = "consume"
    CONSUME_WIDE = "consume-wide"
    PARKED_DURABLE = "parked-durable"
    PARKED_VOLATILE = "parked-volatile"


@dataclass(frozen=True, slots=True)
class Cell:
    """One verdict: the depth of the shortest counterexample, or `None` where the claim holds."""

    claim: str
    obtained: int | None
    expected: int | None

    @property
    def agrees(self) -> bool:
        """Whether the verdict and the depth are the expected ones."""
        return self.obtained == self.expected


@dataclass(frozen=True, slots=True)
class Row:
    """All cells of one fault, and the size of its whole state space."""

    name: str
    cells: tuple[Cell, ...]
    generated: int
    distinct: int
    expected_distinct: int | None
    method: str
    """How the space was covered: `search`, `packed` or `product`."""

    @property
    def agrees(self) -> bool:
        """Whether every cell and the size of the space are as expected."""
        sized = self.expected_distinct in (None, self.distinct)
        return sized and all(cell.agrees for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Matrix:
    """A whole matrix."""

    title: str
    rows: tuple[Row, ...]

    @property
    def cells(self) -> int:
        """How many cells it has."""
        return sum(len(row.cells) for row in self.rows)

    @property
    def agrees(self) -> bool:
        """Whether every row agrees with what was expected."""
        return all(row.agrees for row in self.rows)


def matrix(kind: MatrixKind, *, large: bool = False) -> Matrix:
    """Compute a matrix. `large` takes the contract's at the constants of R8, which needs numpy (`ToolMissing`)."""
    if large:
        if kind is not MatrixKind.CONTRACT:
            raise ValueError(f"only the contract's matrix is defined at the constants of R8, not {kind}")
        return Matrix("Table III at the constants of R8", tuple(_large_rows()))
    title, cells, footprints, sizes = _small(kind)
    return Matrix(title, tuple(_searched_rows(cells, footprints, sizes)))


def _small(kind: MatrixKind) -> tuple[str, Iterable[Run], Footprints, Mapping[str, tuple[int, int]]]:
    if kind is MatrixKind.CONTRACT:
        return "Table III: faults against properties", matrix_cells(), FOOTPRINTS, SPACES
    if kind is MatrixKind.SEPARATIONS:
        return "R10: separating deviations", separation_cells(), SEPARATION_FOOTPRINTS, {}
    if kind in (MatrixKind.CONSUME, MatrixKind.CONSUME_WIDE):
        bounds = "wide" if kind is MatrixKind.CONSUME_WIDE else REFERENCE
        return f"R11: consumptions counted, {bounds} bounds", consume_cells(bounds), CONSUME_FOOTPRINTS[bounds], {}
    parking = Parking.DURABLE if kind is MatrixKind.PARKED_DURABLE else Parking.VOLATILE
    return f"Crashes while parked, {parking} parking", parked_cells(parking), PARKED_FOOTPRINTS[parking], {}


def _searched_rows(cells: Iterable[Run], footprints: Footprints, sizes: Mapping[str, tuple[int, int]]) -> Iterator[Row]:
    for name, group in groupby(cells, key=_row_name):
        runs = list(group)
        machine = runs[0].machine()
        claims = {claim: machine.invariants[claim] for run in runs for claim in run.safety}
        surveyed = survey(machine, claims)
        broken = dict(surveyed.broken)
        if any(run.liveness for run in runs) and (violation := eventually_completes(machine)):
            broken[LIVENESS] = violation.depth
        found = _cells(runs, broken, footprints.get(name, {}))
        expected = sizes[name][1] if name in sizes else None
        yield Row(name, found, surveyed.generated, surveyed.distinct, expected, "search")


def _row_name(run: Run) -> str:
    return run.name.partition("/")[0]


def _cells(runs: Iterable[Run], broken: Mapping[str, int], footprint: Mapping[str, int]) -> tuple[Cell, ...]:
    def earliest(claims: Iterable[str], depths: Mapping[str, int]) -> int | None:
        return min((depths[claim] for claim in claims if claim in depths), default=None)

    return tuple(
        Cell(run.name.partition("/")[2], earliest(run.claims, broken), earliest(run.claims, footprint)) for run in runs
    )


def _large_rows() -> Iterator[Row]:
    try:
        from resumption.model.explore import explore
        from resumption.model.projection import NotIndependent, project
    except ImportError as error:
        what = f"The matrix at the constants of R8 needs numpy, which can't be imported ({error})."
        raise ToolMissing(what, advice="Install the extra: pip install '.[model]'.") from error
    for name, group in groupby(matrix_cells(R8_BOUNDS), key=_row_name):
        runs = list(group)
        faults = frozenset({Fault(name)}) if name != REFERENCE else frozenset()
        try:
            explored, method = project(R8_BOUNDS, faults), "product"
        except NotIndependent:
            explored, method = explore(R8_BOUNDS, faults, stop=False), "packed"
        if method == "product" and explored.distinct <= EXPLICIT_LIMIT:
            explored, method = explore(R8_BOUNDS, faults, stop=False), "packed"
        broken = dict(explored.broken)
        if not explored.always_completes:
            broken[LIVENESS] = explored.depth
        found = _cells(runs, broken, FOOTPRINTS_AT_R8.get(name, {}))
        yield Row(name, found, explored.generated, explored.distinct, SPACES_AT_R8[name], method)
