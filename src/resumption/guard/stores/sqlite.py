"""The effect ledger in a SQLite database: embedded, any number of processes of one host.

Write-ahead log with `synchronous=FULL`: with NORMAL, a power cut could take back the *begin* of an effect that has
fired, and the next call would fire it again.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from resumption.errors import LedgerUnavailable
from resumption.guard.liveness import OwnerLock
from resumption.guard.stores.pool import Pool
from resumption.guard.stores.protocol import Reply, Work
from resumption.guard.stores.records import Owner, Record, Standing
from resumption.guard.stores.session import drive, in_transaction, persist
from resumption.guard.stores.statements import SQLITE

__all__ = ["SQLiteStore", "execute_on"]

T = TypeVar("T")

_TRANSIENT = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})

# Writers of one database take turns anyway: more connections would only wait in SQLite's unfair busy loop.
_CONNECTIONS = 4


class SQLiteStore:
    """A `Store` in a SQLite file. `timeout`: seconds to wait for other writers."""

    sql = SQLITE

    def __init__(self, path: Path, timeout: float) -> None:
        self.path = path
        self.address = f"sqlite:///{path}"
        self._timeout = timeout
        self._file: tuple[int, int] | None = None  # the file that was opened first
        self._owner_lock = OwnerLock(path.with_name(path.name + "-owners"), beside_store=True)
        self._pool = Pool(self._connect, _CONNECTIONS)

    def present(self) -> bool:
        """Whether the file exists."""
        return self.path.is_file()

    def token(self) -> int:
        """The token of this process."""
        return self._owner_lock.hold().token

    def owner(self) -> Owner:
        """This process, with its proof of life in place."""
        self._refuse_another_file()
        return self._owner_lock.hold()

    def standing(self, record: Record) -> Work[Standing]:
        """What the operating system proves about the record's owner."""
        return self._owner_lock.standing(Owner(record.owner, record.place))
        yield  # a generator like the other store's, which has to ask the database

    def look(self, make: Callable[[], Work[T]]) -> T:
        """Run an operation of reads."""
        return persist(lambda: self._run(make()), sqlite3.Error, transient, self._timeout, "read")

    def transact(self, make: Callable[[], Work[T]], *, patient: bool = True) -> T:
        """Run an operation between BEGIN IMMEDIATE and COMMIT."""
        timeout = self._timeout if patient else 0.0
        return persist(lambda: self._run(in_transaction(self.sql, make())), sqlite3.Error, transient, timeout, "write")

    def close(self) -> None:
        """Close idle connections."""
        self._pool.close()

    def release(self) -> None:
        """Give up this process's proof of life."""
        self._owner_lock.release()

    def pause(self) -> None:
        """Before a fork: close all connections.

        SQLite keeps one list of open files and their locks for the whole process. A child that inherits an entry takes
        no locks of its own in the kernel, so that the next process to close the database deletes the log under it.
        """
        self._pool.pause()

    def resume(self) -> None:
        """In the parent, after a fork: lend connections again."""
        self._pool.resume()

    def forget(self) -> None:
        """In a forked child: leave everything of the parent's alone."""
        self._pool.forget()
        self._owner_lock.forget()

    def _run(self, work: Work[T]) -> T:
        with self._pool.connection() as connection:
            self._refuse_another_file()
            outcome = drive(work, execute_on(connection))
            self._refuse_another_file()  # a commit to a file that is gone is none, so that its effect must not fire
            return outcome

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=self._timeout, isolation_level=None, check_same_thread=False)
        connection.text_factory = _text
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        if self._file is None:
            self._file = file_at(self.path)
        return connection

    def _refuse_another_file(self) -> None:
        """A connection outlives its file's name: this process would go on in a ledger that nobody else can see."""
        if self._file is not None and file_at(self.path) != self._file:
            raise LedgerUnavailable(
                f"{self.path} is no longer the file that was opened: it was deleted, moved or replaced.",
                advice="Put that file back; or end this program, and resolve by hand what was in doubt in its ledger.",
            )


def _text(stored: bytes) -> str:
    """Text as it is stored. What is no UTF-8 is left to whoever decodes its row, so that the others can be read."""
    return stored.decode("utf-8", "surrogateescape")


def file_at(path: str | Path) -> tuple[int, int] | None:
    """Device and inode of the file of this name, or None if none can be seen."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def execute_on(connection: sqlite3.Connection) -> Callable[[str, tuple[object, ...]], Reply]:
    """Run statements on a connection, whatever its owner has made of its row factory."""

    def execute(sql: str, parameters: tuple[object, ...]) -> Reply:
        cursor = connection.cursor()
        cursor.row_factory = None
        cursor.execute(sql, parameters)
        return Reply(cursor.fetchall(), cursor.rowcount)

    return execute


def transient(error: Exception) -> bool:
    """Whether another writer is the reason, so that trying again makes sense."""
    return isinstance(error, sqlite3.OperationalError) and (error.sqlite_errorcode & 0xFF) in _TRANSIENT
