"""Recovery: bring threads to their end, or to their next question, whose executor is gone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.pregel import Pregel
from langgraph.types import StateSnapshot

from resumption.errors import RunBusy, UnsupportedSaver
from resumption.guard.claims.records import THREADS
from resumption.guard.langgraph.graph import GuardedGraph
from resumption.guard.langgraph.savers import GuardedSaver
from resumption.guard.stores.protocol import Work

__all__ = ["acut_off", "arecover", "cut_off", "recover"]


def cut_off(graph: Pregel[Any, Any, Any, Any]) -> Iterator[str]:
    """The guarded threads that have something left to run and rest at no question.

    One that is being executed right now is among them. A graph with breakpoints has none: resting there looks the same.
    """
    saver = _saver(graph)
    if not _tells(graph):
        return
    saver.guard_ready()
    for thread in saver.guard_read(lambda: _threads(saver)):
        if _is_cut_off(graph.get_state(_at(thread))):
            yield thread


async def acut_off(graph: Pregel[Any, Any, Any, Any]) -> AsyncIterator[str]:
    """As `cut_off`, on the event loop."""
    saver = _saver(graph)
    if not _tells(graph):
        return
    await saver.guard_aready()
    for thread in await saver.guard_aread(lambda: _threads(saver)):
        if _is_cut_off(await graph.aget_state(_at(thread))):
            yield thread


def recover(graph: Pregel[Any, Any, Any, Any], thread: str) -> bool:
    """Recover one thread; False if somebody is executing it. Raises what its nodes raise."""
    try:
        graph.invoke(None, _at(thread))
    except RunBusy:
        return False
    return True


async def arecover(graph: Pregel[Any, Any, Any, Any], thread: str) -> bool:
    """As `recover`, on the event loop."""
    try:
        await graph.ainvoke(None, _at(thread))
    except RunBusy:
        return False
    return True


def _saver(graph: Pregel[Any, Any, Any, Any]) -> GuardedSaver:
    saver = graph.checkpointer
    if not isinstance(graph, GuardedGraph):
        raise UnsupportedSaver(f"{graph.get_name()} isn't guarded.", advice="Give what `guard` returned.")
    if not isinstance(saver, GuardedSaver):
        raise UnsupportedSaver(
            f"{graph.get_name()} has no checkpointer of its own, whose threads could be looked through.",
            advice="Compile it with the one that the service uses.",
        )
    return saver


def _tells(graph: Pregel[Any, Any, Any, Any]) -> bool:
    return not graph.interrupt_before_nodes and not graph.interrupt_after_nodes


def _threads(saver: GuardedSaver) -> Work[list[str]]:
    found = yield saver.guard_sql.threads, ()
    return [THREADS.read(row, row[0])[0] for row in found.rows]


def _is_cut_off(state: StateSnapshot) -> bool:
    return bool(state.tasks) and not state.interrupts


def _at(thread: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread}}
