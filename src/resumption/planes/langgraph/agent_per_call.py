"""The adapter for LangChain's agents whose middleware asks about each tool call as it starts."""

from __future__ import annotations

from resumption.history.workload import Workload
from resumption.planes.interface import Instruments, Store
from resumption.planes.langgraph.agent import open_agent
from resumption.planes.langgraph.runs import ThreadRun
from resumption.planes.langgraph.spec import AGENT_PER_CALL
from resumption.planes.langgraph.tampering import tamper

__all__ = ["open_run", "tamper"]


def open_run(workload: Workload, store: Store, instruments: Instruments) -> ThreadRun:
    """Open the workload's run in `store`, as an agent with tools; nothing is executed."""
    return open_agent(AGENT_PER_CALL, "per_call", workload, store, instruments)
