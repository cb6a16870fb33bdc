"""The adapter for flows with a `CheckpointConfig`: the program is stored after each method, and restored as a whole."""

from __future__ import annotations

from resumption.history.workload import Workload
from resumption.planes.crewai.runs import FlowRun
from resumption.planes.crewai.spec import CHECKPOINT
from resumption.planes.crewai.storage import tamper
from resumption.planes.interface import Instruments, Store

__all__ = ["open_run", "tamper"]


def open_run(workload: Workload, store: Store, instruments: Instruments) -> FlowRun:
    """Open the workload's run in `store`, as a flow with checkpoints; nothing is executed."""
    return FlowRun(CHECKPOINT, workload, store, instruments, checkpointed=True)
