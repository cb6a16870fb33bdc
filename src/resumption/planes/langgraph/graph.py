"""The adapter for LangGraph's graph API: each task of the workload is a node of a `StateGraph`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from langgraph.graph import END, START, StateGraph
from langgraph.types import Durability
from pydantic import BaseModel

from resumption.history.events import Json
from resumption.history.workload import Shape, Task, Workload
from resumption.planes.interface import Instruments, PlaneSpec, Store
from resumption.planes.langgraph.apps import open_app
from resumption.planes.langgraph.runs import Dialect, ThreadRun, ask
from resumption.planes.langgraph.savers import Seam
from resumption.planes.langgraph.spec import GRAPH
from resumption.planes.langgraph.tampering import tamper
from resumption.planes.rehearsal import rehearse
from resumption.planes.tasks import perform

__all__ = ["State", "appended", "build", "open_graph", "open_run", "tamper", "trail_of", "warm_up"]


def appended(trail: list[str], write: list[str]) -> list[str]:
    """Reduce the trail, as `operator.add` does.

    A function of Python's own, since LangGraph asks each reducer for its signature whenever it builds a graph, and that
    of a built-in is looked up in a copy of `sys.modules`: in a forked process, a fault for each page of a module.
    """
    return trail + write


class State(BaseModel):
    """The program's state, with a schema that LangGraph is asked to validate."""

    trail: Annotated[list[str], appended] = []


def open_run(workload: Workload, store: Store, instruments: Instruments) -> ThreadRun:
    """Open the workload's run in `store`, as a graph; nothing is executed."""
    return open_graph(GRAPH, "sync", workload, store, instruments)


def open_graph(
    spec: PlaneSpec,
    durability: Durability,
    workload: Workload,
    store: Store,
    instruments: Instruments,
    schema: type[State] | None = None,
) -> ThreadRun:
    """Open the workload's run in `store`, as a graph of the plane `spec`; nothing is executed.

    `durability` is when LangGraph stores what happened, in its words. `schema` is another one of the same state.
    """
    builder = build(workload, instruments, schema)
    seam = Seam(workload, instruments)
    app = open_app(lambda saver: builder.compile(checkpointer=saver), store, seam, durability)
    return ThreadRun(spec, app, store.thread, Dialect(trail_of))


def build(workload: Workload, instruments: Instruments, schema: type[State] | None = None) -> StateGraph[State]:
    """Return the workload as a graph to be compiled: one node for each task, in sequence or in one superstep."""
    builder = StateGraph(schema or State)
    names = [task.name for task in workload.tasks]
    for task in workload.tasks:
        _add_node(builder, task, instruments)
    for before, after in _edges(names, workload.shape):
        builder.add_edge(before, after)
    return builder


def warm_up() -> None:
    """Fill LangGraph's caches, which all of its planes share, before a zygote forks."""
    rehearse(open_run, ("memory", "memory-async"), "bare")


def _edges(names: Sequence[str], shape: Shape) -> list[tuple[str, str]]:
    if shape is Shape.FAN_OUT:
        return [edge for name in names for edge in ((START, name), (name, END))]
    return list(zip([START, *names], [*names, END], strict=True))


def trail_of(values: Any) -> Json:
    """Return the trail that a graph's values hold; None on a thread that nothing ran on."""
    return values.get("trail")


def _add_node(builder: StateGraph[State], task: Task, instruments: Instruments) -> None:
    def node(state: State) -> dict[str, Any]:
        return {"trail": perform(task, state.trail, instruments, ask)}

    builder.add_node(task.name, node, input_schema=builder.state_schema)
