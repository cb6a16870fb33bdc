"""The adapter for flows that store nothing but the question they wait with, and the state at that moment."""

from __future__ import annotations

from resumption.history.workload import Workload
from resumption.planes.crewai.runs import FlowRun
from resumption.planes.crewai.spec import HUMAN_FEEDBACK
from resumption.planes.crewai.storage import tamper
from resumption.planes.interface import Instruments, Store

__all__ = ["open_run", "tamper"]


def open_run(workload: Workload, store: Store, instruments: Instruments) -> FlowRun:
    """Open the workload's run in `store`, as a flow with human feedback; nothing is executed."""
    return FlowRun(HUMAN_FEEDBACK, workload, store, instruments)
