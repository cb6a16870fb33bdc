"""What guarded savers have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from langgraph.checkpoint.base import BaseCheckpointSaver

from resumption.guard.claims import protocol
from resumption.guard.claims.locks import Locks
from resumption.guard.claims.statements import Statements
from resumption.guard.langgraph.slots import SlotStatements
from resumption.guard.langgraph.tenure import Tenure
from resumption.guard.stores.protocol import Work

__all__ = ["GuardedSaver", "fenced"]

T = TypeVar("T")


class GuardedSaver(BaseCheckpointSaver[Any]):
    """A saver that stores nothing for an executor which has lost its thread."""

    guard_locks: Locks
    guard_sql: Statements
    guard_slots: SlotStatements

    def prepare(self, original: BaseCheckpointSaver[Any]) -> None:
        """Make this copy of `original` ready for use."""
        raise NotImplementedError

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
