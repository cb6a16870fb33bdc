"""The savers that guarded programs are raced, killed and cut off on, opened as each process would open them."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import psycopg
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import StateGraph

from resumption.guard.effects import Ledger
from resumption.langgraph import GuardError, guard

from ..support import statements_observed
from .programs import THREAD

__all__ = ["KINDS", "Database", "Program", "Told", "exchanges_observed", "tell"]

KINDS = ("sqlite", "aiosqlite", "postgres", "aiopostgres")
"""Blocking and awaited savers, on a file and on a server."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a caller was told: the trail of the run, or the name of the refusal; and after how many seconds."""

    outcome: str
    seconds: float


def tell(call: Callable[[], Any]) -> Told:
    """Make a call, and put into words what came of it."""
    began = time.monotonic()
    try:
        outcome = ",".join(call()["trail"])
    except GuardError as error:
        outcome = type(error).__name__
    return Told(outcome, time.monotonic() - began)


class Program(Protocol):
    """A guarded graph on an opened saver, called alike whether its saver blocks or is awaited."""

    app: Any

    def call(self, payload: Any, config: Any = THREAD, **options: Any) -> Any:
        """Invoke the graph."""

    def state(self, config: Any = THREAD) -> Any:
        """Read the thread's state."""

    def traced(self, reach: Callable[[], None]) -> None:
        """Call `reach` before each statement of a SQLite saver."""

    def race(self, payloads: Sequence[Any], config: Any, delays: Sequence[float]) -> list[Told]:
        """Call with each payload after its delay, in threads or as tasks of one event loop."""


@dataclass(frozen=True, slots=True)
class Database:
    """One database by one kind of saver."""

    kind: str
    address: str
    """The path of the file, or the URL of the server's database."""
    leased: float = 0.0
    """For how many seconds its threads are leased; 0 where a lock ends with its holder."""

    @property
    def on_server(self) -> bool:
        """Whether it is PostgreSQL."""
        return "postgres" in self.kind

    @property
    def awaited(self) -> bool:
        """Whether the saver's methods are coroutines."""
        return self.kind.startswith("aio")

    def ledger(self, **options: Any) -> Ledger:
        """A ledger of effects in the same place."""
        return Ledger(
            self.address if self.on_server else f"sqlite:///{Path(self.address).parent / 'effects.db'}", **options
        )

    def setup(self) -> None:
        """Make LangGraph's tables, which a PostgreSQL saver doesn't by itself."""
        if self.on_server:
            with PostgresSaver.from_conn_string(self.address) as saver:
                saver.setup()

    def named(self, name: str) -> Database:
        """The same, by sessions of this name, so that the server's administrator can tell them."""
        return replace(self, address=f"{self.address}{'&' if '?' in self.address else '?'}application_name={name}")

    def by(self, *, host: str, port: str) -> Database:
        """The same server, by another address."""
        place = urlsplit(self.address)
        return Database(self.kind, place._replace(netloc=f"{place.username}@{host}:{port}").geturl())

    @contextmanager
    def opened(self, builder: StateGraph[Any], **options: Any) -> Iterator[Program]:
        """The program of a builder, guarded, on a connection of its own."""
        if self.awaited:
            with asyncio.Runner() as runner:
                stack = AsyncExitStack()
                app = runner.run(self._compiled(builder, stack, options))
                try:
                    yield _Awaited(app, runner)
                finally:
                    runner.run(stack.aclose())
        else:
            saver = PostgresSaver if self.on_server else SqliteSaver
            with saver.from_conn_string(self.address) as opened:
                yield _Blocking(guard(builder.compile(checkpointer=opened), **options))

    async def _compiled(self, builder: StateGraph[Any], stack: AsyncExitStack, options: dict[str, Any]) -> Any:
        saver = AsyncPostgresSaver if self.on_server else AsyncSqliteSaver
        opened = await stack.enter_async_context(saver.from_conn_string(self.address))
        return guard(builder.compile(checkpointer=opened), **options)


@dataclass(frozen=True, slots=True)
class _Blocking:
    app: Any

    def call(self, payload: Any, config: Any = THREAD, **options: Any) -> Any:
        return self.app.invoke(payload, config, **options)

    def state(self, config: Any = THREAD) -> Any:
        return self.app.get_state(config)

    def traced(self, reach: Callable[[], None]) -> None:
        self.app.checkpointer.conn.set_trace_callback(lambda _: reach())

    def race(self, payloads: Sequence[Any], config: Any, delays: Sequence[float]) -> list[Told]:
        line, told = threading.Barrier(len(payloads)), []

        def run(payload: Any, delay: float) -> None:
            line.wait()
            threading.Event().wait(delay)
            told.append(tell(lambda: self.call(payload, config)))

        racers = [threading.Thread(target=run, args=one) for one in zip(payloads, delays, strict=True)]
        for racer in racers:
            racer.start()
        for racer in racers:
            racer.join()
        return told


@dataclass(frozen=True, slots=True)
class _Awaited:
    app: Any
    runner: asyncio.Runner

    def call(self, payload: Any, config: Any = THREAD, **options: Any) -> Any:
        return self.runner.run(self.app.ainvoke(payload, config, **options))

    def state(self, config: Any = THREAD) -> Any:
        return self.runner.run(self.app.aget_state(config))

    def traced(self, reach: Callable[[], None]) -> None:
        self.runner.run(self.app.checkpointer.conn.set_trace_callback(lambda _: reach()))

    def race(self, payloads: Sequence[Any], config: Any, delays: Sequence[float]) -> list[Told]:
        async def run(payload: Any, delay: float) -> Told:
            await asyncio.sleep(delay)
            began = time.monotonic()
            try:
                outcome = ",".join((await self.app.ainvoke(payload, config))["trail"])
            except GuardError as error:
                outcome = type(error).__name__
            return Told(outcome, time.monotonic() - began)

        async def together() -> list[Told]:
            return await asyncio.gather(*(run(*one) for one in zip(payloads, delays, strict=True)))

        return self.runner.run(together())


@contextmanager
def exchanges_observed(program: Program, database: Database, reach: Callable[[], None]) -> Iterator[None]:
    """Call `reach` at every boundary of a statement that this process makes, the ledger's and the lease's included.

    On SQLite that is before each statement, which is behind the one before; on PostgreSQL before what is sent together
    goes out, and again when the server's answer to it is there.
    """
    if database.on_server:
        with _waits_observed(reach):
            yield
        return
    program.traced(reach)
    with statements_observed(lambda _: reach()):
        yield


@contextmanager
def _waits_observed(reach: Callable[[], None]) -> Iterator[None]:
    blocking, awaited = psycopg.Connection.wait, psycopg.AsyncConnection.wait

    def wait(self: Any, *args: Any, **options: Any) -> Any:
        reach()
        answer = blocking(self, *args, **options)
        reach()
        return answer

    async def await_(self: Any, *args: Any, **options: Any) -> Any:
        reach()
        answer = await awaited(self, *args, **options)
        reach()
        return answer

    psycopg.Connection.wait, psycopg.AsyncConnection.wait = wait, await_  # type: ignore[method-assign, assignment]  # watched
    try:
        yield
    finally:
        psycopg.Connection.wait, psycopg.AsyncConnection.wait = blocking, awaited  # type: ignore[method-assign]  # as it was
