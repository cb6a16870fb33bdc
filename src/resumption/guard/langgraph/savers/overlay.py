"""What the guard has to say about the slots of a saver whose tables it can't write: kept in a store, laid over reads.

A slot here replaces the saver's of the same place, until the saver stores one of its own there. One without a value
says that the slot is empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph.checkpoint.base import WRITES_IDX_MAP, CheckpointTuple
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.types import INTERRUPT

from resumption.guard.columns import Columns, optional, packed, text
from resumption.guard.langgraph.slots import RESUME
from resumption.guard.langgraph.statements import OverlayStatements
from resumption.guard.stores.protocol import Work

__all__ = ["OVERLAID", "Slot", "covering", "laid_over", "uncovering"]

OVERLAID = frozenset((INTERRUPT, RESUME))
"""The channels whose slots the guard fills and empties."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One slot as the guard wants it seen. `kind` is the serializer's word for the format; None for an empty slot."""

    task: str
    channel: str
    kind: str | None
    value: bytes | None

    @classmethod
    def of(cls, row: Sequence[object], thread: str) -> Slot:
        """A slot of a thread, from a row that was selected by `OverlayStatements.at`."""
        return cls(*_SLOTS.read(row, thread))


_SLOTS = Columns(
    "resumption_slots",
    "thread",
    {"task_id": text, "channel": text, "type": optional(text), "value": optional(packed)},
)


def covering(sql: OverlayStatements, thread: str, namespace: str, checkpoint: str) -> Work[list[Slot]]:
    """The slots that are laid over one checkpoint."""
    found = yield sql.at, (thread, namespace, checkpoint)
    return [Slot.of(row, thread) for row in found.rows]


def uncovering(
    sql: OverlayStatements, thread: str, namespace: str, checkpoint: str, task: str, channels: Iterable[str]
) -> Work[None]:
    """Let the saver's own slots be seen again: it has stored newer ones."""
    for channel in OVERLAID.intersection(channels):
        yield sql.remove, (thread, namespace, checkpoint, task, WRITES_IDX_MAP[channel])


def laid_over(found: CheckpointTuple, slots: Sequence[Slot], serde: SerializerProtocol) -> CheckpointTuple:
    """What a saver has found, with these slots in place of its own."""
    if not slots:
        return found
    hidden = {(slot.task, slot.channel) for slot in slots}
    filled: list[tuple[str, str, Any]] = []
    with _SLOTS.reading("value", found.config["configurable"]["thread_id"]):
        for slot in slots:
            if slot.kind is not None and slot.value is not None:
                filled.append((slot.task, slot.channel, serde.loads_typed((slot.kind, slot.value))))
    kept = [write for write in found.pending_writes or () if (write[0], write[1]) not in hidden]
    return found._replace(pending_writes=[*filled, *kept])
