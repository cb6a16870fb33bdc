"""`resumption recover`: the recovery worker for guarded LangGraph threads."""

from __future__ import annotations

import asyncio
import inspect
import sys
import time
from collections.abc import Awaitable
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from resumption.errors import UnknownName

__all__ = ["recover"]


@click.command(short_help="Bring crashed threads of a guarded graph to their end.")
@click.argument("target", metavar="MODULE:GRAPH")
@click.option("--watch", type=click.FloatRange(min=0.1), metavar="SECONDS", help="Go on, looking again this often.")
def recover(target: str, watch: float | None) -> None:
    """Bring the threads of GRAPH to their end, or to their next question, whose executor died or failed.

    GRAPH is a compiled graph with the service's checkpointer, or a function without arguments that returns one; it is
    guarded if it isn't. An async function is awaited, and its graph is recovered on that event loop: so are async
    nodes, AsyncSqliteSaver and AsyncPostgresSaver.

    Recorded decisions are served, once. Threads that somebody executes are left alone. The exit code is 1 if a thread
    failed again, or asks whether an effect fired; that is told, and the others are recovered.
    """
    made = _made(target)
    fine = asyncio.run(_on_loop(made, watch)) if inspect.isawaitable(made) else _blocking(made, watch)
    sys.exit(0 if fine else 1)


def _blocking(made: Any, watch: float | None) -> bool:
    from resumption.guard.langgraph import recovery
    from resumption.langgraph import guard

    graph, telling = guard(made, wait=0.0), _Telling()
    while True:
        for thread in recovery.cut_off(graph):
            try:
                done = recovery.recover(graph, thread)
            except Exception as error:  # this thread's own: the others are still to be recovered
                telling.failed(thread, error)
            else:
                telling.recovered(thread, done)
        if watch is None:
            return telling.end()
        time.sleep(watch)


async def _on_loop(made: Awaitable[Any], watch: float | None) -> bool:
    from resumption.langgraph import guard

    graph = guard(await made, wait=0.0)
    try:
        return await _awaited(graph, watch)
    finally:
        # Nobody else could close what the function opened: a connection of aiosqlite would keep the process alive.
        connection = getattr(graph.checkpointer, "conn", None)
        if connection is not None:
            await connection.close()


async def _awaited(graph: Any, watch: float | None) -> bool:
    from resumption.guard.langgraph import recovery

    telling = _Telling()
    while True:
        async for thread in recovery.acut_off(graph):
            try:
                done = await recovery.arecover(graph, thread)
            except Exception as error:  # this thread's own: the others are still to be recovered
                telling.failed(thread, error)
            else:
                telling.recovered(thread, done)
        if watch is None:
            return telling.end()
        await asyncio.sleep(watch)


class _Telling:
    """What is said of each thread, and whether all went well."""

    def __init__(self) -> None:
        self._seen = 0
        self._fine = True

    def recovered(self, thread: str, done: bool) -> None:
        self._seen += 1
        click.echo(f"{thread}: {'recovered' if done else 'busy'}")

    def failed(self, thread: str, error: Exception) -> None:
        self._seen += 1
        self._fine = False
        click.echo(f"{thread}: failed again: {type(error).__name__}: {error}", err=True)

    def end(self) -> bool:
        if not self._seen:
            click.echo("nothing to recover", err=True)
        return self._fine


def _made(target: str) -> Any:
    """What the target names; of a function, what it returns."""
    module, _, name = target.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    try:
        named = getattr(import_module(module), name)
    except Exception as error:  # whatever the program's module raises as it is imported
        raise UnknownName(
            f"{target!r} leads to no graph: {type(error).__name__}: {error}.",
            advice="Write MODULE:GRAPH. What needs an event loop is made in an async function: MODULE:FUNCTION.",
        ) from error
    return named() if callable(named) else named
