"""The mixin for `AsyncPostgresSaver`, on a connection, a pipeline or a pool."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg.rows import tuple_row

from resumption.guard.claims import protocol, statements
from resumption.guard.langgraph import statements as slots
from resumption.guard.langgraph.savers.base import Along, GuardedSaver, fenced
from resumption.guard.langgraph.savers.postgres import locks_of
from resumption.guard.langgraph.savers.writes import keeping, spent
from resumption.guard.langgraph.tenure import Tenure, tenure_of
from resumption.guard.stores.protocol import Reply, Work
from resumption.guard.stores.session import adrive

__all__ = ["GuardedAsyncPostgres"]

T = TypeVar("T")

_writing: ContextVar[tuple[Tenure, Along | None] | None] = ContextVar("resumption_aiopostgres_writing", default=None)


class GuardedAsyncPostgres(GuardedSaver, AsyncPostgresSaver):
    """An `AsyncPostgresSaver` whose transactions begin by checking the fence."""

    guard_sql = statements.POSTGRES
    guard_slots = slots.POSTGRES

    def prepare(self, original: BaseCheckpointSaver[Any]) -> None:
        """Find the locks. The tables need the event loop: `aready`."""
        self.guard_locks = locks_of(self.conn)
        self._is_ready = False

    def ready(self) -> None:
        """Do it on the saver's event loop, which runs in another thread."""
        if not self._is_ready:
            self._on_loop(self.aready())

    async def aready(self) -> None:
        """Make the guard's tables if they aren't there."""
        if self._is_ready:
            return
        if not await self.aread(lambda: protocol.present(self.guard_sql)):
            await self.awrite(None, lambda: protocol.creating(self.guard_sql))
        self._is_ready = True

    def read(self, make: Callable[[], Work[T]]) -> T:
        """As `aread`, from another thread than the event loop's."""
        return self._on_loop(self.aread(make))

    def write(self, tenure: Tenure | None, make: Callable[[], Work[T]]) -> T:
        """As `awrite`, from another thread than the event loop's."""
        return self._on_loop(self.awrite(tenure, make))

    async def aread(self, make: Callable[[], Work[T]]) -> T:
        """Run statements that only read."""
        async with super()._cursor() as cursor:
            return await adrive(make(), _execute_on(cursor.connection, self.pipe))

    async def awrite(self, tenure: Tenure | None, make: Callable[[], Work[T]]) -> T:
        """Run statements in a transaction of their own."""
        async with self._transaction(tenure, make) as begun:
            outcome: T = begun.value
            return outcome

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncIterator[psycopg.AsyncCursor[Any]]:
        writing = _writing.get()
        if pipeline and writing is not None:
            async with self._transaction(*writing) as begun:
                yield begun.cursor
        else:
            async with super()._cursor(pipeline=pipeline) as cursor:
                yield cursor

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint, if the run that made it still has its thread."""
        with _under(tenure_of(config)):
            return await super().aput(config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task wrote, if its run still has its thread; answers once given are never stripped."""
        tenure = tenure_of(config)
        if tenure is None:
            await super().aput_writes(config, writes, task_id, task_path)
            return
        kept = await self.aread(lambda: keeping(self, config, writes, task_id))
        with _under(tenure, spent(self, config, writes, task_id)):
            await super().aput_writes(config, kept, task_id, task_path)

    @asynccontextmanager
    async def _transaction(self, tenure: Tenure | None, make: Callable[[], Work[Any]] | None) -> AsyncIterator[_Begun]:
        """A transaction in which the fence was checked; in a pipeline, where there can be one, to save round trips."""
        async with super()._cursor() as cursor:
            connection = cursor.connection
            async with AsyncExitStack() as stack:
                pipeline = None
                if self.supports_pipeline:
                    pipeline = await stack.enter_async_context(connection.pipeline())
                await stack.enter_async_context(connection.transaction())
                execute = _execute_on(connection, pipeline)
                fence = await adrive(fenced(self.guard_sql, tenure), execute) if tenure else None
                yield _Begun(cursor, await adrive(make(), execute) if make is not None else None)
            if tenure is not None:
                tenure.fence = fence

    def _on_loop(self, work: Awaitable[T]) -> T:
        async def run() -> T:
            return await work

        return asyncio.run_coroutine_threadsafe(run(), self.loop).result()


@dataclass(frozen=True, slots=True)
class _Begun:
    """A transaction that has begun, and what its first statements came to."""

    cursor: psycopg.AsyncCursor[Any]
    value: Any


def _execute_on(
    connection: psycopg.AsyncConnection[Any], pipeline: psycopg.AsyncPipeline | None
) -> Callable[[str, tuple[object, ...]], Awaitable[Reply]]:
    """Run statements one by one. A pipeline holds results back until it is told to wait for them."""

    async def execute(sql: str, parameters: tuple[object, ...]) -> Reply:
        async with connection.cursor(row_factory=tuple_row) as cursor:
            await cursor.execute(sql, parameters)
            if pipeline is not None:
                await pipeline.sync()
            return Reply(await cursor.fetchall() if cursor.description else (), cursor.rowcount)

    return execute


@contextmanager
def _under(tenure: Tenure | None, along: Along | None = None) -> Generator[None]:
    token = _writing.set((tenure, along) if tenure is not None else None)
    try:
        yield
    finally:
        _writing.reset(token)
