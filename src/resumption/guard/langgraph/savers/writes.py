"""What is stored of a task's writes: all, except for a list of answers that is shorter than the one on record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.serde.base import SerializerProtocol

from resumption.decide.commit import Answers, answers
from resumption.guard.langgraph.slots import NULL_TASK, RESUME, answered, dropping
from resumption.guard.langgraph.statements import SlotStatements
from resumption.guard.langgraph.tenure import tenure_of
from resumption.guard.stores.protocol import Work

__all__ = ["keeping", "spent"]


def keeping(
    serde: SerializerProtocol,
    slots: SlotStatements,
    config: RunnableConfig,
    writes: Sequence[tuple[str, Any]],
    task: str,
) -> Work[Sequence[tuple[str, Any]]]:
    """The writes that are to be stored, for the holder of the thread's lease.

    A task that runs again hands back only the answers which it got to ask for: if it fails between two questions,
    stock LangGraph forgets the second answer.
    """
    offered = next((value for channel, value in writes if channel == RESUME), None)
    if offered is None or task == NULL_TASK:
        return writes
    where = config["configurable"]
    at = (where.get("checkpoint_ns", ""), where["checkpoint_id"], task)
    tenure, count = tenure_of(config), _count(offered)
    known = tenure.answered.get(at) if tenure is not None else None
    if tenure is not None:
        tenure.answered[at] = max(count, known or 0)
    if known is not None and _replaced(known, count):
        return writes
    stored = yield from answered(slots, str(where["thread_id"]), at)
    if stored is None:
        return writes
    before = serde.loads_typed(stored)
    if _replaced(_count(before), count):
        return writes
    # In its place, since savers number a task's writes by their position.
    return [(channel, before if channel == RESUME else value) for channel, value in writes]


def spent(slots: SlotStatements, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task: str) -> Work[None]:
    """What has to be written along: an answer for whoever asks first is gone once somebody has taken an answer."""
    if task == NULL_TASK or all(channel != RESUME for channel, _ in writes):
        return
    where = config["configurable"]
    root = where["checkpoint_id"]
    if where.get("checkpoint_ns"):
        root = where.get("checkpoint_map", {}).get("", "")
    yield from dropping(slots, str(where["thread_id"]), ("", root, NULL_TASK), RESUME)


def _replaced(stored: int, offered: int) -> bool:
    """Whether so many answers are replaced by those that are offered."""
    return answers(fence=0, current_fence=0, stored=stored, offered=offered) is not Answers.KEPT


def _count(recorded: Any) -> int:
    return len(recorded) if isinstance(recorded, list) else 1
