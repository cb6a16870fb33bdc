"""The effect ledger in PostgreSQL: any number of hosts.

Decisions run between `SELECT … FOR UPDATE` (or the wait for a conflicting insert) and a conditional write, READ
COMMITTED whatever the server's default. Each process holds a session advisory lock on its token: held, it proves to
every host that the process lives; gone, it proves nothing, since a process that is cut off from the server lives on.
Death is proven by the operating system's lock alone, and so only on the owner's own host.
"""

from __future__ import annotations

import os
import stat
import tempfile
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import psycopg
from psycopg.rows import tuple_row

from resumption.errors import LedgerUnavailable
from resumption.guard.liveness import OwnerLock
from resumption.guard.stores.pool import Pool
from resumption.guard.stores.poolers import is_shared
from resumption.guard.stores.protocol import Reply, Work
from resumption.guard.stores.records import ALIVE, UNPROVEN, Owner, Record, Standing
from resumption.guard.stores.session import drive, in_transaction, persist
from resumption.guard.stores.statements import POSTGRES

__all__ = ["PostgresStore", "aexecute_on", "execute_on"]

T = TypeVar("T")

_CONNECTIONS = 8

# Failures of the store that no repetition heals: wrong password, no such database, disk full.
_LASTING = ("28", "3D", "53100")


class PostgresStore:
    """A `Store` in a PostgreSQL database. `timeout`: seconds to wait for locks, and for a server that is away."""

    sql = POSTGRES

    def __init__(self, dsn: str, timeout: float) -> None:
        self.address = without_password(dsn)
        self._dsn = dsn
        self._timeout = timeout
        self._owner_lock = OwnerLock(_runtime_folder() / "owners", beside_store=False)
        self._pool = Pool(self._connect, _CONNECTIONS)
        self._start()

    def _start(self) -> None:
        self._guard = threading.Lock()
        self._session: psycopg.Connection[tuple[object, ...]] | None = None
        self._suspect = False
        self._locked = False

    def present(self) -> bool:
        """Connecting never creates a database here."""
        return True

    def token(self) -> int:
        """The token of this process."""
        return self._owner_lock.hold().token

    def owner(self) -> Owner:
        """This process, with its lock on this host and its session lock in place."""
        owner = self._owner_lock.hold()
        persist(lambda: self._ensure_session(owner), psycopg.Error, transient, self._timeout, "connection")
        return owner

    def standing(self, record: Record) -> Work[Standing]:
        """What the operating system proves about the record's owner; if nothing, what the server does."""
        proven = self._owner_lock.standing(Owner(record.owner, record.place))
        if proven != UNPROVEN:
            return proven
        found = yield self.sql.session_free, (record.owner,)
        return UNPROVEN if found.rows[0][0] else ALIVE

    def look(self, make: Callable[[], Work[T]]) -> T:
        """Run an operation of reads, each statement on its own."""
        return persist(lambda: self._run(make()), psycopg.Error, transient, self._timeout, "read")

    def transact(self, make: Callable[[], Work[T]], *, patient: bool = True) -> T:
        """Run an operation in one transaction."""
        timeout = self._timeout if patient else 0.0
        return persist(lambda: self._run(in_transaction(self.sql, make())), psycopg.Error, transient, timeout, "write")

    def close(self) -> None:
        """Close idle connections."""
        self._pool.close()

    def release(self) -> None:
        """Give up this process's proof of life: its session lock, then its lock on this host."""
        with self._guard:
            if self._session is not None:
                self._session.close()
                self._session = None
        self._owner_lock.release()

    def pause(self) -> None:
        """Before a fork: nothing, for connections that a child leaves alone do no harm."""

    def resume(self) -> None:
        """In the parent, after a fork: nothing."""

    def forget(self) -> None:
        """In a forked child: leave everything of the parent's alone."""
        self._pool.forget()
        self._inherited = self._session  # kept: its goodbye would end the parent's session
        self._start()
        self._owner_lock.forget()

    def _run(self, work: Work[T]) -> T:
        try:
            with self._pool.connection() as connection:
                return drive(work, execute_on(connection))
        except psycopg.Error:
            # A restarted server has broken the idle connections too, and maybe the session that proves our life.
            self._pool.close()
            self._suspect = True
            raise

    def _connect(self) -> psycopg.Connection[tuple[object, ...]]:
        # No server-side prepared statements: a transaction pooler would hand them to somebody else.
        connection = psycopg.connect(
            self._dsn,
            autocommit=True,
            prepare_threshold=None,
            connect_timeout=max(2, int(self._timeout)),
            row_factory=tuple_row,
        )
        connection.execute("SELECT set_config('lock_timeout', %s, false)", (f"{int(self._timeout * 1000)}ms",))
        return connection

    def _ensure_session(self, owner: Owner) -> None:
        with self._guard:
            session = self._session
            if session is not None and not session.closed and self._suspect:
                try:
                    session.execute("SELECT 1")
                except psycopg.OperationalError:
                    session.close()
            if session is None or session.closed:
                self._session = session = self._connect()
                # A pooler that gives the session to others keeps the lock when this process is gone: better none.
                self._locked = is_shared(session, self._connect)
            if not self._locked:
                # Not waited for: a session of ours that the server has not yet given up may hold it for hours. Until
                # ours does, other hosts see this process as unproven once that one is gone.
                self._locked = bool(execute_on(session)(self.sql.session_lock, (owner.token,)).rows[0][0])
            self._suspect = False


def without_password(dsn: str) -> str:
    """The address of a database, for messages. A query may hold a password too, and is left out."""
    parts = urlsplit(dsn)
    _, at, place = parts.netloc.rpartition("@")
    return f"postgresql://{parts.username or ''}{at}{place}{parts.path}"


def execute_on(
    connection: psycopg.Connection[object] | psycopg.Connection[tuple[object, ...]],
) -> Callable[[str, tuple[object, ...]], Reply]:
    """Run statements on a connection, whatever its owner has made of its row factory.

    As bytes: psycopg takes text only if a type checker can see that it is a literal, and these are, in `statements`.
    """

    def execute(sql: str, parameters: tuple[object, ...]) -> Reply:
        with connection.cursor(row_factory=tuple_row) as cursor:
            cursor.execute(sql.encode(), parameters)
            return Reply(cursor.fetchall() if cursor.description else (), cursor.rowcount)

    return execute


def aexecute_on(
    connection: psycopg.AsyncConnection[object],
) -> Callable[[str, tuple[object, ...]], Awaitable[Reply]]:
    """`execute_on` for a connection whose methods are coroutines."""

    async def execute(sql: str, parameters: tuple[object, ...]) -> Reply:
        async with connection.cursor(row_factory=tuple_row) as cursor:
            await cursor.execute(sql.encode(), parameters)
            return Reply(await cursor.fetchall() if cursor.description else (), cursor.rowcount)

    return execute


def transient(error: Exception) -> bool:
    """Whether trying again makes sense: a broken connection, a restarting server, a lost race."""
    if not isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return False
    state: str | None = error.sqlstate
    return not (state or "").startswith(_LASTING)


def _runtime_folder() -> Path:
    """A folder of this user's on this host. Another user's folder of that name is refused: it would prove nothing."""
    if not hasattr(os, "getuid"):  # Windows: no lock that proves anything is kept there
        return Path(tempfile.gettempdir())
    folder = Path(tempfile.gettempdir()) / f"resumption-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise LedgerUnavailable(
            f"{folder} is not a folder that this user alone can write to.",
            advice="Remove it, or set TMPDIR to a folder of this user's own.",
        )
    return folder
