"""The lease of a thread across hosts: an advisory lock of a PostgreSQL session, which the server frees at its end.

Each process has one session of its own for the locks of a database, beside the connections that its savers use. The
server frees the locks when the session ends: at the process's death, but also when the network cuts the two apart. An
executor that was cut off may therefore live on beside its successor, and it is the fence that refuses its writes.

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

from resumption.guard.claims.locks import Held, offset
from resumption.guard.claims.statements import ASK_SESSION, FREE_SESSION, TRY_SESSION

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
        self._session: psycopg.Connection[Any] | None = None
        self._held: set[int] = set()

    def attempt(self, thread: str) -> Held | None:
        """Take the lock of a thread, without waiting; None if another session, or another run here, has it."""
        key = offset(thread)
        with self._guard:
            if key in self._held:
                return None
            session, granted = self._ask(key)
            if not granted:
                return None
            self._held.add(key)
        return _Entry(self, key, session)

    def _ask(self, key: int) -> tuple[psycopg.Connection[Any], bool]:
        session = self._session
        if session is not None and not session.closed:
            try:
                return session, _granted(session, key)
            except psycopg.OperationalError:
                session.close()  # whoever held locks of it has lost them, and will find out by the fence
        session = self._session = self._connect()
        return session, _granted(session, key)

    def lives(self, session: psycopg.Connection[Any]) -> bool:
        """Whether the server still has this session, and with it its locks."""
        with self._guard:
            if session.closed:
                return False
            try:
                session.execute(ASK_SESSION)
            except psycopg.OperationalError:
                session.close()
                return False
            return True

    def free(self, key: int, session: psycopg.Connection[Any]) -> None:
        """Free a lock, in the session that it was taken in."""
        with self._guard:
            if not session.closed:
                try:
                    session.execute(FREE_SESSION, (key,))
                except psycopg.OperationalError:
                    session.close()  # the server frees the locks of a session that broke
            self._held.discard(key)

    def forget(self) -> None:
        """In a forked child: the session is the parent's, and a goodbye from here would end it."""
        _inherited.append(self._session)
        self._start()


def _granted(session: psycopg.Connection[Any], key: int) -> bool:
    row = session.execute(TRY_SESSION, (key,)).fetchone()
    return row is not None and bool(row[0])


class _Entry:
    """One held lock."""

    exclusive = False  # the server may have given the session up, and the lock to another
    expires = False

    def __init__(self, locks: SessionLocks, key: int, session: psycopg.Connection[Any]) -> None:
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
_inherited: list[object] = []


def _forget_all() -> None:
    for locks in list(_all):
        locks.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
