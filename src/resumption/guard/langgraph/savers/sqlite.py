"""The mixin for `SqliteSaver`."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.sqlite import SqliteSaver

from resumption.guard.claims import protocol, statements
from resumption.guard.claims.locks import FileLocks, Locks
from resumption.guard.langgraph import statements as slots
from resumption.guard.langgraph.savers.base import PATIENCE, Along, GuardedSaver, fenced, process_locks
from resumption.guard.langgraph.savers.writes import keeping, spent
from resumption.guard.langgraph.tenure import Tenure, tenure_of
from resumption.guard.stores.protocol import Reply, Work
from resumption.guard.stores.session import backoff, drive
from resumption.guard.stores.sqlite import transient

__all__ = ["GuardedSqlite"]

T = TypeVar("T")

_writing: ContextVar[tuple[Tenure, Along | None] | None] = ContextVar("resumption_sqlite_writing", default=None)


class GuardedSqlite(GuardedSaver, SqliteSaver):
    """A `SqliteSaver` whose transactions begin by checking the fence."""

    guard_sql = statements.SQLITE
    guard_slots = slots.SQLITE

    def prepare(self, original: BaseCheckpointSaver[Any]) -> None:
        """Find the database's file, and make the guard's tables if they aren't there."""
        with super().cursor(transaction=False) as cursor:
            path = next(row[2] for row in cursor.execute("PRAGMA database_list") if row[1] == "main")
        self.guard_locks: Locks = FileLocks(Path(f"{path}-resumption-locks")) if path else process_locks(original)
        if not self.read(lambda: protocol.present(self.guard_sql)):
            self.write(None, lambda: protocol.creating(self.guard_sql))

    def read(self, make: Callable[[], Work[T]]) -> T:
        """Run statements that only read."""
        with super().cursor(transaction=False) as cursor:
            return drive(make(), _execute_on(cursor))

    def write(self, tenure: Tenure | None, make: Callable[[], Work[T]]) -> T:
        """Run statements in a transaction of their own."""
        with self._transaction(tenure) as cursor:
            return drive(make(), _execute_on(cursor))

    @contextmanager
    def cursor(self, transaction: bool = True) -> Iterator[sqlite3.Cursor]:
        """As `SqliteSaver.cursor`; a transaction of a run begins by checking its fence, and isn't kept on error."""
        writing = _writing.get()
        if transaction and writing is not None:
            tenure, along = writing
            with self._transaction(tenure) as cursor:
                yield cursor
                if along is not None:
                    drive(along(), _execute_on(cursor))
        else:
            with super().cursor(transaction) as cursor:
                yield cursor

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint, if the run that made it still has its thread."""
        with _under(tenure_of(config)):
            return super().put(config, checkpoint, metadata, new_versions)

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task wrote, if its run still has its thread; answers once given are never stripped."""
        tenure = tenure_of(config)
        if tenure is None:
            super().put_writes(config, writes, task_id, task_path)
            return
        kept = self.read(lambda: keeping(self, config, writes, task_id))
        with _under(tenure, spent(self, config, writes, task_id)):
            super().put_writes(config, kept, task_id, task_path)

    @contextmanager
    def _transaction(self, tenure: Tenure | None) -> Iterator[sqlite3.Cursor]:
        with self.lock:
            self.setup()
            cursor = self.conn.cursor()
            try:
                _begin(cursor)
                try:
                    fence = drive(fenced(self.guard_sql, tenure), _execute_on(cursor)) if tenure else None
                    yield cursor
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


@contextmanager
def _under(tenure: Tenure | None, along: Along | None = None) -> Generator[None]:
    token = _writing.set((tenure, along) if tenure is not None else None)
    try:
        yield
    finally:
        _writing.reset(token)


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
