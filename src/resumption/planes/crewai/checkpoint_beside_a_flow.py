"""The adapter for flows with a `CheckpointConfig` where another flow object was made before, and left idle."""

from __future__ import annotations

from resumption.history.workload import Workload
from resumption.planes.crewai.runs import FlowRun
from resumption.planes.crewai.spec import CHECKPOINT_BESIDE_A_FLOW
from resumption.planes.crewai.storage import tamper
from resumption.planes.interface import Instruments, Store

__all__ = ["open_run", "tamper"]


def open_run(workload: Workload, store: Store, instruments: Instruments) -> FlowRun:
    """Open the workload's run in `store`, as a flow with checkpoints beside an idle one; nothing is executed."""
    return FlowRun(CHECKPOINT_BESIDE_A_FLOW, workload, store, instruments, checkpointed=True, beside=True)
