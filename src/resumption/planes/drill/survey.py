"""Looks at a program before it is drilled, in a process of its own.

What is wrong with what the user named is told here, once, by its code; and what a drill must know is found out.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, cast

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import StateGraph

from resumption.errors import ResumptionError, TargetUnusable
from resumption.guard.langgraph.graph import GuardedGraph
from resumption.history.events import Json
from resumption.history.workload import Workload
from resumption.planes.drill.effects import Record, install
from resumption.planes.drill.programs import Program, load, needs_event_loop, nodes, on_saver
from resumption.planes.drill.settings import Settings
from resumption.planes.interface import Address, Decision, Handle, Instruments, Snapshot, Store, unknown_form

__all__ = ["Looked", "open_run"]


class Looked:
    """A program that is looked at, and never run: an inspection says what was found, or the error."""

    def __init__(self, found: Json) -> None:
        self._found = found

    def inspect(self) -> Snapshot:
        """What was found, as JSON."""
        return Snapshot(self._found, (), finished=True)

    def start(self, value: Json) -> Handle:
        """Raises: nothing is run."""
        raise unknown_form("start")

    def deliver(self, decision: Decision) -> Handle:
        """Raises: nothing is run."""
        raise unknown_form(decision.form)

    def recover(self, form: str) -> Handle:
        """Raises: nothing is run."""
        raise unknown_form(form)

    def address(self) -> Address:
        """Nothing waits anywhere."""
        return Address()

    def close(self) -> None:
        """Nothing is held."""


def open_run(workload: Workload, store: Store, instruments: Instruments) -> Looked:
    """Look at the program."""
    try:
        return Looked(_look(Settings.handed_over(), cast(Record, instruments)))
    except ResumptionError as error:
        return Looked({"error": type(error).__name__, "what": error.what, "advice": error.advice})


def _look(settings: Settings, record: Record) -> Json:
    """The program's nodes by path, whether it must be awaited, and the modules that can be imported beforehand."""
    before = set(sys.modules)
    install(settings, record)
    source = load(settings.target, settings.folder)
    _try_saver(settings.target, source)
    return {
        "nodes": list(nodes(source)),
        "asynchronous": needs_event_loop(source),
        "guarded": isinstance(source, GuardedGraph),
        "preload": _importable(set(sys.modules) - before),
    }


def _try_saver(name: str, source: StateGraph[Any] | Program) -> None:
    """Raise `TargetUnusable` if the program can't be had on a saver of the drill's own."""
    try:
        on_saver(source, InMemorySaver(), guarded=False)
    except Exception as error:  # compiling and copying run what classes of the user's make of them
        raise TargetUnusable(
            f"{name} can't be given a checkpointer: {type(error).__name__}: {error}.",
            advice="Name its builder, or a function that returns it.",
        ) from error


def _importable(names: set[str]) -> list[str]:
    """Of the modules that the program imported, those of installed distributions; none if one started a thread."""
    threads = Path("/proc/self/task")
    if threads.is_dir() and len(os.listdir(threads)) > 1:
        return []
    return [name for name in sys.modules if name in names and _installed(name)]


def _installed(name: str) -> bool:
    spec = getattr(sys.modules[name], "__spec__", None)
    origin = getattr(spec, "origin", None) or ""
    return getattr(spec, "name", "") == name and "site-packages" in Path(origin).parts
