"""Compares two receipts: which cells are fixed, regressed, drifted, new or gone between them.

A cell is compared probe by probe, over the probes that both receipts have. So a probe that newly breaks in a cell that
another one had broken before is a regression, and a probe that only one suite has is none. Against a baseline, such a
probe counts as a drift too.

Frameworks write from several threads, so what a kill leaves behind differs from run to run. Where a side was measured
for the comparison, what changed is therefore measured again, and a change that isn't seen twice is no change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from resumption.contract.verdicts import Label
from resumption.errors import ComparisonImpossible
from resumption.harness.receipts import Cell, Receipt

__all__ = [
    "FORMAT",
    "CellChange",
    "Change",
    "Comparison",
    "Drift",
    "PinChange",
    "ProbeChange",
    "Side",
    "change_of",
    "changed_probes",
    "compare",
    "compared_cells",
    "confirm",
    "drifts_from",
]

FORMAT = "resumption.comparison/1"

_ProbeLabels = dict[tuple[str, str], Label]
"""What each probe says of each cell, by the cell's identity and the probe's address."""

_BREACHES = frozenset({Label.VIOLATES, Label.UNDOCUMENTED, Label.DIVERGENT})


class Change(StrEnum):
    """What became of a cell, in the order in which readers want to hear of it."""

    REGRESSED = "regressed"
    """A probe held, and breaches now."""
    FIXED = "fixed"
    """The cell was a breach, and holds now."""
    DRIFTED = "drifted"
    """What it is called, or what one of its probes is called, changed in another way."""
    UNSETTLED = "unsettled"
    """Measured again, a side said something else: chance decides it, so nothing is known of a change."""
    NEW = "new"
    GONE = "gone"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Drift:
    """What one probe says in one cell now, against what it said before; None where it says nothing."""

    cell: str
    probe: str
    before: Label | None
    now: Label | None


@dataclass(frozen=True, slots=True)
class ProbeChange:
    """A probe that says something else of a cell than before."""

    probe: str
    change: Change
    before: Label
    after: Label


@dataclass(frozen=True, slots=True, kw_only=True)
class CellChange:
    """A cell that isn't what it was. `before` is None for a new one, `after` for one that is gone."""

    identity: str
    change: Change
    before: Cell | None
    after: Cell | None
    probes: tuple[ProbeChange, ...] = ()


@dataclass(frozen=True, slots=True)
class PinChange:
    """A distribution that both environments have, in different versions."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """Where one side of a comparison comes from. `name` is what the user called it."""

    name: str
    versions: tuple[str, ...]
    """The versions of the frameworks that were measured."""
    created: str
    python: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Everything that differs between two receipts."""

    format: str = FORMAT
    before: Side
    after: Side
    changes: tuple[CellChange, ...]
    """By kind of change, in the order of `Change`, and by cell."""
    unchanged: tuple[Cell, ...]
    """The cells that are what they were, as the second receipt has them."""
    pins: tuple[PinChange, ...]

    def count(self, change: Change) -> int:
        """How many cells changed so."""
        return len(self.unchanged) if change is Change.UNCHANGED else len(self.of(change))

    def of(self, change: Change) -> tuple[CellChange, ...]:
        """The cells that changed so."""
        return tuple(item for item in self.changes if item.change is change)


def change_of(before: Label, after: Label) -> Change:
    """What a label's change amounts to."""
    if before is after:
        return Change.UNCHANGED
    if before is Label.HOLDS and after in _BREACHES:
        return Change.REGRESSED
    if before in _BREACHES and after is Label.HOLDS:
        return Change.FIXED
    return Change.DRIFTED


def compare(before: Receipt, after: Receipt, *, names: tuple[str, str]) -> Comparison:
    """Compare two receipts, which the user calls by these names.

    Raises `ComparisonImpossible` if a receipt has one cell for several versions, or the two have none in common.
    """
    old, new = _by_identity(before, names[0]), _by_identity(after, names[1])
    if old.keys().isdisjoint(new):
        raise ComparisonImpossible(
            f"{names[0]} and {names[1]} have no cell in common.",
            advice="Compare receipts of the same planes and backends.",
        )
    cells = [_cell_change(identity, old.get(identity), new.get(identity)) for identity in sorted(old.keys() | new)]
    return Comparison(
        before=_side(before, names[0]),
        after=_side(after, names[1]),
        changes=_ordered(cell for cell in cells if cell.change is not Change.UNCHANGED),
        unchanged=tuple(cell.after for cell in cells if cell.change is Change.UNCHANGED and cell.after),
        pins=_pin_changes(before, after),
    )


def drifts_from(baseline: Receipt, receipt: Receipt) -> tuple[Drift, ...]:
    """What `receipt` says differently from `baseline`, probe by probe, in the order of the cells' identities.

    Only what was selected is compared: the planes, paths and backends that the receipt has, and the probes that were
    chosen for it; where it doesn't tell these, all of either. Versions may differ: what changed between two of them is
    the question.

    Raises `ComparisonImpossible` if a receipt has one cell for several versions: only one of them could be compared.
    """
    drifts = _drifts(compared_cells(baseline, receipt), _by_identity(receipt, "This run").values())
    selected = [drift for drift in drifts if not receipt.probes or drift.probe in receipt.probes]
    return tuple(sorted(selected, key=lambda drift: (drift.cell, drift.probe)))


def compared_cells(baseline: Receipt, receipt: Receipt) -> list[Cell]:
    """The cells of a baseline that a receipt is compared with: of the planes, paths and backends that it has.

    Raises `ComparisonImpossible` as `drifts_from` does.
    """
    rows = {_row(cell) for cell in receipt.cells}
    return [cell for cell in _by_identity(baseline, "The baseline").values() if _row(cell) in rows]


def changed_probes(comparison: Comparison) -> frozenset[str]:
    """The addresses of the probes that say something else than before, in any cell."""
    return frozenset(probe.probe for change in comparison.changes for probe in change.probes)


def confirm(comparison: Comparison, before: Receipt, after: Receipt) -> Comparison:
    """Call unsettled what doesn't come out as it did in these receipts, of the same sides measured again.

    They need to have no more than the `changed_probes`; a side that can't be measured again is given as it was.
    """
    old, new = _probe_labels(before.cells), _probe_labels(after.cells)
    changes = (_confirmed(change, old, new) for change in comparison.changes)
    return replace(comparison, changes=_ordered(changes))


def _confirmed(change: CellChange, old: _ProbeLabels, new: _ProbeLabels) -> CellChange:
    steady = [
        probe
        for probe in change.probes
        if old.get((change.identity, probe.probe)) is probe.before
        and new.get((change.identity, probe.probe)) is probe.after
    ]
    regressed = any(probe.change is Change.REGRESSED for probe in steady)
    return change if regressed or len(steady) == len(change.probes) else replace(change, change=Change.UNSETTLED)


def _ordered(changes: Iterable[CellChange]) -> tuple[CellChange, ...]:
    order = list(Change)
    return tuple(sorted(changes, key=lambda change: order.index(change.change)))


def _probe_labels(cells: Iterable[Cell]) -> _ProbeLabels:
    return {(cell.identity, part.probe): part.label for cell in cells for part in cell.parts}


def _drifts(before: Iterable[Cell], after: Iterable[Cell]) -> list[Drift]:
    """Where a probe says something else of a cell than before, or only once says anything, in the cells' order."""
    old, new = _probe_labels(before), _probe_labels(after)
    return [
        Drift(cell, probe, old.get((cell, probe)), new.get((cell, probe)))
        for cell, probe in dict.fromkeys((*old, *new))
        if old.get((cell, probe)) is not new.get((cell, probe))
    ]


def _row(cell: Cell) -> tuple[str, str, str]:
    return cell.plane, cell.path, cell.backend


def _by_identity(receipt: Receipt, name: str) -> dict[str, Cell]:
    """The cells of a receipt, which errors call `name`.

    Raises `ComparisonImpossible` if it has one cell for several versions.
    """
    repeated = [identity for identity, times in Counter(cell.identity for cell in receipt.cells).items() if times > 1]
    if repeated:
        raise ComparisonImpossible(
            f"{name} has the cell {repeated[0]} for more than one version.",
            advice="Compare receipts of one version each; `resumption sweep --json-dir` writes those.",
        )
    return {cell.identity: cell for cell in receipt.cells}


def _cell_change(identity: str, before: Cell | None, after: Cell | None) -> CellChange:
    if before is None or after is None:
        change = Change.NEW if before is None else Change.GONE
        return CellChange(identity=identity, change=change, before=before, after=after)
    probes = _probe_changes(before, after)
    kinds = {probe.change for probe in probes}
    whole = change_of(before.label, after.label)
    if Change.REGRESSED in kinds:
        change = Change.REGRESSED
    elif whole is Change.FIXED and Change.FIXED in kinds:
        change = Change.FIXED
    elif probes or whole is not Change.UNCHANGED:
        change = Change.DRIFTED
    else:
        change = Change.UNCHANGED
    return CellChange(identity=identity, change=change, before=before, after=after, probes=probes)


def _probe_changes(before: Cell, after: Cell) -> tuple[ProbeChange, ...]:
    return tuple(
        ProbeChange(drift.probe, change_of(drift.before, drift.now), drift.before, drift.now)
        for drift in _drifts([before], [after])
        if drift.before and drift.now
    )


def _side(receipt: Receipt, name: str) -> Side:
    versions = dict.fromkeys(f"{cell.plane} {cell.version}".strip() for cell in receipt.cells)
    return Side(name=name, versions=tuple(versions), created=receipt.created, python=receipt.python)


def _pin_changes(before: Receipt, after: Receipt) -> tuple[PinChange, ...]:
    old, new = _pins(before.pins.values()), _pins(after.pins.values())
    return tuple(PinChange(name, old[name], new[name]) for name in sorted(old.keys() & new) if old[name] != new[name])


def _pins(environments: Iterable[Mapping[str, str]]) -> dict[str, str]:
    return {name: version for pins in environments for name, version in pins.items()}
