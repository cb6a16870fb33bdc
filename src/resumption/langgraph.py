"""The guard for LangGraph: `guard` a compiled graph, `fork` where a second outcome is wanted.

`docs/guard.md` says what is protected, where each decision is taken, and what isn't covered.
"""

from __future__ import annotations

from resumption.errors import (
    AlreadyConsumed,
    AmbiguousAnswer,
    DecisionPending,
    DeliveryMismatch,
    EmptyAnswer,
    ExpiringLeases,
    Fenced,
    GuardError,
    InvalidCheckpoint,
    LeaseImpossible,
    NothingToFork,
    NotPending,
    ProgramChanged,
    RowUnreadable,
    RunBusy,
    SupersededCheckpoint,
    ThreadTaken,
    UnknownAddress,
    UnstorableValue,
    UnsupportedRelease,
    UnsupportedSaver,
    UnusableName,
    UnusableSetting,
)
from resumption.guard.langgraph.guarding import afork, fork, guard

__all__ = [
    "AlreadyConsumed",
    "AmbiguousAnswer",
    "DecisionPending",
    "DeliveryMismatch",
    "EmptyAnswer",
    "ExpiringLeases",
    "Fenced",
    "GuardError",
    "InvalidCheckpoint",
    "LeaseImpossible",
    "NotPending",
    "NothingToFork",
    "ProgramChanged",
    "RowUnreadable",
    "RunBusy",
    "SupersededCheckpoint",
    "ThreadTaken",
    "UnknownAddress",
    "UnstorableValue",
    "UnsupportedRelease",
    "UnsupportedSaver",
    "UnusableName",
    "UnusableSetting",
    "afork",
    "fork",
    "guard",
]
