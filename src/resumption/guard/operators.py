"""What operators do to a ledger: look, answer what no program can, forget what is long settled."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

from resumption.decide import admit as decide
from resumption.errors import NotResolvable, RowUnreadable, UnknownRecord
from resumption.guard.codec import encode
from resumption.guard.ledger import Ledger
from resumption.guard.settings import must_be_storable_text
from resumption.guard.stores.protocol import Answer, Work, audit, resolving
from resumption.guard.stores.records import Record, Standing

__all__ = ["AuditRow", "Seen", "audit_trail", "listing", "prune", "resolve", "see"]


@dataclass(frozen=True, slots=True)
class Seen:
    """A record, and what is proven about its owner now."""

    record: Record
    standing: Standing

    @property
    def state(self) -> str:
        """The record's state in the light of that."""
        return decide.shown(self.record.state, self.record.earlier, self.standing.alive, self.standing.dead)


@dataclass(frozen=True, slots=True)
class AuditRow:
    """Who did what, when, from where, and by which branch of the decision."""

    at: str
    what: str
    branch: str
    actor: str
    note: str


def listing(
    ledger: Ledger, *, everything: bool = False, unreadable: Callable[[RowUnreadable], object] | None = None
) -> Iterator[Seen]:
    """The effects that run or are in doubt; with `everything`, the settled ones too.

    `unreadable` is told of each record that can't be read, whose effect may be in doubt; without it, that is raised.
    """
    for record in ledger.records(unreadable):
        if everything or decide.unsettled(record.state):
            yield _seen(ledger, record)


def see(ledger: Ledger, key: str) -> Seen:
    """One effect. Raises `UnknownRecord`."""
    record = ledger.get(key)
    if record is None:
        raise UnknownRecord(
            f"There is no record {key!r}.", advice="`resumption ledger list --all` shows the keys.", key=key
        )
    return _seen(ledger, record)


def audit_trail(ledger: Ledger, key: str) -> list[AuditRow]:
    """What was refused and resolved under this key, oldest first."""
    sql = ledger.store.sql

    def reading() -> Work[list[AuditRow]]:
        found = yield sql.audit_of, (key,)
        return [AuditRow(*map(str, row)) for row in found.rows]

    return ledger.store.look(reading)


def resolve(ledger: Ledger, key: str, *, fired: bool, result: str | None = None, actor: str, note: str = "") -> Seen:
    """Say whether an effect in doubt fired; `result` is what it returned, as JSON text.

    An effect that did not fire may fire again. Raises `UnknownRecord`, or `NotResolvable` if there is no open question
    or the effect is still running; `ValueError` if the result is not JSON.
    """
    must_be_storable_text("actor", actor)
    must_be_storable_text("note", note)
    see(ledger, key)
    answer = Answer(
        key,
        decide.FIRED if fired else decide.NOT_FIRED,
        encode(json.loads(result)) if fired and result is not None else None,
        actor,
        note,
    )
    store = ledger.store
    decision, _ = store.transact(lambda: resolving(store.sql, answer, ledger.standing))
    if decision == decide.NOTHING_TO_RESOLVE:
        raise NotResolvable(f"The effect {key!r} is settled.", advice="There is nothing to resolve.", key=key)
    if decision == decide.STILL_RUNNING:
        raise NotResolvable(
            f"The effect {key!r} is still running.",
            advice="Its owner lives: wait for it, or end that process.",
            key=key,
        )
    return see(ledger, key)


def prune(
    ledger: Ledger,
    *,
    before: datetime,
    actor: str,
    unreadable: Callable[[RowUnreadable], object] | None = None,
) -> int:
    """Forget settled records that ended before a time; return how many. A forgotten key can fire again.

    `unreadable` is told of each record that can't be read, which is kept; without it, that is raised.
    """
    must_be_storable_text("actor", actor)
    sql = ledger.store.sql
    removed = 0
    batch: list[Record] = []

    def removing() -> Work[int]:
        count = 0
        for record in batch:
            reply = yield sql.delete, (record.key, record.version)
            count += reply.touched
        return count

    for record in ledger.records(unreadable):
        old = record.ended is not None and datetime.fromisoformat(record.ended) < before
        if decide.prunable(record.state, old):
            batch.append(record)
        if len(batch) == 500:
            removed += ledger.store.transact(removing)
            batch.clear()
    removed += ledger.store.transact(removing)
    ledger.store.transact(
        lambda: audit(sql, "*", "pruned", f"before {before.isoformat()}", actor, f"{removed} records")
    )
    return removed


def _seen(ledger: Ledger, record: Record) -> Seen:
    return Seen(record, ledger.store.look(lambda: ledger.standing(record)))
