"""Recovery: bring threads to their end, or to their next question, whose executor is gone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from langgraph.pregel import Pregel

from resumption.errors import RunBusy, UnsupportedSaver
from resumption.guard.langgraph.graph import GuardedGraph
from resumption.guard.langgraph.savers import GuardedSaver
from resumption.guard.stores.protocol import Work

__all__ = ["cut_off", "recover"]


def cut_off(graph: Pregel[Any, Any, Any, Any]) -> Iterator[str]:
    """The guarded threads that have something left to run and rest at no question.

    One that is being executed right now is among them. A graph with breakpoints has none: resting there looks the same.
    """
    saver = graph.checkpointer
    if not isinstance(graph, GuardedGraph) or not isinstance(saver, GuardedSaver):
        raise UnsupportedSaver(f"{graph.get_name()} isn't guarded.", advice="Give what `guard` returned.")
    if graph.interrupt_before_nodes or graph.interrupt_after_nodes:
        return

    def listing() -> Work[list[str]]:
        found = yield saver.guard_sql.threads, ()
        return [str(row[0]) for row in found.rows]

    saver.guard_ready()
    for thread in saver.guard_read(listing):
        state = graph.get_state({"configurable": {"thread_id": thread}})
        if state.tasks and not state.interrupts:
            yield thread


def recover(graph: Pregel[Any, Any, Any, Any], thread: str) -> bool:
    """Recover one thread; False if somebody is executing it. Raises what its nodes raise."""
    try:
        graph.invoke(None, {"configurable": {"thread_id": thread}})
    except RunBusy:
        return False
    return True
