"""What is recorded about a thread: its fence, the claims on its interrupts, the deliveries that were made."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["CLAIM_COLUMNS", "DELIVERY_COLUMNS", "Claim", "Delivery", "Fence"]


@dataclass(frozen=True, slots=True)
class Fence:
    """The last grant of a thread's lease: its number, and who got it."""

    number: int = 0
    holder: str | None = None

    @classmethod
    def of(cls, rows: Sequence[Sequence[object]]) -> Fence:
        """The fence from the rows that were selected, of which there is one once there was a grant."""
        if not rows:
            return cls()
        number, holder = rows[0]
        return cls(int(str(number)), None if holder is None else str(holder))


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
        return cls(*row)  # type: ignore[arg-type]  # the schema fixes the columns' types

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
        return cls(*row)  # type: ignore[arg-type]  # the schema fixes the columns' types

    def values(self) -> tuple[object, ...]:
        """The delivery as parameters, in the order of `DELIVERY_COLUMNS`."""
        return tuple(getattr(self, column) for column in DELIVERY_COLUMNS)


CLAIM_COLUMNS = tuple(field.name for field in dataclasses.fields(Claim))
DELIVERY_COLUMNS = tuple(field.name for field in dataclasses.fields(Delivery))
