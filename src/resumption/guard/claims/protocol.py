"""The conversations with a database about fences, claims and deliveries, independent of driver and event loop.

Each is a generator of statements (`resumption.guard.stores.protocol.Work`). Whoever drives it does so in a transaction
that excludes other writers, so that a decision and the write that rests on it can't be torn apart.
"""

from __future__ import annotations

import json
import os
import platform
import secrets
from collections.abc import Iterable
from datetime import UTC, datetime

from resumption.decide.lease import Lease, fence_after, holds, lease
from resumption.errors import Fenced, SchemaMismatch
from resumption.guard.claims.records import Claim, Delivery, Fence
from resumption.guard.claims.statements import FENCES_READABLE, SCHEMA_VERSION, Statements
from resumption.guard.stores.protocol import Work

__all__ = [
    "accepting",
    "claiming",
    "claims_at",
    "concluding",
    "creating",
    "delivered",
    "fencing",
    "glancing",
    "holding",
    "now",
    "place",
    "present",
    "readable",
    "refusing",
    "unclaiming",
]


def now() -> str:
    """The time, for people."""
    return datetime.now(UTC).isoformat()


def place() -> str:
    """Where this process runs, for people."""
    return json.dumps({"host": platform.node(), "pid": os.getpid()})


def present(sql: Statements) -> Work[bool]:
    """Whether the tables are there, as this release needs them. Raises `SchemaMismatch` if a later one wrote them."""
    found = yield sql.has_schema, ()
    if not found.rows or found.rows[0][0] is None:
        return False
    return (yield from _version(sql)) == SCHEMA_VERSION


def readable() -> Work[str | None]:
    """The full name of PostgreSQL's table of fences, if whoever has the lock may read it in the lock's own session."""
    found = yield FENCES_READABLE, ()
    return str(found.rows[0][0]) if found.rows else None


def creating(sql: Statements) -> Work[None]:
    """Create the tables, or bring older ones up to date, unless another process has done so meanwhile."""
    yield sql.schema_lock, ()
    for statement in sql.create:
        yield statement, ()
    yield sql.schema_record, (SCHEMA_VERSION, secrets.token_hex(16))
    if (yield from _version(sql)) == SCHEMA_VERSION:
        return
    found = yield sql.has_finished, ()
    if not found.rows:
        yield sql.add_finished, ()
    yield sql.schema_raise, (SCHEMA_VERSION,)


def _version(sql: Statements) -> Work[int]:
    """The version of the tables; 0 if there are none."""
    found = yield sql.schema, ()
    version = int(str(found.rows[0][0])) if found.rows else 0
    if version > SCHEMA_VERSION:
        raise SchemaMismatch(
            f"The guard's tables are of version {version}; this release knows those up to {SCHEMA_VERSION}.",
            advice="Use the release that wrote them, or a later one.",
        )
    return version


def glancing(sql: Statements, thread: str) -> Work[Fence]:
    """The thread's last grant, for whoever has just taken its lock."""
    found = yield sql.glance, (thread,)
    return Fence.of(found.rows, thread)


def fencing(
    sql: Statements, thread: str, token: str, held: int | None, seen: Fence | None = None, *, first: bool = False
) -> Work[int]:
    """The fence under which this write happens: that of the caller's grant, made now if `held` is None.

    The caller took the thread's lock, so whoever had the last grant before that is gone. `seen` is that grant; None for
    a lock that can't be lost. Raises `Fenced` if the caller lost the lock without noticing, and must stop: there was
    another grant since it took the lock, or since its own grant. At the `first` attempt nothing can have been granted
    to the caller, so where the grant itself finds out whether there was another since, the fence isn't read again.
    """
    current = seen if first and seen is not None and sql.checks_grant else (yield from _fence(sql, thread))
    if held is None and current.holder == token:
        held = current.number  # granted before, by a transaction whose commit was not confirmed
    outcome = lease(
        holder=current.holder,
        fence=current.number,
        expires=None,
        dead=seen is None or seen == current,
        caller=token,
        held_fence=held,
        now=0,
    )
    if not holds(outcome):
        raise _replaced(thread, outcome)
    number = fence_after(outcome, fence=current.number)
    if outcome is Lease.KEPT:
        return number
    # A second grant at the same time fails here, by the row's lock or by the table's key.
    if current.holder is None:
        yield sql.grant_first, (thread, number, token)
    else:
        yield sql.grant, (number, token, thread, current.number)
    return number


def holding(sql: Statements, thread: str, token: str, held: int | None) -> Work[None]:
    """Raise `Fenced` if a write failed because another executor has been granted the thread.

    `held` is the fence under which it was made; None if it was to be the first under its grant.
    """
    current = yield from _fence(sql, thread)
    outcome = lease(
        holder=current.holder,
        fence=current.number,
        expires=None,
        dead=False,
        caller=token,
        held_fence=current.number if held is None else held,
        now=0,
    )
    if not holds(outcome):
        raise _replaced(thread, outcome)


def _replaced(thread: str, outcome: Lease) -> Fenced:
    return Fenced(
        f"Thread {thread!r} was taken over by another executor.",
        advice="Nothing of this write was stored. Ask for the thread's state, and deliver again if need be.",
        branch=outcome.value,
    )


def _fence(sql: Statements, thread: str) -> Work[Fence]:
    found = yield sql.fence, (thread,)
    return Fence.of(found.rows, thread)


def claiming(sql: Statements, claim: Claim) -> Work[None]:
    """Record a claim. The database refuses a second one on the same interrupt."""
    yield sql.claim, claim.values()


def unclaiming(sql: Statements, thread: str, keys: Iterable[str], delivery: str) -> Work[None]:
    """Take claims back, and the acceptance of the delivery that made them: the decision turned out to be unusable."""
    for key in keys:
        yield sql.unclaim, (thread, key)
    if delivery:
        yield sql.unaccept, (thread, delivery)


def claims_at(sql: Statements, thread: str, root: str) -> Work[list[Claim]]:
    """The claims that were made while this was the thread's newest checkpoint, the oldest first."""
    found = yield sql.claims_at, (thread, root)
    return [Claim.of(row) for row in found.rows]


def delivered(sql: Statements, thread: str, identity: str) -> Work[Delivery | None]:
    """What is recorded of the delivery with this id."""
    found = yield sql.delivery, (thread, identity)
    return Delivery.of(found.rows[0]) if found.rows else None


def accepting(sql: Statements, delivery: Delivery) -> Work[None]:
    """Record that a delivery was accepted. A repeated one keeps its first record."""
    yield sql.accept, delivery.values()


def concluding(sql: Statements, thread: str, identity: str, kind: str, outcome: bytes) -> Work[None]:
    """Record what a delivery came to."""
    yield sql.conclude, (kind, outcome, thread, identity)


def refusing(sql: Statements, thread: str, interrupt: str, branch: str, digest: str, delivery: str) -> Work[None]:
    """Leave a trace of a refused delivery, for the audit."""
    yield sql.refuse, (thread, interrupt, branch, digest, delivery, now(), place())
