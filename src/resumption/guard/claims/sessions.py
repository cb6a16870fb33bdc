"""The lease of a thread across hosts: an advisory lock of a PostgreSQL session, which the server frees at its end.

Each process has one session of its own for the locks of a database, beside the connections that its savers use. The
server frees the locks when the session ends: at the process's death, but also when the network cuts the two apart. An
executor that was cut off may therefore live on beside its successor, and it is the fence that refuses its writes.

It tells along with a lock who was granted the thread last: what a session reads after it got the lock, it reads while
it has it.

A session's locks are re-entrant, so threads of one process are told apart by what the process itself remembers. Behind
a pooler that hands out sessions by transaction there is no such thing as a session: see `servers`.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any

import psycopg
from psycopg.abc import PQGen
from psycopg.pq import Escaping, ExecStatus
from psycopg.pq.abc import PGresult
from psycopg.waiting import Ready, Wait

from resumption.errors import RowUnreadable
from resumption.guard.claims.locks import Held, offset
from resumption.guard.claims.records import Fence
from resumption.guard.claims.statements import ASK_SESSION, FREE_SESSION, GLANCE_SESSION, TRY_SESSION

__all__ = ["SessionLocks"]


class SessionLocks:
    """The locks of this process in one database."""

    def __init__(self, connect: Callable[[], psycopg.Connection[Any]]) -> None:
        """`connect` opens a session, in autocommit mode."""
        self._connect = connect
        self._start()
        _all.add(self)

    def _start(self) -> None:
        self._guard = threading.Lock()
        self._session: _Session | None = None
        self._held: set[int] = set()

    def attempt(self, thread: str, fences: str | None = None) -> Held | None:
        """Take the lock of a thread, without waiting; None if another session, or another run here, has it.

        `fences` is the full name of the table that has the thread's last grant, where a session of this process may
        read it: then the lock tells what it says.
        """
        key = offset(thread)
        with self._guard:
            if key in self._held:
                return None
            taken = self._take(key, thread, fences)
            if taken is not None:
                self._held.add(key)
            return taken

    def _take(self, key: int, thread: str, fences: str | None) -> _Entry | None:
        session = self._session
        if session is not None and not session.closed:
            try:
                return self._taken_in(session, key, thread, fences)
            except psycopg.OperationalError:
                pass  # it is closed: whoever held locks of it has lost them, and will find out by the fence
        session = self._session = _Session(self._connect())
        return self._taken_in(session, key, thread, fences)

    def _taken_in(self, session: _Session, key: int, thread: str, fences: str | None) -> _Entry | None:
        try:
            granted, seen = session.take(key, thread, fences)
        except psycopg.OperationalError:
            session.close()  # it may have the lock, of which nobody would know
            raise
        except RowUnreadable:
            session.tell(FREE_SESSION % key)  # what was to be read with the lock is read under it
            raise
        return _Entry(self, key, session, seen) if granted else None

    def lives(self, session: _Session) -> bool:
        """Whether the server still has this session, and with it its locks."""
        with self._guard:
            if session.closed:
                return False
            try:
                session.ask(ASK_SESSION)
            except psycopg.OperationalError:
                session.close()
                return False
            return True

    def free(self, key: int, session: _Session) -> None:
        """Free a lock, in the session that it was taken in. The server does so at once; nobody waits for its word."""
        with self._guard:
            if not session.closed:
                try:
                    session.tell(FREE_SESSION % key)
                except psycopg.OperationalError:
                    session.close()  # the server frees the locks of a session that broke
            self._held.discard(key)

    def forget(self) -> None:
        """In a forked child: the session is the parent's, and a word from here would free a lock of it, or end it."""
        if self._session is not None:
            self._session.inherited = True
            _inherited.append(self._session)
        self._start()


class _Session:
    """A session, and whether an answer of its server is still to be read. Not for two threads at once.

    It speaks by libpq itself: a cursor's machinery takes as long as the server does for these statements. Methods raise
    `OperationalError` if the session broke.
    """

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        # Whatever the server's default is: the look at a grant must not be older than the lock that is taken before it.
        connection.execute("SET default_transaction_isolation = 'read committed'")
        self._unread = False
        self.inherited = False
        """Whether it is that of the process that this one was forked from."""

    @property
    def closed(self) -> bool:
        """Whether it was closed, or found to be broken, or isn't this process's."""
        return self.inherited or self._connection.closed

    def close(self) -> None:
        """End it. The server frees its locks."""
        self._connection.close()

    def take(self, key: int, thread: str, fences: str | None) -> tuple[bool, Fence | None]:
        """Take a lock if it is free. Whether it was, and the thread's last grant by the table `fences`, if named."""
        glance = b""
        if fences is not None:
            pgconn, encoding = self._connection.pgconn, self._connection.info.encoding
            glance = GLANCE_SESSION % (
                fences.encode(encoding),
                Escaping(pgconn).escape_literal(thread.encode(encoding)),
            )
        lock, *seen = self.ask(TRY_SESSION % key + glance)
        if lock.get_value(0, 0) != b"t":
            return False, None
        return True, _fence(seen[0], thread) if seen else None

    def ask(self, sql: bytes) -> list[PGresult]:
        """Execute a query, and wait for the results of its statements, which are text."""
        self.tell(sql)
        return self._connection.wait(self._read())

    def tell(self, sql: bytes) -> None:
        """Have a query executed. What became of it is known when the session is used again."""
        if self._unread:
            self._connection.wait(self._read())
        self._connection.pgconn.send_query(sql)
        self._unread = True
        self._connection.wait(self._sent())

    def _sent(self) -> PQGen[None]:
        """Until the operating system has everything: then it reaches the server, whatever this process does next."""
        while self._connection.pgconn.flush():
            if (yield Wait.RW) & Ready.R:
                self._connection.pgconn.consume_input()

    def _read(self) -> PQGen[list[PGresult]]:
        pgconn = self._connection.pgconn
        results: list[PGresult] = []
        while True:
            while pgconn.is_busy():
                yield Wait.R
                pgconn.consume_input()
            result = pgconn.get_result()
            if result is None:
                self._unread = False
                return results
            if result.status != ExecStatus.TUPLES_OK:
                raise psycopg.OperationalError(result.get_error_message())
            results.append(result)


def _fence(found: PGresult, thread: str) -> Fence:
    rows = [(_text(found, row, 0), _text(found, row, 1)) for row in range(found.ntuples)]
    return Fence.of(rows, thread)


def _text(found: PGresult, row: int, column: int) -> str | None:
    value = found.get_value(row, column)
    return None if value is None else value.decode()


class _Entry:
    """One held lock."""

    exclusive = False  # the server may have given the session up, and the lock to another
    expires = False

    def __init__(self, locks: SessionLocks, key: int, session: _Session, seen: Fence | None) -> None:
        self.seen = seen
        self._locks = locks
        self._key: int | None = key
        self._session = session

    def holds(self) -> bool:
        """Whether it wasn't freed, neither here nor by the server."""
        return self._key is not None and self._locks.lives(self._session)

    def release(self) -> None:
        """Free, once."""
        key, self._key = self._key, None
        if key is not None:
            self._locks.free(key, self._session)


_all: weakref.WeakSet[SessionLocks] = weakref.WeakSet()
_inherited: list[_Session] = []


def _forget_all() -> None:
    for locks in list(_all):
        locks.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
