"""The adapter for guarded graphs whose trail is a `DeltaChannel`."""

from __future__ import annotations

from resumption.history.workload import Workload
from resumption.planes.interface import Instruments, Store
from resumption.planes.langgraph.graph_delta import delta_state
from resumption.planes.langgraph.tampering import tamper
from resumption.planes.langgraph_guarded.graph import open_graph
from resumption.planes.langgraph_guarded.leases import lose_leases
from resumption.planes.langgraph_guarded.runs import GuardedRun
from resumption.planes.langgraph_guarded.spec import GRAPH_DELTA

__all__ = ["lose_leases", "open_run", "tamper"]


def open_run(workload: Workload, store: Store, instruments: Instruments) -> GuardedRun:
    """Open the workload's run in `store`, as a guarded graph; nothing is executed."""
    return open_graph(GRAPH_DELTA, "sync", workload, store, instruments, delta_state())
