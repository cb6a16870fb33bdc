"""The mixin for `AsyncSqliteSaver`.

Its methods have no common cursor, but a common lock, which they take for each operation, and a commit at its end. Both
stand aside while a transaction of a run is open.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, TypeVar

import aiosqlite
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from resumption.guard.claims import protocol, statements
from resumption.guard.claims.beside import locks_beside
from resumption.guard.langgraph import statements as slots
from resumption.guard.langgraph.savers.base import (
    PATIENCE,
    AwaitedSaver,
    Open,
    fenced,
    opened,
    process_locks,
    refuse_transaction,
)
from resumption.guard.langgraph.savers.files import DatabaseFile
from resumption.guard.langgraph.tenure import Tenure
from resumption.guard.stores.protocol import Reply, Work
from resumption.guard.stores.session import adrive, backoff
from resumption.guard.stores.sqlite import transient

__all__ = ["GuardedAsyncSqlite"]

T = TypeVar("T")


class GuardedAsyncSqlite(AwaitedSaver, AsyncSqliteSaver):
    """An `AsyncSqliteSaver` whose transactions begin by checking the fence."""

    guard_sql = statements.SQLITE
    guard_slots = slots.SQLITE

    def guard_prepare(self, original: BaseCheckpointSaver[Any]) -> None:
        """Put lock and connection in place. The rest needs the event loop: `guard_aready`."""
        self._plain_lock = self.lock
        self._plain_connection = self.conn
        self._process_locks = process_locks(original)
        self._is_ready = False
        self.lock = _Lock(self.guard_key, self.lock)  # type: ignore[assignment]  # stands in for the lock
        self.conn = _Connection(self.guard_key, self.conn)  # type: ignore[assignment]  # stands in for the connection

    async def guard_aready(self) -> None:
        """Find the database's file, and make the guard's tables if they aren't there."""
        if self._is_ready:
            return
        await self.setup()
        async with self._plain_lock, self.conn.execute("PRAGMA database_list") as cursor:
            path = next(row[2] for row in await cursor.fetchall() if row[1] == "main")
        locks = locks_beside(path) if path else self._process_locks
        self._file = DatabaseFile(path)
        if not await self.guard_aread(lambda: protocol.present(self.guard_sql)):
            await self.guard_awrite(None, lambda: protocol.creating(self.guard_sql))
        self.guard_locks = locks
        self._is_ready = True

    def guard_ready(self) -> None:
        """As `guard_aready`, from another thread than the event loop's."""
        if not self._is_ready:
            super().guard_ready()

    async def setup(self) -> None:
        """As the saver's; it takes the lock only if there is something to do."""
        if not self.is_setup:
            await super().setup()

    async def guard_aread(self, make: Callable[[], Work[T]]) -> T:
        """Run statements that only read."""
        async with self._plain_lock:
            return await adrive(make(), self._execute)

    @asynccontextmanager
    async def transaction(self, tenure: Tenure | None) -> AsyncGenerator[Open[Callable[..., Awaitable[Reply]]]]:
        """A transaction that begins by checking the fence."""
        await self.setup()
        connection = self._plain_connection
        async with self._plain_lock:
            if connection.in_transaction:
                refuse_transaction("is in a transaction of the program's own")
            try:
                await self._begin()
                self._file.must_be_there()
                fence = await adrive(fenced(self.guard_sql, tenure), self._execute) if tenure else None
                yield Open(self.guard_key, connection, self._execute)
                await connection.commit()
                if tenure is not None:
                    tenure.fence = fence
            finally:
                if connection.in_transaction:
                    await connection.rollback()

    async def _begin(self) -> None:
        give_up = time.monotonic() + PATIENCE
        for pause in backoff(0.1):
            try:
                await self._plain_connection.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if not transient(error) or time.monotonic() > give_up:
                    raise
            await asyncio.sleep(pause)

    async def _execute(self, sql: str, parameters: tuple[object, ...]) -> Reply:
        async with self._plain_connection.execute(sql, parameters) as cursor:
            return Reply([tuple(row) for row in await cursor.fetchall()], cursor.rowcount)


class _Lock:
    """The saver's lock, which an open transaction holds already."""

    def __init__(self, key: object, lock: asyncio.Lock) -> None:
        self._key = key
        self._lock = lock

    async def __aenter__(self) -> None:
        if opened(self._key) is None:
            await self._lock.acquire()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if opened(self._key) is None:
            self._lock.release()


class _Connection:
    """The saver's connection, which commits nothing before an open transaction is at its end."""

    def __init__(self, key: object, connection: aiosqlite.Connection) -> None:
        self._key = key
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    async def commit(self) -> None:
        """Commit, unless that is somebody else's to do."""
        if opened(self._key) is None:
            await self._connection.commit()
