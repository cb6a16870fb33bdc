"""LangGraph's PostgreSQL savers at the persistence seam, opened as its documentation opens them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg import AsyncConnection, Connection
from psycopg.rows import DictRow, dict_row
from psycopg_pool import ConnectionPool

from resumption.planes.langgraph.savers import AsyncRecording, Recording, Seam

__all__ = ["AsyncPostgresServerSaver", "PostgresServerSaver", "connected", "opened", "pooled"]

_SETTINGS: dict[str, Any] = {"autocommit": True, "prepare_threshold": 0}
_POOL_SIZE = 4


class PostgresServerSaver(Recording, PostgresSaver):
    """LangGraph's `PostgresSaver`, recorded."""


class AsyncPostgresServerSaver(AsyncRecording, AsyncPostgresSaver):
    """LangGraph's `AsyncPostgresSaver`, recorded."""


def connected(database: str, seam: Seam) -> tuple[PostgresServerSaver, Callable[[], None]]:
    """Open a saver on one connection, and return it with what closes that."""
    connection: Connection[DictRow] = Connection.connect(database, row_factory=dict_row, **_SETTINGS)
    return _with_tables(PostgresServerSaver(connection), seam), connection.close


def pooled(database: str, seam: Seam) -> tuple[PostgresServerSaver, Callable[[], None]]:
    """Open a saver on a pool of connections, and return it with what closes that."""
    pool: ConnectionPool[Connection[DictRow]] = ConnectionPool(
        database,
        min_size=1,
        max_size=_POOL_SIZE,
        kwargs={**_SETTINGS, "row_factory": dict_row},
        open=True,
    )
    return _with_tables(PostgresServerSaver(pool), seam), pool.close


@asynccontextmanager
async def opened(database: str, seam: Seam) -> AsyncIterator[AsyncPostgresServerSaver]:
    """Open an asynchronous saver on one connection of the running event loop."""
    connection: AsyncConnection[DictRow] = await AsyncConnection.connect(database, row_factory=dict_row, **_SETTINGS)
    async with connection:
        saver = AsyncPostgresServerSaver(connection)
        saver.seam = seam
        yield saver


def _with_tables(saver: PostgresServerSaver, seam: Seam) -> PostgresServerSaver:
    saver.seam = seam
    saver.setup()
    return saver
