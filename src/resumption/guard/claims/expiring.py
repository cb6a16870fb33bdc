"""Locks that are leases: where neither the kernel nor the server frees a lock at its holder's death.

A thread of this process beats for all that it holds (`leases` has the rules). It runs only while something is held. A
process that is killed, paused or cut off stops beating, and its leases may be taken `LEASE_SECONDS` later; one that
ends, or leaves a run however it does, gives them up at once.
"""

from __future__ import annotations

import logging
import os
import secrets
import threading
import time
import weakref

from resumption.decide.lease import Lease, holds
from resumption.errors import RowUnreadable
from resumption.guard import telemetry
from resumption.guard.claims import leases
from resumption.guard.claims.leases import Request, Sighting
from resumption.guard.claims.locks import Held
from resumption.guard.claims.records import Fence
from resumption.guard.claims.tables import Leases
from resumption.guard.stores.protocol import Work

__all__ = ["ExpiringLocks"]

logger = logging.getLogger("resumption")

_REMEMBERED = 4096
"""Of how many threads a host remembers what it has seen. Who is forgotten is waited for anew."""


class ExpiringLocks:
    """Leases of the threads in one database."""

    def __init__(self, records: Leases) -> None:
        """`records` is where leases are kept, for all who execute threads of the database."""
        self.records = records
        self._start()
        _all.add(self)

    def _start(self) -> None:
        self._changed = threading.Condition()
        self._held: set[_Lease] = set()
        self._seen: dict[str, Sighting] = {}
        self._beating = False

    def attempt(self, thread: str) -> Held | None:
        """Take the lease of a thread, without waiting; None while its holder beats, or might."""
        request = Request(thread, secrets.token_hex(16), self._seen.get(thread))
        asked = self.records.look(leases.peeking(self.records.sql, request, time.monotonic))
        if holds(asked.outcome):
            asked = self.records.transact(leases.taking(self.records.sql, request, time.monotonic))
        if not holds(asked.outcome):
            self._remember(thread, asked.sighting)
            return None
        if asked.outcome is Lease.TAKEN_AFTER_EXPIRY:
            telemetry.leased(thread, asked.outcome)
        held = _Lease(self, request, asked.number)
        with self._changed:
            self._seen.pop(thread, None)
            self._held.add(held)
            if not self._beating:
                self._beating = True
                threading.Thread(target=self._beat, name="resumption-leases", daemon=True).start()
        return held

    def _remember(self, thread: str, sighting: Sighting) -> None:
        with self._changed:
            self._seen[thread] = sighting
            if len(self._seen) > _REMEMBERED:
                del self._seen[next(iter(self._seen))]

    def renew(self, held: _Lease) -> bool:
        """Beat for one lease; whether it is still held. One that can't be asked about isn't."""
        try:
            return self.records.transact(leases.renewing(self.records.sql, held.thread, held.caller, held.number))
        except (self.records.unreachable, RowUnreadable) as error:
            logger.warning("the lease of thread %s can't be renewed: %s", held.thread, error)
            return False

    def free(self, held: _Lease) -> None:
        """Give a lease up."""
        with self._changed:
            self._held.discard(held)
            self._changed.notify()
        try:
            self.records.transact(leases.freeing(self.records.sql, held.thread, held.caller, held.number))
        except self.records.unreachable as error:
            logger.warning("the lease of thread %s can't be given up, and will expire: %s", held.thread, error)

    def _beat(self) -> None:
        """Renew everything that is held, until nothing is."""
        pause = leases.LEASE_SECONDS / 3
        while mine := self._to_renew(pause):
            try:
                lost = self.records.transact(self._renewing(mine))
            except self.records.unreachable as error:
                logger.warning("leases that can't be renewed now: %d (%s)", len(mine), error)
                pause = leases.LEASE_SECONDS / 12  # again soon: what this beat is late by is missing at the end
                continue
            pause = leases.LEASE_SECONDS / 3
            with self._changed:
                lost = [held for held in lost if held in self._held]  # not those that were given up meanwhile
                self._held.difference_update(lost)
            for held in lost:
                held.lost = True
                telemetry.leased(held.thread, Lease.LOST)

    def _to_renew(self, pause: float) -> list[_Lease]:
        """What is held when the next beat is due; nothing when nothing is held any more."""
        with self._changed:
            self._changed.wait_for(lambda: not self._held, timeout=pause)
            self._beating = bool(self._held)
            return sorted(self._held, key=lambda held: held.thread)

    def _renewing(self, mine: list[_Lease]) -> Work[list[_Lease]]:
        """Which of these are lost; the others are renewed."""
        lost = []
        for held in mine:
            try:
                renewed = yield from leases.renewing(self.records.sql, held.thread, held.caller, held.number)
            except RowUnreadable as error:  # which ends no other's beat
                logger.warning("the lease of thread %s can't be renewed: %s", held.thread, error)
                renewed = False
            if not renewed:
                lost.append(held)
        return lost

    def forget(self) -> None:
        """In a forked child: the leases are the parent's."""
        self._start()


class _Lease:
    """One lease that was granted."""

    exclusive = False
    expires = True
    seen: Fence | None = None

    def __init__(self, locks: ExpiringLocks, request: Request, number: int) -> None:
        self.thread = request.thread
        self.caller = request.caller
        self.number = number
        self.lost = False
        self._locks = locks
        self._guard = threading.Lock()
        self._over = False

    def holds(self) -> bool:
        """Whether nobody took it over, by what the records say now. Asking renews it, for what comes next."""
        return not self._over and not self.lost and self._locks.renew(self)

    def release(self) -> None:
        """Give it up, once."""
        with self._guard:
            over, self._over = self._over, True
        if not over:
            self._locks.free(self)


_all: weakref.WeakSet[ExpiringLocks] = weakref.WeakSet()


def _forget_all() -> None:
    for locks in list(_all):
        locks.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
