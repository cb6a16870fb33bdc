"""What is recorded about a thread: its fence, the claims on its interrupts, the deliveries that were made."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from resumption.guard.columns import Columns, json_texts, number, optional, packed, place, text

__all__ = ["CLAIM_COLUMNS", "DELIVERIES", "DELIVERY_COLUMNS", "REFUSALS", "THREADS", "Claim", "Delivery", "Fence"]

THREADS = Columns("resumption_fences", "thread", {"thread": text})
FENCES = Columns("resumption_fences", "thread", {"number": number, "holder": text})
CLAIMS = Columns(
    "resumption_claims",
    "thread",
    {
        "thread": text, "key": text, "interrupt": text, "digest": text, "kind": text, "value": packed, "root": text,
        "namespace": text, "checkpoint": text, "task": text, "answered": number, "finished": json_texts,
        "delivery": text, "at": text, "place": place("host", "pid"),
    },
)  # fmt: skip
DELIVERIES = Columns(
    "resumption_deliveries",
    "thread",
    {
        "thread": text, "identity": text, "digest": text, "head": text, "kind": optional(text),
        "outcome": optional(packed), "at": text, "place": place("host", "pid"),
    },
)  # fmt: skip
REFUSALS = Columns(
    "resumption_refusals",
    "thread",
    {
        "thread": text, "interrupt": text, "branch": text, "digest": text, "delivery": text, "at": text,
        "place": place("host", "pid"),
    },
)  # fmt: skip
"""Refusals are written for the audit alone, which reads them by column."""


@dataclass(frozen=True, slots=True)
class Fence:
    """The last grant of a thread's lease: its number, and who got it."""

    number: int = 0
    holder: str | None = None

    @classmethod
    def of(cls, rows: Sequence[Sequence[object]], thread: str) -> Fence:
        """The fence of a thread from the rows that were selected, of which there is one once there was a grant."""
        return cls(*FENCES.read(rows[0], thread)) if rows else cls()


@dataclass(frozen=True, slots=True)
class Claim:
    """One decision that claimed one interrupt. `place` and `at` are for people."""

    thread: str
    key: str
    """The interrupt, told apart from all others of the thread: the task's identity, and how many answers it had."""
    interrupt: str
    """The id by which clients name the interrupt."""
    digest: str
    kind: str
    value: bytes
    """The decision, as the framework's serializer wrote it: `kind` is its name for the format."""
    root: str
    """The thread's newest checkpoint at the time."""
    namespace: str
    checkpoint: str
    task: str
    """Where the task that asked is recorded; empty if the framework doesn't tell."""
    answered: int
    """How many answers the task had before this one."""
    finished: str
    """The tasks under way around it whose results were recorded by then, as a JSON list."""
    delivery: str
    at: str
    place: str

    @classmethod
    def of(cls, row: Sequence[object]) -> Claim:
        """A claim from a row that was selected by `CLAIM_COLUMNS`."""
        return cls(*CLAIMS.read(row, row[0]))

    def values(self) -> tuple[object, ...]:
        """The claim as parameters, in the order of `CLAIM_COLUMNS`."""
        return tuple(getattr(self, column) for column in CLAIM_COLUMNS)


@dataclass(frozen=True, slots=True)
class Delivery:
    """One delivery that carries an id. Only parked and completed outcomes are recorded."""

    thread: str
    identity: str
    digest: str
    head: str
    """The thread's newest checkpoint when the delivery was accepted; empty if there was none."""
    kind: str | None
    outcome: bytes | None
    """What it came to, in the framework's serialization; None while it has no outcome."""
    at: str
    place: str

    @classmethod
    def of(cls, row: Sequence[object]) -> Delivery:
        """A delivery from a row that was selected by `DELIVERY_COLUMNS`."""
        return cls(*DELIVERIES.read(row, row[0]))

    def values(self) -> tuple[object, ...]:
        """The delivery as parameters, in the order of `DELIVERY_COLUMNS`."""
        return tuple(getattr(self, column) for column in DELIVERY_COLUMNS)


CLAIM_COLUMNS = tuple(field.name for field in dataclasses.fields(Claim))
DELIVERY_COLUMNS = tuple(field.name for field in dataclasses.fields(Delivery))
