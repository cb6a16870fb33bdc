"""The locks of a PostgreSQL database: of sessions where a process can have one to itself, leases where it can't.

A pooler that hands out sessions by transaction (PgBouncer in that mode, and others) gives the session that holds a lock
to the next client. It shows when a session is opened.

Where one executor has to lease, all must: two that exclude others by different means don't exclude each other. So the
table of leases, once it is there, is used by whoever opens a session; and a lease isn't granted while a session that
was opened before has the lock.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg

from resumption.guard import telemetry
from resumption.guard.claims.expiring import ExpiringLocks
from resumption.guard.claims.leases import LEASE_SECONDS
from resumption.guard.claims.locks import Held
from resumption.guard.claims.sessions import SessionLocks
from resumption.guard.claims.statements import HAS_LEASES, LEASES_POSTGRES
from resumption.guard.stores.poolers import is_shared
from resumption.guard.stores.postgres import execute_on
from resumption.guard.stores.protocol import Work
from resumption.guard.stores.session import drive

__all__ = ["LeaseTable", "Seeing", "ServerLocks", "server_locks"]

T = TypeVar("T")
Connect = Callable[[], psycopg.Connection[Any]]


class _Shared(Exception):
    """A session that others use too, or a database in which others have to lease."""


class ServerLocks:
    """The locks of this process in one database, of the kind that works there: it shows when the first is asked for."""

    def __init__(self, connect: Connect) -> None:
        """`connect` opens a connection, in autocommit mode, that prepares no statements."""
        self._connect = connect
        self._leases: ExpiringLocks | None = None
        self._sessions = SessionLocks(self._own_session)
        self._guard = threading.Lock()
        _all.add(self)

    def attempt(self, thread: str, fences: str | None = None) -> Held | None:
        """Take the lock of a thread, without waiting; None if somebody else has it.

        `fences` is as for `SessionLocks`. A lease that expires tells nothing by it: it is lost without its session.
        """
        if self._leases is None:
            try:
                return self._sessions.attempt(thread, fences)
            except _Shared as reason:
                with self._guard:
                    if self._leases is None:
                        self._leases = ExpiringLocks(LeaseTable(self._connect))
                        telemetry.leasing("a PostgreSQL database", str(reason), LEASE_SECONDS)
        return self._leases.attempt(thread)

    def _own_session(self) -> psycopg.Connection[Any]:
        session = self._connect()
        reason = ""
        row = session.execute(HAS_LEASES).fetchone()
        if row is not None and row[0]:
            reason = "others of its executors have to, and it has a table of leases"
        elif is_shared(session, self._connect):
            reason = "a pooler hands its sessions out by transaction"
        if not reason:
            return session
        session.close()
        raise _Shared(reason)

    def forget(self) -> None:
        """In a forked child, where another thread of the parent may have held the guard."""
        self._guard = threading.Lock()


@dataclass(frozen=True, slots=True)
class Seeing:
    """The locks of a database for one saver, whose table of fences is read along with each."""

    locks: ServerLocks
    fences: str
    """The table's full name."""

    def attempt(self, thread: str) -> Held | None:
        """Take the lock of a thread, without waiting; None if somebody else has it."""
        return self.locks.attempt(thread, self.fences)


class LeaseTable:
    """Leases in a database, by a connection of their own."""

    sql = LEASES_POSTGRES
    unreachable: type[Exception] = psycopg.Error

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._start()
        _all.add(self)
        self.transact(self._creating())

    def _start(self) -> None:
        self._guard = threading.Lock()
        self._connection: psycopg.Connection[Any] | None = None

    def _creating(self) -> Work[None]:
        yield self.sql.create_lock, ()
        yield self.sql.create, ()

    def look(self, work: Work[T]) -> T:
        """Run an operation of reads."""
        return self._run(work, transaction=False)

    def transact(self, work: Work[T]) -> T:
        """Run an operation in one transaction."""
        return self._run(work, transaction=True)

    def _run(self, work: Work[T], *, transaction: bool) -> T:
        with self._guard, ExitStack() as block:
            if self._connection is None or self._connection.closed:
                self._connection = self._connect()
            connection = self._connection
            if transaction:
                block.enter_context(connection.transaction())
            return drive(work, execute_on(connection))

    def forget(self) -> None:
        """In a forked child: the connection is the parent's, and a goodbye from here would end it."""
        _inherited.append(self._connection)
        self._start()


_all: weakref.WeakSet[ServerLocks | LeaseTable] = weakref.WeakSet()
_inherited: list[object] = []
_by_place: dict[str, ServerLocks] = {}
_by_place_guard = threading.Lock()


def server_locks(place: str, connect: Connect) -> ServerLocks:
    """The locks of this process in the database at `place`, of which there is one set."""
    with _by_place_guard:
        return _by_place.setdefault(place, ServerLocks(connect))


def _forget_all() -> None:
    for one in list(_all):
        one.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
