"""The adapter for LlamaIndex Workflows whose steps return an `InputRequiredEvent`; another step takes the answer."""

from __future__ import annotations

from resumption.history.workload import Workload
from resumption.planes.interface import Instruments, Store
from resumption.planes.llamaindex.events import typed_answer
from resumption.planes.llamaindex.program import build_two_step
from resumption.planes.llamaindex.runs import ContextRun
from resumption.planes.llamaindex.snapshots import tamper

__all__ = ["open_run", "tamper"]


def open_run(workload: Workload, store: Store, instruments: Instruments) -> ContextRun:
    """Open the workload's run in `store`; nothing is executed."""
    return ContextRun(build_two_step, typed_answer, workload, store, instruments)
