"""What a receipt means for the exit code: what counts as a finding, and what was accepted.

A finding beats an inconclusive cell, and an inconclusive cell is never a pass, whatever the policy. The window facet of
effect exactly-once is shown and compared, but never fails a run by itself: no framework can close it alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum

from resumption.contract.judges import possible_facets
from resumption.contract.verdicts import Facet, Label, Measured
from resumption.harness.comparison import Drift
from resumption.harness.probes import Probe
from resumption.harness.receipts import Cell
from resumption.planes.interface import PlaneSpec

__all__ = ["ExitCode", "FailOn", "Policy", "exit_code", "is_finding", "is_open", "known_cells"]


class FailOn(StrEnum):
    """What a user wants to be told by the exit code."""

    BREACH = "breach"
    """Any breach of the contract, documented or not."""
    VIOLATION = "violation"
    """A breach that contradicts what the framework states, or that corrupts state in silence."""
    DRIFT = "drift"
    """Any change against a baseline."""
    NEVER = "never"
    """Nothing: the run only measures."""


class ExitCode(IntEnum):
    """How `resumption check` ends. 2 is click's own code for a mistake in the command line."""

    CLEAN = 0
    FINDINGS = 1
    USAGE = 2
    INCONCLUSIVE = 3
    INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Policy:
    """When a run fails. With `strict`, the labels of the strict rule count: any breach violates."""

    fail_on: FailOn = FailOn.VIOLATION
    strict: bool = False


def is_finding(cell: Cell, policy: Policy, drifted: frozenset[str] = frozenset()) -> bool:
    """Whether a cell fails the run. `drifted` holds the identities of the cells that differ from the baseline."""
    if cell.accepted:
        return False
    match policy.fail_on:
        case FailOn.BREACH:
            return cell.facet is Facet.CELL and cell.measured is Measured.BREACHES
        case FailOn.VIOLATION:
            label = cell.strict if policy.strict else cell.label
            return cell.facet is Facet.CELL and label is Label.VIOLATES
        case FailOn.DRIFT:
            return cell.identity in drifted
        case FailOn.NEVER:
            return False


def is_open(cell: Cell) -> bool:
    """Whether a part of a cell could not be measured here and now, so that the cell is no pass."""
    return any(part.label in {Label.INCONCLUSIVE, Label.NOT_RUN} for part in cell.parts) or not cell.parts


def exit_code(
    cells: Iterable[Cell], policy: Policy, drifts: Sequence[Drift] = (), *, accepted: Iterable[str] = ()
) -> ExitCode:
    """How a run with these cells ends.

    A cell that only the baseline has is a finding under `drift`, unless its identity is among the `accepted`. A run
    without any cell is inconclusive.
    """
    cells = list(cells)
    drifted = frozenset(drift.cell for drift in drifts)
    gone = drifted - {cell.identity for cell in cells} - set(accepted)
    if any(is_finding(cell, policy, drifted) for cell in cells) or (policy.fail_on is FailOn.DRIFT and gone):
        return ExitCode.FINDINGS
    if not cells or any(is_open(cell) for cell in cells):
        return ExitCode.INCONCLUSIVE
    return ExitCode.CLEAN


def known_cells(specs: Iterable[PlaneSpec], probes: Sequence[Probe]) -> frozenset[str]:
    """The identities of all cells that the probes can decide on the planes, so that an acceptance can be checked."""
    return frozenset(
        Cell(
            plane=spec.name,
            version="",
            path=spec.path,
            backend=backend.name,
            property=property_,
            facet=facet,
            operation=form.operation if form else None,
            form=form.name if form else "",
            measured=Measured.UNDETERMINED,
            label=Label.INCONCLUSIVE,
            strict=Label.INCONCLUSIVE,
        ).identity
        for spec in specs
        for backend in spec.backends
        for probe in probes
        for form in (spec.forms_of(probe.operation) if probe.operation else (None,))
        for property_ in probe.decides
        for facet in possible_facets(property_)
    )
