"""What a report is made from: a receipt, and how its reader wants to see it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from resumption.contract.properties import Property
from resumption.contract.verdicts import Facet, Label
from resumption.harness.comparison import Drift
from resumption.harness.policy import ExitCode, Policy
from resumption.harness.receipts import Cell, Receipt
from resumption.planes.statements import Citation

__all__ = ["View", "codes", "place", "where"]


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One receipt, seen under a policy.

    `citations` are those of each plane, by the plane's name. `drifts` is None where there was no baseline; of one,
    `before` has the cells that were compared.
    """

    receipt: Receipt
    policy: Policy
    code: ExitCode
    citations: Mapping[str, Sequence[Citation]] = field(default_factory=dict)
    drifts: Sequence[Drift] | None = None
    before: Sequence[Cell] = ()
    verbose: bool = False

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The receipt's cells, with the labels of the rule in force."""
        if not self.policy.strict:
            return self.receipt.cells
        return tuple(replace(cell, label=cell.strict) for cell in self.receipt.cells)

    @property
    def moved(self) -> tuple[Cell, ...]:
        """The cells that the strict rule calls otherwise, as the receipt has them."""
        return tuple(cell for cell in self.receipt.cells if cell.label is not cell.strict)

    def count(self, label: Label) -> int:
        """How many cells have a label; the window facet stands beside the cells, and isn't counted."""
        return sum(cell.label is label and cell.facet is Facet.CELL for cell in self.cells)


def place(cells: Iterable[Cell], *, forms: bool = True) -> str:
    """Where cells were measured, each plane, backend and form said once: `langgraph graph memory, sqlite; no-input`."""
    cells = list(cells)
    backends: dict[str, dict[str, None]] = {}
    for cell in cells:
        backends.setdefault(f"{cell.plane} {cell.path}", {})[cell.backend] = None
    told = ", ".join(f"{plane} {', '.join(found)}" for plane, found in backends.items())
    named = dict.fromkeys(cell.form for cell in cells if cell.form)
    return f"{told}; {', '.join(named)}" if forms and named else told


def where(cell: Cell) -> str:
    """Where one cell was measured, its plane apart."""
    return f"{cell.backend}, form {cell.form}" if cell.form else cell.backend


def codes(cells: Iterable[Cell]) -> str:
    """The properties of cells, each said once, in the contract's order."""
    found = {cell.property for cell in cells}
    return ", ".join(property_ for property_ in Property if property_ in found)
