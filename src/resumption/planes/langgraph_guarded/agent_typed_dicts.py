"""The adapter for agents that are guarded with `typed_dicts="refuse"`, which isn't the default."""

from __future__ import annotations

from resumption.history.workload import Workload
from resumption.planes.interface import Instruments, Store
from resumption.planes.langgraph.tampering import tamper
from resumption.planes.langgraph_guarded.agent import open_agent
from resumption.planes.langgraph_guarded.leases import lose_leases
from resumption.planes.langgraph_guarded.runs import GuardedRun
from resumption.planes.langgraph_guarded.spec import AGENT_TYPED_DICTS

__all__ = ["lose_leases", "open_run", "tamper"]


def open_run(workload: Workload, store: Store, instruments: Instruments) -> GuardedRun:
    """Open the workload's run in `store`, as a guarded agent with tools; nothing is executed."""
    return open_agent(AGENT_TYPED_DICTS, "batched", workload, store, instruments, typed_dicts="refuse")
