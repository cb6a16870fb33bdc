"""What a store keeps about one effect, and what it says about an owner."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from resumption.guard.columns import Columns, moment, number, optional, place, text

__all__ = ["COLUMNS", "Owner", "Record", "Standing", "fresh_token"]


@dataclass(frozen=True, slots=True)
class Record:
    """One effect. Times are for people; no decision reads them except `prune`, whose cut-off an operator gives."""

    key: str
    version: int  # a fresh random token at each write: a deleted and rewritten record is never mistaken for the old one
    state: str  # see `resumption.decide.admit`
    earlier: str
    arguments: str  # digest
    owner: int
    place: str  # where the owner runs, as JSON
    attempt: int
    generation: int  # part of the provider key; counts the attempts that are declared not to have fired
    began: str
    ended: str | None
    note: str | None
    result: str | None

    @classmethod
    def of(cls, row: Sequence[object]) -> Record:
        """A record from a row that was selected by `COLUMNS`."""
        return cls(*EFFECTS.read(row, row[0]))

    def values(self) -> tuple[object, ...]:
        """The record as parameters, in the order of `COLUMNS`."""
        return dataclasses.astuple(self)


EFFECTS = Columns(
    "resumption_effects",
    "key",
    {
        "key": text, "version": number, "state": text, "earlier": text, "arguments": text, "owner": number,
        "place": place("host", "pid", "boot", "inode"), "attempt": number, "generation": number, "began": moment,
        "ended": optional(moment), "note": optional(text), "result": optional(text),
    },
)  # fmt: skip
COLUMNS = tuple(field.name for field in dataclasses.fields(Record))


@dataclass(frozen=True, slots=True)
class Owner:
    """A process, as a name for records: its token and, as JSON, where it runs."""

    token: int
    place: str


@dataclass(frozen=True, slots=True)
class Standing:
    """What is proven about an owner. Both False: it may be a zombie. Both True doesn't exist."""

    alive: bool
    dead: bool


ALIVE = Standing(alive=True, dead=False)
DEAD = Standing(alive=False, dead=True)
UNPROVEN = Standing(alive=False, dead=False)


def fresh_token() -> int:
    """A random positive integer of 62 bits: fits a BIGINT and a lock offset; never drawn twice in practice."""
    return secrets.randbits(62) | 1
