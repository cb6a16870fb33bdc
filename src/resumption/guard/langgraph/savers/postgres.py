"""The mixin for `PostgresSaver`, on a connection, a pipeline or a pool."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import psycopg
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.postgres import PostgresSaver
from psycopg.rows import tuple_row

from resumption.guard.claims import protocol, statements
from resumption.guard.claims.sessions import SessionLocks, session_locks
from resumption.guard.langgraph import statements as slots
from resumption.guard.langgraph.savers.base import Along, GuardedSaver, fenced
from resumption.guard.langgraph.savers.writes import keeping, spent
from resumption.guard.langgraph.tenure import Tenure, tenure_of
from resumption.guard.stores.protocol import Reply, Work
from resumption.guard.stores.session import drive

__all__ = ["GuardedPostgres", "locks_of"]

T = TypeVar("T")

_writing: ContextVar[tuple[Tenure, Along | None] | None] = ContextVar("resumption_postgres_writing", default=None)


class GuardedPostgres(GuardedSaver, PostgresSaver):
    """A `PostgresSaver` whose transactions begin by checking the fence."""

    guard_sql = statements.POSTGRES
    guard_slots = slots.POSTGRES

    def prepare(self, original: BaseCheckpointSaver[Any]) -> None:
        """Make the guard's tables if they aren't there."""
        self.guard_locks = locks_of(self.conn)
        if not self.read(lambda: protocol.present(self.guard_sql)):
            self.write(None, lambda: protocol.creating(self.guard_sql))

    def read(self, make: Callable[[], Work[T]]) -> T:
        """Run statements that only read."""
        with super()._cursor() as cursor:
            return drive(make(), _execute_on(cursor.connection, self.pipe))

    def write(self, tenure: Tenure | None, make: Callable[[], Work[T]]) -> T:
        """Run statements in a transaction of their own."""
        with self._transaction(tenure, make) as outcome:
            value: T = outcome.value
            return value

    @contextmanager
    def _cursor(self, *, pipeline: bool = False) -> Iterator[psycopg.Cursor[Any]]:
        writing = _writing.get()
        if pipeline and writing is not None:
            with self._transaction(*writing) as begun:
                yield begun.cursor
        else:
            with super()._cursor(pipeline=pipeline) as cursor:
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
    def _transaction(self, tenure: Tenure | None, make: Callable[[], Work[T]] | None) -> Iterator[_Begun[T]]:
        """A transaction in which the fence was checked; in a pipeline, where there can be one, to save round trips."""
        with super()._cursor() as cursor:
            connection = cursor.connection
            with ExitStack() as stack:
                pipeline = stack.enter_context(connection.pipeline()) if self.supports_pipeline else None
                stack.enter_context(connection.transaction())
                execute = _execute_on(connection, pipeline)
                fence = drive(fenced(self.guard_sql, tenure), execute) if tenure else None
                yield _Begun(cursor, drive(make(), execute) if make is not None else None)
            if tenure is not None:
                tenure.fence = fence


@dataclass(frozen=True, slots=True)
class _Begun(Generic[T]):
    """A transaction that has begun, and what its first statements came to."""

    cursor: psycopg.Cursor[Any]
    value: Any


def _execute_on(
    connection: psycopg.Connection[Any], pipeline: psycopg.Pipeline | None
) -> Callable[[str, tuple[object, ...]], Reply]:
    """Run statements one by one. A pipeline holds results back until it is told to wait for them."""

    def execute(sql: str, parameters: tuple[object, ...]) -> Reply:
        with connection.cursor(row_factory=tuple_row) as cursor:
            cursor.execute(sql, parameters)
            if pipeline is not None:
                pipeline.sync()
            return Reply(cursor.fetchall() if cursor.description else (), cursor.rowcount)

    return execute


@contextmanager
def _under(tenure: Tenure | None, along: Along | None = None) -> Generator[None]:
    token = _writing.set((tenure, along) if tenure is not None else None)
    try:
        yield
    finally:
        _writing.reset(token)


def locks_of(connection: Any) -> SessionLocks:
    """The locks of the database that a connection or a pool, of either kind, leads to."""
    if hasattr(connection, "conninfo"):
        place, options = connection.conninfo, dict(connection.kwargs or {})
    else:
        place, options = connection.info.dsn, {"password": connection.info.password or None}
    for ours in ("autocommit", "row_factory", "prepare_threshold", "cursor_factory"):
        options.pop(ours, None)

    def connect() -> psycopg.Connection[Any]:
        return psycopg.connect(place, **options, autocommit=True, prepare_threshold=None, row_factory=tuple_row)

    return session_locks(place, connect)
