"""The adapter of `langgraph-guarded functional`, with one protection taken out."""

from __future__ import annotations

from ablated.protections import ablate
from resumption.history.workload import Workload
from resumption.planes.interface import Instruments, Store
from resumption.planes.langgraph_guarded import functional
from resumption.planes.langgraph_guarded.leases import lose_leases
from resumption.planes.langgraph_guarded.runs import GuardedRun

__all__ = ["lose_leases", "open_run"]


def open_run(workload: Workload, store: Store, instruments: Instruments) -> GuardedRun:
    """As the plane's own."""
    ablate()
    return functional.open_run(workload, store, instruments)
