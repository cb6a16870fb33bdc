"""The adapter for Strands Agents whose latest snapshot is saved after each message."""

from __future__ import annotations

from resumption.history.workload import Workload
from resumption.planes.interface import Instruments, Store
from resumption.planes.strands.session import SessionRun

__all__ = ["open_run"]


def open_run(workload: Workload, store: Store, instruments: Instruments) -> SessionRun:
    """Open the workload's run in `store`, as a session that is saved after each message; nothing is executed."""
    return SessionRun(workload, store, instruments, save_latest_on="message")
