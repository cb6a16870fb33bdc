"""What guarded savers have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from langgraph.checkpoint.base import BaseCheckpointSaver

from resumption.guard.claims import protocol
from resumption.guard.claims.locks import Locks, ProcessLocks
from resumption.guard.claims.statements import Statements
from resumption.guard.langgraph.statements import SlotStatements
from resumption.guard.langgraph.tenure import Tenure
from resumption.guard.stores.protocol import Work

__all__ = ["PATIENCE", "Along", "GuardedSaver", "fenced", "process_locks"]

PATIENCE = 30.0
"""How many seconds a writer waits for other writers of the database, before anything of its own was written."""

Along = Callable[[], Work[None]]
"""Statements that belong into the transaction of a write."""

T = TypeVar("T")


class GuardedSaver(BaseCheckpointSaver[Any]):
    """A saver that stores nothing for an executor which has lost its thread."""

    guard_locks: Locks
    guard_sql: Statements
    guard_slots: SlotStatements

    def prepare(self, original: BaseCheckpointSaver[Any]) -> None:
        """Make this copy of `original` ready for use."""
        raise NotImplementedError

    def ready(self) -> None:
        """Do what could not be done while the graph was guarded. Called before each run; cheap when it is done."""

    async def aready(self) -> None:
        """As `ready`, on the event loop."""

    def read(self, make: Callable[[], Work[T]]) -> T:
        """Run statements that only read."""
        raise NotImplementedError

    def write(self, tenure: Tenure | None, make: Callable[[], Work[T]]) -> T:
        """Run statements in a transaction of their own, which carries the tenure's fence."""
        raise NotImplementedError

    async def aread(self, make: Callable[[], Work[T]]) -> T:
        """As `read`, on the event loop."""
        raise NotImplementedError

    async def awrite(self, tenure: Tenure | None, make: Callable[[], Work[T]]) -> T:
        """As `write`, on the event loop."""
        raise NotImplementedError


def fenced(sql: Statements, tenure: Tenure) -> Work[int]:
    """Check the tenure's fence in the transaction under way, or grant it; the caller keeps the number on success."""
    tenure.check()
    return (yield from protocol.fencing(sql, tenure.thread, tenure.token, tenure.fence))


def process_locks(original: BaseCheckpointSaver[Any]) -> ProcessLocks:
    """The locks of storage in this process's memory: one set for all guarded copies of a saver."""
    found = original.__dict__.setdefault("guard_process_locks", ProcessLocks())
    if not isinstance(found, ProcessLocks):
        raise AssertionError("the attribute is the guard's own")
    return found
