"""Every error that resumption raises, in one place.

Each error has a stable code (`RSM-…`) with a section in `docs/errors.md`, and its message says what happened, to what,
and what to do about it.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "ComparisonImpossible",
    "EnvironmentBroken",
    "EnvironmentUnavailable",
    "HistoryUnreadable",
    "ReceiptUnreadable",
    "ResumptionError",
    "TargetUnreadable",
    "UnknownName",
    "WorkerLost",
]


class ResumptionError(Exception):
    """Base of all errors of this package."""

    code: ClassVar[str] = "RSM-000"

    def __init__(self, what: str, *, advice: str) -> None:
        super().__init__(what)
        self.what = what
        self.advice = advice

    def __str__(self) -> str:
        return f"[{self.code}] {self.what} {self.advice}"


class HistoryUnreadable(ResumptionError):
    """A history file is not one, or a line of it can't be understood. The message names file and line."""

    code = "RSM-101"


class ReceiptUnreadable(ResumptionError):
    """A receipt (or baseline) file is not one, or is of another format version."""

    code = "RSM-102"


class UnknownName(ResumptionError):
    """A plane, probe, property, form or error code that nobody has registered."""

    code = "RSM-201"


class TargetUnreadable(ResumptionError):
    """What was asked to be measured isn't written as `PLANE[BACKEND,…]@VERSION,…`, or can't have a version."""

    code = "RSM-202"


class ComparisonImpossible(ResumptionError):
    """Two receipts have no cell in common, or one holds several versions of the same cell."""

    code = "RSM-203"


class EnvironmentBroken(ResumptionError):
    """The framework under test can't be imported in its environment, so nothing could be measured."""

    code = "RSM-301"


class WorkerLost(ResumptionError):
    """A worker process ended, or stopped answering, where the protocol didn't ask it to."""

    code = "RSM-302"


class EnvironmentUnavailable(ResumptionError):
    """An isolated environment can't be resolved or made: no uv, network or such version, or other files than locked."""

    code = "RSM-304"
