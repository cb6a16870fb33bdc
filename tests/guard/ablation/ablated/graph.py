"""The adapter of `langgraph-guarded graph`, with one protection taken out."""

from __future__ import annotations

from ablated.protections import ablate
from resumption.history.workload import Workload
from resumption.planes.interface import Instruments, Store
from resumption.planes.langgraph.tampering import tamper
from resumption.planes.langgraph_guarded import graph
from resumption.planes.langgraph_guarded.leases import lose_leases
from resumption.planes.langgraph_guarded.runs import GuardedRun

__all__ = ["lose_leases", "open_run", "tamper"]


def open_run(workload: Workload, store: Store, instruments: Instruments) -> GuardedRun:
    """As the plane's own."""
    ablate()
    return graph.open_run(workload, store, instruments)
