"""The adapter for flows decorated with `@persist`: state is stored after each method, and a new kickoff loads it."""

from __future__ import annotations

from resumption.history.workload import Workload
from resumption.planes.crewai.runs import FlowRun
from resumption.planes.crewai.spec import PERSIST
from resumption.planes.crewai.storage import tamper
from resumption.planes.interface import Instruments, Store

__all__ = ["open_run", "tamper"]


def open_run(workload: Workload, store: Store, instruments: Instruments) -> FlowRun:
    """Open the workload's run in `store`, as a persisted flow; nothing is executed."""
    return FlowRun(PERSIST, workload, store, instruments, persisted=True)
