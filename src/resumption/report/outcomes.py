"""What a cell is to a tool that knows passing, failing and skipping only.

A finding by the policy in force fails. What could not be told is an error, never a pass; a breach that the policy
doesn't count, or that was accepted, is skipped, never a pass either.
"""

from __future__ import annotations

from enum import StrEnum

from resumption.contract.verdicts import Label
from resumption.harness.policy import is_finding, is_open
from resumption.harness.receipts import Cell
from resumption.report.marks import MARKS
from resumption.report.view import View

__all__ = ["Outcome", "outcome", "why"]


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


def why(cell: Cell) -> str:
    """In one sentence, what a cell says: its word, and the first finding or reason behind it."""
    findings = [finding.summary for part in cell.parts for finding in part.findings]
    reasons = [part.reason for part in cell.parts if part.reason]
    behind = next(iter([*findings, *reasons]), MARKS[cell.label].meaning)
    accepted = f"accepted because: {cell.accepted}; " if cell.accepted else ""
    return f"{MARKS[cell.label].word}: {accepted}{behind}"
