"""From `module:attribute` to a LangGraph program that runs on a given saver."""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import StateGraph
from langgraph.pregel import Pregel
from langgraph.pregel._read import PregelNode

from resumption.errors import TargetNotFound, TargetUnusable
from resumption.guard.langgraph.graph import GuardedGraph
from resumption.langgraph import guard

__all__ = ["Program", "fetch", "load", "needs_event_loop", "nodes", "on_saver"]

Program = Pregel[Any, Any, Any, Any]


def fetch(name: str, folder: str) -> Any:
    """Import `module:attribute`, as from a Python that was started in `folder`. Raises `TargetNotFound`."""
    module, colon, path = name.partition(":")
    if not (module and colon and path):
        raise TargetNotFound(f"{name!r} names nothing.", advice="Write MODULE:NAME.")
    here = os.getcwd()
    os.chdir(folder)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        found = import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except Exception as error:  # importing runs the user's code, which may raise anything
        raise TargetNotFound(
            f"{name} can't be imported: {type(error).__name__}: {error}.",
            advice="Write MODULE:NAME, as seen from the folder in which you are.",
        ) from error
    finally:
        os.chdir(here)
    return found


def load(name: str, folder: str) -> StateGraph[Any] | Program:
    """The builder or compiled graph of a name, made by its factory if it is one.

    Raises `TargetNotFound` or `TargetUnusable`.
    """
    found = fetch(name, folder)
    if not isinstance(found, StateGraph | Pregel) and callable(found):
        found = _made(name, found)
    if not isinstance(found, StateGraph | Pregel):
        raise TargetUnusable(
            f"{name} is a {type(found).__name__}, not a graph.",
            advice="Name a compiled graph, a StateGraph, or a function without arguments that returns one.",
        )
    return found


def _made(name: str, factory: Callable[..., Any]) -> Any:
    try:
        made = factory()
        return asyncio.run(_awaited(made)) if inspect.isawaitable(made) else made
    except Exception as error:  # the user's own code
        raise TargetUnusable(
            f"The factory {name} failed: {type(error).__name__}: {error}.",
            advice="A factory is called without arguments, and returns a graph.",
        ) from error


async def _awaited(made: Any) -> Any:
    return await made


def on_saver(source: StateGraph[Any] | Program, saver: BaseCheckpointSaver[Any], *, guarded: bool) -> Program:
    """A copy of the program that keeps its state with `saver`; guarded if it was, or if it is to be."""
    if isinstance(source, StateGraph):
        program: Program = source.compile(checkpointer=saver)
    elif isinstance(source, GuardedGraph):
        program, guarded = _unguarded(source, saver), True
    else:
        program = source.copy({"checkpointer": saver})
    return guard(program) if guarded else program


def _unguarded(source: GuardedGraph, saver: BaseCheckpointSaver[Any]) -> Program:
    """A guarded graph's class has the graph's own behind the guard. Its nodes check validity, which does no harm."""
    kind = type(source).__mro__[2]
    program: Program = object.__new__(kind)
    program.__dict__.update(source.__dict__)
    program.checkpointer = saver
    return program


def nodes(source: StateGraph[Any] | Program) -> dict[str, PregelNode]:
    """Every node of a program by its path, those of subgraphs as `outer/inner`."""
    program = source.compile() if isinstance(source, StateGraph) else source
    return dict(_nodes(program, ""))


def _nodes(program: Program, above: str) -> Iterator[tuple[str, PregelNode]]:
    for name, node in program.nodes.items():
        if name == "__start__":
            continue
        yield f"{above}{name}", node
        for inner in node.subgraphs or ():
            if isinstance(inner, Pregel):
                yield from _nodes(inner, f"{above}{name}/")


def needs_event_loop(source: StateGraph[Any] | Program) -> bool:
    """Whether a program has a node that can only be awaited, or was compiled with a saver that can."""
    saver = getattr(source, "checkpointer", None)
    # LangGraph's asynchronous savers block no caller: they have no synchronous `put` of their own, or refuse it.
    asynchronous_saver = saver is not None and type(saver).__name__.startswith("Async")
    return asynchronous_saver or any(_only_awaitable(node.bound) for node in nodes(source).values())


def _only_awaitable(bound: Any) -> bool:
    steps = getattr(bound, "steps", None) or [bound]
    return any(getattr(step, "func", True) is None and getattr(step, "afunc", None) is not None for step in steps)
