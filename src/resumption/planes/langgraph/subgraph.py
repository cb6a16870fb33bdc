"""The adapter for subgraphs: the whole workload is a graph inside a graph, gates included."""

from __future__ import annotations

from typing import Any

from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from resumption.history.workload import Workload
from resumption.planes.interface import Instruments, Store
from resumption.planes.langgraph import graph
from resumption.planes.langgraph.apps import open_app
from resumption.planes.langgraph.graph import trail_of
from resumption.planes.langgraph.runs import Dialect, ThreadRun
from resumption.planes.langgraph.savers import Seam
from resumption.planes.langgraph.spec import SUBGRAPH
from resumption.planes.langgraph.tampering import tamper

__all__ = ["INNER", "build", "open_run", "tamper"]

INNER = "inner"
"""The one node of the outer graph: the workload's graph, which shares the outer one's saver."""


class _Outer(TypedDict):
    """What the outer graph holds. No model: LangGraph would store its instances, of a type that it warns of."""

    trail: list[str]


def open_run(workload: Workload, store: Store, instruments: Instruments) -> ThreadRun:
    """Open the workload's run in `store`, as a graph inside a graph; nothing is executed."""
    outer = build(workload, instruments)
    seam = Seam(workload, instruments, whole=INNER)
    app = open_app(lambda saver: outer.compile(checkpointer=saver), store, seam)
    return ThreadRun(SUBGRAPH, app, store.thread, Dialect(trail_of))


def build(workload: Workload, instruments: Instruments) -> StateGraph[Any]:
    """Return the outer graph, to be compiled: the workload's graph is its one node."""
    outer = StateGraph(_Outer)
    outer.add_node(INNER, graph.build(workload, instruments).compile())
    outer.add_edge(START, INNER)
    outer.add_edge(INNER, END)
    return outer
