"""The adapter of a drill for the program behind `guard`, and its effects behind `@effect`."""

from __future__ import annotations

from resumption.history.workload import Workload
from resumption.planes.drill.adapter import open_program
from resumption.planes.drill.runs import DrillRun
from resumption.planes.interface import Instruments, Store

__all__ = ["open_run"]


def open_run(workload: Workload, store: Store, instruments: Instruments) -> DrillRun:
    """Open the program's run in `store`, guarded; nothing is executed."""
    return open_program(workload, store, instruments, guarded=True)
