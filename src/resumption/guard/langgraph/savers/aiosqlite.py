"""The mixin for `AsyncSqliteSaver`.

Its methods have no common cursor, but a common lock, which they hold around each transaction: so the fence is checked
by the lock.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from resumption.guard.claims import protocol, statements
from resumption.guard.claims.locks import FileLocks
from resumption.guard.langgraph import statements as slots
from resumption.guard.langgraph.savers.base import PATIENCE, Along, GuardedSaver, fenced, process_locks
from resumption.guard.langgraph.savers.writes import keeping, spent
from resumption.guard.langgraph.tenure import Tenure, tenure_of
from resumption.guard.stores.protocol import Reply, Work
from resumption.guard.stores.session import adrive, backoff
from resumption.guard.stores.sqlite import transient

__all__ = ["GuardedAsyncSqlite"]

T = TypeVar("T")

_writing: ContextVar[tuple[Tenure, Along | None] | None] = ContextVar("resumption_aiosqlite_writing", default=None)


class GuardedAsyncSqlite(GuardedSaver, AsyncSqliteSaver):
    """An `AsyncSqliteSaver` whose transactions begin by checking the fence."""

    guard_sql = statements.SQLITE
    guard_slots = slots.SQLITE

    def prepare(self, original: BaseCheckpointSaver[Any]) -> None:
        """Put the checking lock in place. The rest needs the event loop: `aready`."""
        self._plain_lock = self.lock
        self._original = original
        self._is_ready = False
        self.lock = _FencingLock(self)  # type: ignore[assignment]  # stands in for the lock

    def ready(self) -> None:
        """Do it on the saver's event loop, which runs in another thread."""
        if not self._is_ready:
            self._on_loop(self.aready())

    async def aready(self) -> None:
        """Find the database's file, and make the guard's tables if they aren't there."""
        if self._is_ready:
            return
        await self.setup()
        async with self._plain_lock, self.conn.execute("PRAGMA database_list") as cursor:
            path = next(row[2] for row in await cursor.fetchall() if row[1] == "main")
        locks = FileLocks(Path(f"{path}-resumption-locks")) if path else process_locks(self._original)
        if not await self.aread(lambda: protocol.present(self.guard_sql)):
            await self.awrite(None, lambda: protocol.creating(self.guard_sql))
        self.guard_locks = locks
        self._is_ready = True

    async def setup(self) -> None:
        """As the saver's; it takes the lock only if there is something to do."""
        if not self.is_setup:
            with _under(None):
                await super().setup()

    def read(self, make: Callable[[], Work[T]]) -> T:
        """As `aread`, from another thread than the event loop's."""
        return self._on_loop(self.aread(make))

    def write(self, tenure: Tenure | None, make: Callable[[], Work[T]]) -> T:
        """As `awrite`, from another thread than the event loop's."""
        return self._on_loop(self.awrite(tenure, make))

    async def aread(self, make: Callable[[], Work[T]]) -> T:
        """Run statements that only read."""
        async with self._plain_lock:
            return await adrive(make(), self._execute)

    async def awrite(self, tenure: Tenure | None, make: Callable[[], Work[T]]) -> T:
        """Run statements in a transaction of their own."""
        async with self._plain_lock, self._transaction(tenure, None):
            outcome = await adrive(make(), self._execute)
            await self.conn.commit()
            return outcome

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
    async def _transaction(self, tenure: Tenure | None, along: Along | None) -> AsyncIterator[None]:
        """Begin, and check the fence; the block commits. What it didn't commit is rolled back."""
        await self._begin()
        try:
            fence = await adrive(fenced(self.guard_sql, tenure), self._execute) if tenure else None
            if along is not None:
                await adrive(along(), self._execute)
            yield
            if tenure is not None and not self.conn.in_transaction:
                tenure.fence = fence
        finally:
            if self.conn.in_transaction:
                await self.conn.rollback()

    async def _begin(self) -> None:
        give_up = time.monotonic() + PATIENCE
        for pause in backoff(0.1):
            try:
                await self.conn.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if not transient(error) or time.monotonic() > give_up:
                    raise
            await asyncio.sleep(pause)

    async def _execute(self, sql: str, parameters: tuple[object, ...]) -> Reply:
        async with self.conn.execute(sql, parameters) as cursor:
            return Reply([tuple(row) for row in await cursor.fetchall()], cursor.rowcount)

    def _on_loop(self, work: Awaitable[T]) -> T:
        async def run() -> T:
            return await work

        return asyncio.run_coroutine_threadsafe(run(), self.loop).result()


class _FencingLock:
    """The saver's lock; for a write of a run, also the beginning and the end of its transaction."""

    def __init__(self, saver: GuardedAsyncSqlite) -> None:
        self._saver = saver
        self._open: Any = None

    async def __aenter__(self) -> None:
        await self._saver._plain_lock.acquire()
        writing = _writing.get()
        if writing is None:
            return
        transaction = self._saver._transaction(*writing)
        try:
            await transaction.__aenter__()
        except BaseException:
            self._saver._plain_lock.release()
            raise
        self._open = transaction

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        transaction, self._open = self._open, None
        try:
            if transaction is not None:
                await transaction.__aexit__(kind, error, trace)
        finally:
            self._saver._plain_lock.release()


@contextmanager
def _under(tenure: Tenure | None, along: Along | None = None) -> Generator[None]:
    token = _writing.set((tenure, along) if tenure is not None else None)
    try:
        yield
    finally:
        _writing.reset(token)
