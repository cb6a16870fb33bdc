"""The conversations about leases that expire: where nothing frees a lock at its holder's death.

A lease is a row: who has the thread, and a *beat* that the holder counts up while it lives. Whoever waits for the
thread looks at the beat now and then. If it has stood still for a whole `LEASE_SECONDS` on the waiter's own clock, the
holder has died, or was paused or cut off for that long, and its lease may be taken. No clock is ever compared with
another host's, so clocks may be wrong by any amount; they must only run at about the same speed.

The former holder may be alive. What it still writes is refused by its fence, and its effects ask for the lease before
they begin (`Held.holds`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from resumption.decide.lease import Lease, fence_after, holds, lease
from resumption.guard.claims.locks import offset
from resumption.guard.claims.statements import LeaseStatements
from resumption.guard.columns import Columns, number, optional, text
from resumption.guard.stores.protocol import Work

__all__ = ["LEASE_SECONDS", "Request", "Sighting", "Taken", "freeing", "peeking", "renewing", "taking"]

LEASE_SECONDS = 20.0
"""After how many seconds without a beat a lease may be taken. The holder beats three times as often.

Not a parameter: two executors that don't agree on it would take living executors' leases. It is shorter than a guarded
call waits by default, so that the call which meets a dead executor's lease outlasts it.
"""

_LEASES = Columns("resumption_leases", "thread", {"number": number, "holder": optional(text), "beat": number})

Clock = Callable[[], float]
"""Seconds, on a clock of this host that never goes back."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """A beat, and since when it has been known to stand still."""

    number: int
    beat: int
    since: float


@dataclass(frozen=True, slots=True)
class Request:
    """A request for a thread's lease. `caller` is an identity that is never used twice."""

    thread: str
    caller: str
    seen: Sighting | None
    """What this host saw of the lease when it was refused before."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a request: the lease's number if it was granted, what was seen of it if not."""

    outcome: Lease
    number: int
    sighting: Sighting


def peeking(sql: LeaseStatements, request: Request, clock: Clock) -> Work[Taken]:
    """What would become of a request. Changes nothing, and needs no transaction."""
    asked = clock()
    number, holder, beat = yield from _row(sql.look, request.thread)
    known = request.seen
    if known is None or (known.number, known.beat) != (number, beat):
        # After the answer: the beat may have been counted up until then.
        known = Sighting(number, beat, clock())
    outcome = lease(
        holder=holder,
        fence=number,
        expires=_milliseconds(known.since + LEASE_SECONDS),
        dead=False,
        caller=request.caller,
        held_fence=None,
        # Before the question: it may have stood still no longer than until then.
        now=_milliseconds(asked),
    )
    return Taken(outcome, fence_after(outcome, fence=number), known)


def taking(sql: LeaseStatements, request: Request, clock: Clock) -> Work[Taken]:
    """Take the lease if it is free, or has expired. In a transaction."""
    asked = yield from peeking(sql, request, clock)
    if not holds(asked.outcome):
        return asked
    before = asked.sighting.number
    if sql.unlocked is not None:
        alone = yield sql.unlocked, (offset(request.thread),)
        if not alone.rows[0][0]:
            return Taken(Lease.BUSY, before, asked.sighting)
    if before == 0:
        reply = yield sql.take_first, (request.thread, asked.number, request.caller)
    else:
        # A beat since is enough to lose: the number is the same, the beat isn't.
        reply = yield sql.take, (asked.number, request.caller, request.thread, before, asked.sighting.beat)
    return asked if reply.touched == 1 else Taken(Lease.BUSY, before, asked.sighting)


def renewing(sql: LeaseStatements, thread: str, caller: str, number: int) -> Work[bool]:
    """Beat, if the lease is still the caller's; whether it is. In a transaction."""
    current, holder, _ = yield from _row(sql.look, thread)
    outcome = lease(holder=holder, fence=current, expires=None, dead=False, caller=caller, held_fence=number, now=0)
    if not holds(outcome):
        return False
    reply = yield sql.beat, (thread, number, caller)
    return reply.touched == 1


def freeing(sql: LeaseStatements, thread: str, caller: str, number: int) -> Work[None]:
    """Give the lease up, unless somebody else has it by now."""
    yield sql.free, (thread, number, caller)


def _row(look: str, thread: str) -> Work[tuple[int, str | None, int]]:
    found = yield look, (thread,)
    if not found.rows:
        return 0, None, 0
    granted, holder, beat = _LEASES.read(found.rows[0], thread)
    return granted, holder, beat


def _milliseconds(seconds: float) -> int:
    return int(seconds * 1000)
