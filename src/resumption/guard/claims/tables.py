"""Where leases that expire are kept for a SQLite database: in a file of their own beside it.

Not in the database: an event loop may be in the middle of a transaction there, and would wait for itself if it asked
for a lease meanwhile. The file has a rollback journal, since a write-ahead log can't be shared by way of a network file
system.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

from resumption.errors import LeaseImpossible
from resumption.guard.claims.statements import LEASES_SQLITE, LeaseStatements
from resumption.guard.forks import watch
from resumption.guard.stores.protocol import Work
from resumption.guard.stores.session import drive
from resumption.guard.stores.sqlite import execute_on

__all__ = ["LeaseFile", "Leases"]

T = TypeVar("T")

_BUSY_SECONDS = 5.0  # others have the file for the time of one small commit


class Leases(Protocol):
    """The records of leases. Methods raise the errors of their driver, and may be called from any thread."""

    sql: LeaseStatements
    unreachable: type[Exception]
    """What is raised if the records can't be had now."""

    def look(self, work: Work[T]) -> T:
        """Run an operation of reads."""

    def transact(self, work: Work[T]) -> T:
        """Run an operation in one transaction."""


class LeaseFile:
    """Leases in a SQLite file. Nothing of it is open between two operations."""

    sql = LEASES_SQLITE
    unreachable: type[Exception] = sqlite3.Error

    def __init__(self, path: Path) -> None:
        """Raises `LeaseImpossible` if the file can't be had."""
        self._path = path
        self._turn = threading.Lock()  # held during each operation, and by whoever forks
        watch(self)
        try:
            with self._connection() as connection:
                connection.execute(self.sql.create)
        except sqlite3.Error as error:
            raise LeaseImpossible(
                f"{path} can't be written ({error}), and nothing else here tells executors apart.",
                advice="Make its folder writable, or keep the database on a local file system of a Linux host.",
            ) from error

    def look(self, work: Work[T]) -> T:
        """Run an operation of reads."""
        with self._connection() as connection:
            return drive(work, execute_on(connection))

    def transact(self, work: Work[T]) -> T:
        """Run an operation in one transaction."""
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            outcome = drive(work, execute_on(connection))
            connection.execute("COMMIT")
            return outcome

    def pause(self) -> None:
        """Before a fork: let the operation under way end, and no other begin."""
        self._turn.acquire()

    def resume(self) -> None:
        """In the parent, after a fork."""
        self._turn.release()

    def forget(self) -> None:
        """In a forked child: nothing is open, and nobody is left who could have the turn."""
        self._turn = threading.Lock()

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """A connection for one operation. Closing it takes back what wasn't committed."""
        with (
            self._turn,
            closing(sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None)) as connection,
        ):
            yield connection
