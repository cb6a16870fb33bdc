"""The ledger's conversation with a database, independent of driver and of sync or async.

Each operation is a generator that yields `(sql, parameters)` and is sent a `Reply`. Whoever drives it decides on which
connection, in which transaction and how it waits: the stores do it on a connection of their own between BEGIN and
COMMIT, `Ledger.transaction` on the caller's. So there is one copy of each protocol, and one place where a decision is
taken: between the lock and the conditional write.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import NamedTuple, TypeVar

from resumption.decide import admit as decide
from resumption.errors import LedgerUnavailable
from resumption.guard.stores.records import Owner, Record, Standing, fresh_token
from resumption.guard.stores.statements import Statements

__all__ = [
    "Answer",
    "Batch",
    "Judge",
    "Opening",
    "Reply",
    "Settlement",
    "Statement",
    "Wanted",
    "Work",
    "audit",
    "opening",
    "peeking",
    "resolving",
    "settling",
]

T = TypeVar("T")


class Reply(NamedTuple):
    """Rows of a query, and how many rows a write touched; of a batch, the replies to its parts."""

    rows: Sequence[Sequence[object]]
    touched: int
    parts: Sequence[Reply] = ()


Statement = tuple[str, tuple[object, ...]]
"""SQL and its parameters."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Statements none of which needs another's answer, so that they can be sent at once."""

    statements: Sequence[Statement]


Work = Generator[Statement | Batch, Reply, T]
"""An operation: yields statements, is sent replies, returns its outcome."""

Judge = Callable[[Record], Work[Standing]]
"""Finds out what is proven about a record's owner, on the connection that holds the record."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A call that wants to fire. `version` is the token its attempt will write, and recognise, its record by."""

    key: str
    arguments: str
    on_doubt: str
    idempotent: bool
    version: int
    owner: Owner


@dataclass(frozen=True, slots=True)
class Opening:
    """What `admit` said to a call, and the record after it: this attempt's own if the decision is FIRE or ASK."""

    decision: str
    record: Record


@dataclass(frozen=True, slots=True)
class Settlement:
    """How an attempt ended. `next_version` is the token of the write, so that a repeated write is recognised."""

    key: str
    version: int
    owner: int
    ended: str
    next_version: int
    result: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """An operator's word about a record in doubt."""

    key: str
    answer: str
    result: str | None
    actor: str
    note: str


def now() -> str:
    """The time, for people."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def peeking(sql: Statements, wanted: Wanted, standing_of: Judge) -> Work[Opening | None]:
    """Look without a lock: the answer if it needs no write (SERVE, WAIT), else None."""
    found = yield sql.read, (wanted.key,)
    if not found.rows:
        return None
    record = Record.of(found.rows[0])
    standing = yield from standing_of(record)
    decision = judge(record, wanted, standing)
    return Opening(decision, record) if decision in (decide.SERVE, decide.WAIT) else None


def judge(record: Record, wanted: Wanted, standing: Standing) -> str:
    """Ask `admit` about this record."""
    return decide.admit(
        record.state,
        record.earlier,
        record.arguments == wanted.arguments,
        record.result is not None,
        standing.alive,
        standing.dead,
        wanted.on_doubt,
        wanted.idempotent,
    )


def opening(sql: Statements, wanted: Wanted, standing_of: Judge) -> Work[Opening]:
    """Decide about a call and, if it may fire, make the record its own. Refusals leave an audit row.

    May be repeated after a broken connection: a record that already carries `wanted.version` is this attempt's.
    """
    while True:
        found = yield sql.lock, (wanted.key,)
        if not found.rows:
            record = _claim(None, wanted, decide.OPEN)
            inserted = yield sql.insert, record.values()
            if inserted.touched == 0:
                continue  # another transaction inserted the key since; PostgreSQL waited for it
            return Opening(decide.FIRE, record)
        record = Record.of(found.rows[0])
        if record.version == wanted.version:
            return Opening(decide.resumed(record.earlier, wanted.on_doubt), record)
        standing = yield from standing_of(record)
        decision = judge(record, wanted, standing)
        if decision in (decide.FIRE, decide.ASK):
            earlier = decide.claimed(record.state, record.earlier, standing.dead)
            claim = _claim(record, wanted, earlier)
            yield from _overwrite(sql, record, claim)
            return Opening(decision, claim)
        if decision not in (decide.SERVE, decide.WAIT):
            state = decide.observed(record.state, record.earlier, standing.dead)
            if state != record.state:
                seen = replace(record, version=fresh_token(), state=state, ended=now(), note="the owner died")
                yield from _overwrite(sql, record, seen)
                record = seen
            yield from audit(sql, wanted.key, "refused", decision, wanted.owner.place)
        return Opening(decision, record)


def settling(sql: Statements, settlement: Settlement, owner: int) -> Work[str]:
    """Write down how an attempt ended; return the new state, or SUPERSEDED. `owner` is the writing process."""
    found = yield sql.lock, (settlement.key,)
    record = Record.of(found.rows[0]) if found.rows else None
    if record is not None and record.version == settlement.next_version:
        return record.state
    state = decide.settle(
        None if record is None else record.state,
        decide.OPEN if record is None else record.earlier,
        record is not None and record.version == settlement.version,
        owner == settlement.owner,
        settlement.ended,
    )
    if record is None or state == decide.SUPERSEDED:
        if settlement.ended != decide.NOT_STARTED:
            yield from audit(sql, settlement.key, "refused", decide.SUPERSEDED, str(settlement.owner))
        return decide.SUPERSEDED
    renewed = decide.renews_key(state, settlement.ended)
    settled = replace(
        record,
        version=settlement.next_version,
        state=state,
        generation=record.generation + (1 if renewed else 0),
        ended=now(),
        note=settlement.note,
        result=settlement.result,
    )
    yield from _overwrite(sql, record, settled)
    return state


def resolving(sql: Statements, answer: Answer, standing_of: Judge) -> Work[tuple[str, Record | None]]:
    """Settle a record in doubt by an operator's word. Returns the decision and the record after it."""
    found = yield sql.lock, (answer.key,)
    if not found.rows:
        return decide.NOTHING_TO_RESOLVE, None
    record = Record.of(found.rows[0])
    standing = yield from standing_of(record)
    state = decide.resolve(record.state, standing.alive, answer.answer)
    if state in (decide.NOTHING_TO_RESOLVE, decide.STILL_RUNNING):
        yield from audit(sql, answer.key, "resolution refused", state, answer.actor, answer.note)
        return state, record
    settled = replace(
        record,
        version=fresh_token(),
        state=state,
        earlier=decide.OPEN,
        ended=now(),
        note=f"resolved as {answer.answer}",
        result=answer.result,
    )
    yield from _overwrite(sql, record, settled)
    yield from audit(sql, answer.key, "resolved", answer.answer, answer.actor, answer.note)
    return state, settled


def audit(sql: Statements, key: str, what: str, branch: str, actor: str, note: str = "") -> Work[None]:
    """Add an audit row."""
    yield sql.audit, (key, now(), what, branch, actor, note)


def _claim(record: Record | None, wanted: Wanted, earlier: str) -> Record:
    """This attempt's record: running, owned by this process."""
    return Record(
        key=wanted.key,
        version=wanted.version,
        state=decide.RUNNING,
        earlier=earlier,
        arguments=wanted.arguments,
        owner=wanted.owner.token,
        place=wanted.owner.place,
        attempt=1 if record is None else record.attempt + 1,
        generation=0 if record is None else record.generation,
        began=now(),
        ended=None,
        note=None,
        result=None,
    )


def _overwrite(sql: Statements, old: Record, new: Record) -> Work[None]:
    """The conditional write. Under the row's lock it can't miss; if it does, the lock is broken and nothing is safe."""
    written = yield sql.update, (*new.values(), old.key, old.version)
    if written.touched != 1:
        raise LedgerUnavailable(
            f"The record of {old.key!r} changed under its own lock.",
            advice="The database doesn't isolate transactions; no effect is safe on it.",
            key=old.key,
        )
