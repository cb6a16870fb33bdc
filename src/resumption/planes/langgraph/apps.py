"""LangGraph's calls that the resume forms are made of, on each backend, synchronous and asynchronous.

An asynchronous program is driven from outside, one event loop for each call, as a web server's worker does that takes
one request after the other.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, TypeVar

import aiosqlite
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.pregel import Pregel
from langgraph.types import Durability, StateSnapshot

from resumption.planes.interface import Store
from resumption.planes.langgraph.memory import copy_saver, saver_at
from resumption.planes.langgraph.savers import (
    AsyncMemorySaver,
    AsyncSqliteFileSaver,
    MemorySaver,
    Seam,
    SqliteFileSaver,
)
from resumption.planes.langgraph.submissions import watch

if find_spec("langgraph.checkpoint.postgres"):  # a distribution of its own, which users of SQLite needn't have
    from resumption.planes.langgraph import postgres

__all__ = ["FILE", "App", "Build", "Program", "open_app"]

Program = Pregel[Any, Any, Any, Any]
"""What LangGraph runs: a compiled graph, or an entrypoint."""

Build = Callable[[BaseCheckpointSaver[Any]], Program]
"""Makes the program of a workload, on a saver."""

_T = TypeVar("_T")
FILE = "langgraph.sqlite"
"""The file in a store's folder that the SQLite savers write."""


class App(Protocol):
    """A program on its saver."""

    def invoke(self, value: Any, config: RunnableConfig) -> Any:
        """Run the program until it parks or ends, and return its values."""

    def get_state(self, config: RunnableConfig) -> StateSnapshot:
        """Return the state, with the states of subgraphs under way."""

    def list_states(self, config: RunnableConfig, found: list[StateSnapshot]) -> None:
        """Add the thread's states to `found`, the newest first, as far as they can be read; raises what stops that."""

    def update_state(self, config: RunnableConfig, values: Any, as_node: str | None = None) -> RunnableConfig:
        """Store a checkpoint with an update, and return its config."""

    def copy_store(self, location: Path) -> str:
        """Copy what an in-memory saver holds to the store at another location; the SHA-256 of the content."""

    def close(self) -> None:
        """Release what this process holds."""


def open_app(build: Build, store: Store, seam: Seam, durability: Durability = "sync") -> App:
    """Open the program in `store`, to be run with `durability`.

    Raises `ValueError` for a backend that this family doesn't have.
    """
    watch()
    match store.backend:
        case "memory":
            return _SyncApp(store, build(saver_at(store.location, MemorySaver, seam)), lambda: None, durability)
        case "sqlite":
            # LangGraph writes from threads of its own, so the connection can't be bound to this one.
            connection = sqlite3.connect(store.location / FILE, check_same_thread=False)
            saver = SqliteFileSaver(connection)
            saver.seam = seam
            return _SyncApp(store, build(saver), connection.close, durability)
        case "memory-async" | "sqlite-async":
            return _AsyncApp(build, store, seam, durability)
        case "postgres" | "postgres-pool":
            open_saver = postgres.connected if store.backend == "postgres" else postgres.pooled
            server_saver, close = open_saver(store.database, seam)
            return _SyncApp(store, build(server_saver), close, durability)
        case "postgres-async":
            app = _AsyncApp(build, store, seam, durability)
            app.set_up()
            return app
        case _:
            raise ValueError(f"LangGraph has no backend {store.backend!r} here")


class _SyncApp:
    def __init__(self, store: Store, program: Program, close: Callable[[], None], durability: Durability) -> None:
        self._store = store
        self._program = program
        self._durability = durability
        self.close = close

    def invoke(self, value: Any, config: RunnableConfig) -> Any:
        return self._program.invoke(value, config, durability=self._durability)

    def get_state(self, config: RunnableConfig) -> StateSnapshot:
        return self._program.get_state(config, subgraphs=True)

    def list_states(self, config: RunnableConfig, found: list[StateSnapshot]) -> None:
        for state in self._program.get_state_history(config):
            found.append(state)  # one by one: what was read before an error is kept

    def copy_store(self, location: Path) -> str:
        return copy_saver(self._store.location, location)

    def update_state(self, config: RunnableConfig, values: Any, as_node: str | None = None) -> RunnableConfig:
        return self._program.update_state(config, values, as_node=as_node)


class _AsyncApp:
    """An asynchronous saver belongs to one event loop, so each call opens its own."""

    def __init__(self, build: Build, store: Store, seam: Seam, durability: Durability) -> None:
        self._build = build
        self._store = store
        self._seam = seam
        self._durability = durability

    def invoke(self, value: Any, config: RunnableConfig) -> Any:
        return self._run(lambda program: program.ainvoke(value, config, durability=self._durability))

    def get_state(self, config: RunnableConfig) -> StateSnapshot:
        return self._run(lambda program: program.aget_state(config, subgraphs=True))

    def list_states(self, config: RunnableConfig, found: list[StateSnapshot]) -> None:
        async def add_all(program: Program) -> None:
            async for state in program.aget_state_history(config):
                found.append(state)

        self._run(add_all)

    def copy_store(self, location: Path) -> str:
        return copy_saver(self._store.location, location)

    def update_state(self, config: RunnableConfig, values: Any, as_node: str | None = None) -> RunnableConfig:
        return self._run(lambda program: program.aupdate_state(config, values, as_node=as_node))

    def close(self) -> None:
        """Nothing is held between calls."""

    def set_up(self) -> None:
        """Make the saver's tables if they aren't there."""

        async def set_up() -> None:
            async with postgres.opened(self._store.database, self._seam) as saver:
                await saver.setup()

        asyncio.run(set_up())

    def _run(self, call: Callable[[Program], Coroutine[Any, Any, _T]]) -> _T:
        async def run() -> _T:
            async with self._saver() as saver:
                return await call(self._build(saver))

        return asyncio.run(run())

    @asynccontextmanager
    async def _saver(self) -> AsyncIterator[BaseCheckpointSaver[str]]:
        if self._store.backend == "memory-async":
            yield saver_at(self._store.location, AsyncMemorySaver, self._seam)
            return
        if self._store.backend == "postgres-async":
            async with postgres.opened(self._store.database, self._seam) as server_saver:
                yield server_saver
            return
        async with aiosqlite.connect(self._store.location / FILE) as connection:
            saver = AsyncSqliteFileSaver(connection)
            saver.seam = self._seam
            yield saver
