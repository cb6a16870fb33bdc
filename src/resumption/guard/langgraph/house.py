"""What an admission works with, and what it comes to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from langgraph.checkpoint.serde.base import SerializerProtocol

from resumption.guard.claims import protocol
from resumption.guard.claims.locks import Locks
from resumption.guard.claims.missing import own_tables
from resumption.guard.claims.records import Delivery
from resumption.guard.claims.statements import Statements
from resumption.guard.langgraph.calls import Call
from resumption.guard.langgraph.sight import Sight, Topology, look
from resumption.guard.langgraph.statements import SlotStatements
from resumption.guard.langgraph.steps import Course
from resumption.guard.langgraph.tenure import Tenure
from resumption.guard.stores.protocol import Work

__all__ = ["House", "Keeper", "Replay", "Run"]


class Keeper(Protocol):
    """A guarded saver, as far as an admission is concerned."""

    serde: SerializerProtocol
    guard_locks: Locks
    guard_sql: Statements
    guard_slots: SlotStatements


@dataclass(frozen=True, slots=True)
class House:
    """What a guarded graph admits calls by."""

    keeper: Keeper
    topology: Topology
    wait: float
    join: bool
    breaks: bool
    """Whether the run may rest at breakpoints: then having something left to run doesn't mean that it was cut off."""

    def unpack(self, kind: str, blob: bytes) -> Any:
        """Read a stored value."""
        return self.keeper.serde.loads_typed((kind, blob))

    def lease(self, thread: str) -> Tenure | None:
        """Take a thread's lease, without waiting; None if another executor has it."""
        with own_tables():
            lock = self.keeper.guard_locks.attempt(thread)
        return None if lock is None else Tenure(thread, lock)

    def look(self, call: Call, tenure: Tenure | None) -> Course[Sight]:
        """Read all that a call's admission depends on. Whoever has the thread sees its last grant too."""
        return look(call, tenure, self.keeper.guard_sql, self.keeper.guard_slots, self.topology, self.unpack)

    def delivery(self, call: Call, head: str) -> Delivery:
        """The record of a delivery that is accepted while `head` is the newest checkpoint."""
        return Delivery(call.thread, call.delivery, call.digest, head, None, None, protocol.now(), protocol.place())


@dataclass(frozen=True, slots=True)
class Run:
    """Run LangGraph's loop on this, and end the tenure."""

    tenure: Tenure
    payload: Any
    call: Call
    withdraw: Callable[[], Work[None]] | None = None
    """Takes the claims back, if the decision turns out not to be what the interrupt accepts."""


@dataclass(frozen=True, slots=True)
class Replay:
    """Run nothing: return the outcome of the delivery that this one repeats; None: the thread's state as it is."""

    outcome: tuple[str, bytes] | None
