"""`resumption recover`: the recovery worker for guarded LangGraph threads."""

from __future__ import annotations

import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from resumption.errors import ResumptionError, UnknownName

__all__ = ["recover"]


@click.command(short_help="Bring crashed threads of a guarded graph to their end.")
@click.argument("target", metavar="MODULE:GRAPH")
@click.option("--watch", type=click.FloatRange(min=0.1), metavar="SECONDS", help="Go on, looking again this often.")
def recover(target: str, watch: float | None) -> None:
    """Bring the threads of GRAPH to their end, or to their next question, whose executor died or failed.

    GRAPH is a compiled graph with a checkpointer that blocks (SqliteSaver, PostgresSaver); it is guarded if it isn't.
    Recorded decisions are served, once. Threads that somebody executes are left alone. The exit code is 1 if a thread
    failed again, which is told.
    """
    from resumption.guard.langgraph import recovery

    graph = _load(target)
    failed = False
    while True:
        for thread in recovery.cut_off(graph):
            try:
                done = recovery.recover(graph, thread)
            except ResumptionError:
                raise
            except Exception as error:  # the program's own, on this thread: the others are still to be recovered
                failed = True
                click.echo(f"{thread}: failed again: {type(error).__name__}: {error}", err=True)
            else:
                click.echo(f"{thread}: {'recovered' if done else 'busy'}")
        if watch is None:
            sys.exit(1 if failed else 0)
        time.sleep(watch)


def _load(target: str) -> Any:
    from resumption.langgraph import guard

    module, _, name = target.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    try:
        graph = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise UnknownName(f"{target!r} leads to no graph: {error}.", advice="Write MODULE:GRAPH.") from error
    return guard(graph, wait=0.0)
