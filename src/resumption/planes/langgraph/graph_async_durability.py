"""The adapter for graphs run with `durability="async"`: what happened is stored while the next step runs."""

from __future__ import annotations

from resumption.history.workload import Workload
from resumption.planes.interface import Instruments, Store
from resumption.planes.langgraph.graph import open_graph
from resumption.planes.langgraph.runs import ThreadRun
from resumption.planes.langgraph.spec import GRAPH_ASYNC_DURABILITY
from resumption.planes.langgraph.tampering import tamper

__all__ = ["open_run", "tamper"]


def open_run(workload: Workload, store: Store, instruments: Instruments) -> ThreadRun:
    """Open the workload's run in `store`, as a graph; nothing is executed."""
    return open_graph(GRAPH_ASYNC_DURABILITY, "async", workload, store, instruments)
