"""The mixin for `AsyncPostgresSaver`, on a connection, a pipeline or a pool. `postgres` says what its parts are for."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, TypeVar

import psycopg
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg.rows import dict_row, tuple_row

from resumption.guard.claims import protocol, statements
from resumption.guard.langgraph import statements as slots
from resumption.guard.langgraph.savers.base import AwaitedSaver, Open, fenced, opened
from resumption.guard.langgraph.savers.postgres import CONFLICTS, SPOIL, UNASKED, asks, locks_of, seeing
from resumption.guard.langgraph.tenure import Tenure
from resumption.guard.stores.protocol import Reply, Statement, Work
from resumption.guard.stores.session import adrive

__all__ = ["GuardedAsyncPostgres"]

T = TypeVar("T")


class GuardedAsyncPostgres(AwaitedSaver, AsyncPostgresSaver):
    """An `AsyncPostgresSaver` whose transactions begin by checking the fence."""

    guard_sql = statements.POSTGRES
    guard_slots = slots.POSTGRES

    def guard_prepare(self, original: BaseCheckpointSaver[Any]) -> None:
        """Find the locks. The tables need the event loop: `guard_aready`."""
        self.guard_locks = locks_of(self.conn)
        self._is_ready = False

    async def guard_aready(self) -> None:
        """Make the guard's tables if they aren't there."""
        if self._is_ready:
            return
        if not await self.guard_aread(lambda: protocol.present(self.guard_sql)):
            await self.guard_awrite(None, lambda: protocol.creating(self.guard_sql))
        self.guard_locks = seeing(locks_of(self.conn), await self.guard_aread(protocol.readable))
        self._is_ready = True

    def guard_ready(self) -> None:
        """As `guard_aready`, from another thread than the event loop's."""
        if not self._is_ready:
            super().guard_ready()

    async def guard_aread(self, make: Callable[[], Work[T]]) -> T:
        """Run statements that only read."""
        async with super()._cursor() as plain:
            cursor: psycopg.AsyncCursor[Any] = plain
            cursor.row_factory = tuple_row
            return await adrive(make(), _reading(cursor), _batch_on(cursor) if self.supports_pipeline else None)

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncIterator[psycopg.AsyncCursor[Any]]:
        """As `AsyncPostgresSaver._cursor`; inside a transaction of a run, a cursor in that."""
        begun = opened(self.guard_key)
        if begun is None:
            async with super()._cursor(pipeline=pipeline) as cursor:
                yield cursor
        elif pipeline:
            yield begun.cursor
        else:
            async with begun.connection.cursor(binary=True, row_factory=dict_row) as cursor:
                yield cursor

    @asynccontextmanager
    async def transaction(self, tenure: Tenure | None) -> AsyncGenerator[Open[Callable[..., Awaitable[Reply]]]]:
        """A transaction that begins by checking the fence."""
        failure: BaseException | None = None
        fence: int | None = None
        try:
            async with super()._cursor(pipeline=True) as cursor:
                execute = _execute_on(cursor)
                try:
                    if tenure is not None and tenure.fence is None:
                        fence = await adrive(fenced(self.guard_sql, tenure), execute)
                    elif tenure is not None:
                        fence = tenure.fence
                        await cursor.execute(statements.MUST_HOLD, tenure.grant)
                    yield Open(self.guard_key, cursor.connection, execute, cursor)
                except BaseException as error:
                    failure = error
                    with suppress(psycopg.Error):  # that is what it is for
                        await cursor.execute(SPOIL)
                    raise
        except BaseException as error:
            cause = failure or error  # a spoilt pipeline fails once more when it is left
            if tenure is not None and isinstance(cause, CONFLICTS):
                await self.guard_aread(
                    lambda: protocol.holding(self.guard_sql, tenure.thread, tenure.token, tenure.fence)
                )
            raise cause from cause.__cause__
        if tenure is not None:
            tenure.fence = fence


def _reading(cursor: psycopg.AsyncCursor[Any]) -> Callable[[str, tuple[object, ...]], Awaitable[Reply]]:
    async def execute(sql: str, parameters: tuple[object, ...]) -> Reply:
        await cursor.execute(sql, parameters)
        return Reply(await cursor.fetchall(), cursor.rowcount)

    return execute


def _execute_on(cursor: psycopg.AsyncCursor[Any]) -> Callable[[str, tuple[object, ...]], Awaitable[Reply]]:
    async def execute(sql: str, parameters: tuple[object, ...]) -> Reply:
        if not asks(sql):
            await cursor.execute(sql, parameters)
            return UNASKED
        async with cursor.connection.cursor(row_factory=tuple_row) as asking:
            await asking.execute(sql, parameters)
            return Reply(await asking.fetchall(), asking.rowcount)

    return execute


def _batch_on(cursor: psycopg.AsyncCursor[Any]) -> Callable[[Sequence[Statement]], Awaitable[list[Reply]]]:
    async def ask(batch: Sequence[Statement]) -> list[Reply]:
        connection = cursor.connection
        async with AsyncExitStack() as stack:
            more = [await stack.enter_async_context(connection.cursor(row_factory=tuple_row)) for _ in batch[1:]]
            cursors: list[psycopg.AsyncCursor[Any]] = [cursor, *more]
            async with connection.pipeline():
                for asking, statement in zip(cursors, batch, strict=True):
                    await asking.execute(*statement)
            return [Reply(await asking.fetchall(), asking.rowcount) for asking in cursors]

    return ask
