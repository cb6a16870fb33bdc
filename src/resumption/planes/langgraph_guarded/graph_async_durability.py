"""The adapter for guarded graphs run with `durability="async"`: what happened is stored while the next step runs."""

from __future__ import annotations

from resumption.history.workload import Workload
from resumption.planes.interface import Instruments, Store
from resumption.planes.langgraph.tampering import tamper
from resumption.planes.langgraph_guarded.graph import open_graph
from resumption.planes.langgraph_guarded.leases import lose_leases
from resumption.planes.langgraph_guarded.runs import GuardedRun
from resumption.planes.langgraph_guarded.spec import GRAPH_ASYNC_DURABILITY

__all__ = ["lose_leases", "open_run", "tamper"]


def open_run(workload: Workload, store: Store, instruments: Instruments) -> GuardedRun:
    """Open the workload's run in `store`, as a guarded graph; nothing is executed."""
    return open_graph(GRAPH_ASYNC_DURABILITY, "async", workload, store, instruments)
