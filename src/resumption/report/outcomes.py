"""What a cell is to a tool that knows passing, failing and skipping only.

A finding by the policy in force fails. What could not be told is an error, never a pass; a breach that the policy
doesn't count, or that was accepted, is skipped, never a pass either.
"""

from __future__ import annotations

from enum import StrEnum

from resumption.contract.verdicts import Label
from resumption.harness.comparison import Drift
from resumption.harness.policy import FailOn, is_finding, is_open
from resumption.harness.receipts import Cell
from resumption.report.marks import MARKS
from resumption.report.view import View

__all__ = ["Outcome", "change", "outcome", "why"]


class Outcome(StrEnum):
    """What becomes of a cell."""

    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"
    PASSED = "passed"


def outcome(cell: Cell, view: View) -> Outcome:
    """What a cell of the view's receipt comes to, under its policy."""
    if is_finding(cell, view.policy, frozenset(drift.cell for drift in view.drifts or ())):
        return Outcome.FAILED
    if cell.accepted:
        return Outcome.SKIPPED
    if is_open(cell):
        return Outcome.ERROR
    return Outcome.PASSED if cell.label is Label.HOLDS else Outcome.SKIPPED


def why(cell: Cell, view: View) -> str:
    """In one sentence, what a cell says: its word, and the first finding or reason behind it.

    Where drift is what counts, how the cell drifted comes first.
    """
    findings = [finding.summary for part in cell.parts for finding in part.findings]
    reasons = [part.reason for part in cell.parts if part.reason]
    behind = next(iter([*findings, *reasons]), MARKS[cell.label].meaning)
    accepted = f"accepted because: {cell.accepted}; " if cell.accepted else ""
    drifted = [drift for drift in view.drifts or () if drift.cell == cell.identity]
    changed = "".join(f"{change(drift)}; " for drift in drifted) if view.policy.fail_on is FailOn.DRIFT else ""
    return f"{changed}{MARKS[cell.label].word}: {accepted}{behind}"


def change(drift: Drift) -> str:
    """What a probe says now, against what it said before: `fork/two-values: holds to violates`."""
    before, now = (MARKS[label].word if label else None for label in (drift.before, drift.now))
    if before is None or now is None:
        return f"{drift.probe}: new, {now}" if before is None else f"{drift.probe}: gone, was {before}"
    return f"{drift.probe}: {before} to {now}"
