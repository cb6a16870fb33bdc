"""The mixin for `SqliteSaver`."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite import SqliteSaver

from resumption.guard.claims import protocol, statements
from resumption.guard.claims.beside import locks_beside
from resumption.guard.claims.locks import Locks
from resumption.guard.langgraph import statements as slots
from resumption.guard.langgraph.savers.base import (
    PATIENCE,
    BlockingSaver,
    Open,
    fenced,
    opened,
    process_locks,
    refuse_transaction,
)
from resumption.guard.langgraph.savers.files import DatabaseFile
from resumption.guard.langgraph.tenure import Tenure
from resumption.guard.stores.protocol import Reply, Work
from resumption.guard.stores.session import backoff, drive
from resumption.guard.stores.sqlite import transient

__all__ = ["GuardedSqlite"]

T = TypeVar("T")


class GuardedSqlite(BlockingSaver, SqliteSaver):
    """A `SqliteSaver` whose transactions begin by checking the fence."""

    guard_sql = statements.SQLITE
    guard_slots = slots.SQLITE

    def guard_prepare(self, original: BaseCheckpointSaver[Any]) -> None:
        """Find the database's file, and make the guard's tables if they aren't there."""
        with super().cursor(transaction=False) as cursor:
            path = next(row[2] for row in cursor.execute("PRAGMA database_list") if row[1] == "main")
        self.guard_locks: Locks = locks_beside(path) if path else process_locks(original)
        self._file = DatabaseFile(path)
        if not self.guard_read(lambda: protocol.present(self.guard_sql)):
            self.guard_write(None, lambda: protocol.creating(self.guard_sql))

    def guard_read(self, make: Callable[[], Work[T]]) -> T:
        """Run statements that only read."""
        with super().cursor(transaction=False) as cursor:
            return drive(make(), _execute_on(cursor))

    @contextmanager
    def cursor(self, transaction: bool = True) -> Iterator[sqlite3.Cursor]:
        """As `SqliteSaver.cursor`; inside a transaction of a run, a cursor in that."""
        if opened(self.guard_key) is None:
            with super().cursor(transaction) as cursor:
                yield cursor
            return
        cursor = self.conn.cursor()
        try:
            yield cursor
        finally:
            cursor.close()

    @contextmanager
    def transaction(self, tenure: Tenure | None) -> Generator[Open[Callable[..., Reply]]]:
        """A transaction that begins by checking the fence."""
        with self.lock:
            self.setup()
            if self.conn.in_transaction:
                refuse_transaction("is in a transaction of the program's own")
            cursor = self.conn.cursor()
            execute = _execute_on(cursor)
            try:
                _begin(cursor)
                try:
                    self._file.must_be_there()
                    fence = drive(fenced(self.guard_sql, tenure), execute) if tenure else None
                    yield Open(self.guard_key, self.conn, execute)
                    cursor.execute("COMMIT")
                except BaseException:
                    # After some errors SQLite has ended the transaction by itself.
                    if self.conn.in_transaction:
                        cursor.execute("ROLLBACK")
                    raise
                if tenure is not None:
                    tenure.fence = fence
            finally:
                cursor.close()


def _begin(cursor: sqlite3.Cursor) -> None:
    """Begin to write. Other writers are waited for here, where nothing is lost by beginning again."""
    give_up = time.monotonic() + PATIENCE
    for pause in backoff(0.1):
        try:
            cursor.execute("BEGIN IMMEDIATE")
            return
        except sqlite3.OperationalError as error:
            if not transient(error) or time.monotonic() > give_up:
                raise
        time.sleep(pause)


def _execute_on(cursor: sqlite3.Cursor) -> Callable[[str, tuple[object, ...]], Reply]:
    def execute(sql: str, parameters: tuple[object, ...]) -> Reply:
        cursor.execute(sql, parameters)
        return Reply(cursor.fetchall(), cursor.rowcount)

    return execute
