"""The guard's statements on LangGraph's tables, for a saver that has other ones: answered from what its methods say.

Reads go to the saver's public methods, with the store's slots laid over what they find; writes go to those slots. So
one transaction of the store still has the claim, and the decision that it is about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import WRITES_IDX_MAP, CheckpointTuple
from langgraph.checkpoint.serde.base import SerializerProtocol

from resumption.errors import UnsupportedSaver
from resumption.guard.langgraph import statements
from resumption.guard.langgraph.savers.overlay import covering, laid_over
from resumption.guard.stores.protocol import Batch, Reply, Statement, Work

__all__ = ["PLAIN", "Finder", "StandIn"]

T = TypeVar("T")

PLAIN = "__pregel_resumption_plain"
"""In a config: find what the saver has, without the slots that are laid over it."""

_SLOTS = statements.SQLITE


@dataclass(frozen=True, slots=True)
class Finder:
    """How to ask the saver, from the thread in which the store's statements run."""

    one: Callable[[RunnableConfig], CheckpointTuple | None]
    all: Callable[[RunnableConfig], Sequence[CheckpointTuple]]


class StandIn:
    """Stands in for the tables of one saver."""

    def __init__(self, finder: Finder, overlay: statements.OverlayStatements, serde: SerializerProtocol) -> None:
        self._finder = finder
        self._overlay = overlay
        self._serde = serde
        self._answers: dict[str, Callable[..., Work[Sequence[Sequence[object]]]]] = {
            _SLOTS.head: self._head,
            _SLOTS.known: self._known,
            _SLOTS.rows: self._rows,
            _SLOTS.rows_at_head: self._rows_at_head,
            _SLOTS.slot: self._slot,
            _SLOTS.nested: self._nested,
            _SLOTS.put: self._put,
            _SLOTS.drop: self._drop,
            _SLOTS.places: self._copy,
        }

    def work(self, work: Work[T]) -> Work[T]:
        """The same operation, of which only the store's own statements are left."""
        try:
            asked = next(work)
            while True:
                try:
                    reply = yield from self._replied(asked)
                except Exception as error:
                    asked = work.throw(error)
                else:
                    asked = work.send(reply)
        except StopIteration as end:
            outcome: T = end.value
            return outcome

    def _replied(self, asked: Statement | Batch) -> Work[Reply]:
        if not isinstance(asked, Batch):
            return (yield from self._answered(*asked))
        parts = []
        for statement in asked.statements:
            parts.append((yield from self._answered(*statement)))
        return Reply((), -1, parts)

    def _answered(self, sql: str, parameters: tuple[object, ...]) -> Work[Reply]:
        answer = self._answers.get(sql)
        if answer is None:
            return (yield sql, parameters)
        return Reply((yield from answer(*parameters)), -1)

    # What LangGraph's tables are asked

    def _head(self, thread: str, namespace: str) -> Work[list[tuple[str]]]:
        found = self._find(thread, namespace)
        return [(found.checkpoint["id"],)] if found else []
        yield  # a generator, like the others

    def _known(self, thread: str, namespace: str, checkpoint: str) -> Work[list[tuple[int]]]:
        return [(1,)] if self._find(thread, namespace, checkpoint) else []
        yield  # likewise

    def _rows(self, thread: str, namespace: str, checkpoint: str) -> Work[list[tuple[object, ...]]]:
        found = self._find(thread, namespace, checkpoint) if checkpoint else None
        if found is None:
            return []
        seen = laid_over(found, (yield from covering(self._overlay, thread, namespace, checkpoint)), self._serde)
        return [(task, channel, *self._serde.dumps_typed(value)) for task, channel, value in seen.pending_writes or ()]

    def _rows_at_head(self, thread: str, namespace: str, *again: str) -> Work[list[tuple[object, ...]]]:
        found = self._find(thread, namespace)
        if found is None:
            return []
        head = found.checkpoint["id"]
        return [(*row, head) for row in (yield from self._rows(thread, namespace, head))]

    def _slot(
        self, thread: str, namespace: str, checkpoint: str, task: str, index: int
    ) -> Work[list[tuple[object, ...]]]:
        rows = yield from self._rows(thread, namespace, checkpoint)
        # The last one counts, should a saver keep each that it was given.
        return [row[2:] for row in rows if (row[0], WRITES_IDX_MAP.get(str(row[1]))) == (task, index)][-1:]

    def _nested(self, thread: str, first: str, last: str) -> Work[list[tuple[str, str]]]:
        newest: dict[str, str] = {}
        for found in self._finder.all(_plain(thread)):
            namespace, checkpoint = found.config["configurable"].get("checkpoint_ns", ""), found.checkpoint["id"]
            if first <= namespace < last:
                newest[namespace] = max(checkpoint, newest.get(namespace, ""))
        return sorted(newest.items())
        yield  # likewise

    def _put(self, *slot: object) -> Work[Sequence[Sequence[object]]]:
        return (yield self._overlay.put, slot).rows

    def _drop(
        self, thread: str, namespace: str, checkpoint: str, task: str, index: int
    ) -> Work[Sequence[Sequence[object]]]:
        channel = next(name for name, number in WRITES_IDX_MAP.items() if number == index)
        return (yield from self._put(thread, namespace, checkpoint, task, index, channel, None, None))

    def _copy(self, thread: str) -> NoReturn:
        raise UnsupportedSaver(
            "A thread can't be copied at once on a saver whose tables the guard doesn't know; half a copy would run.",
            advice="Fork on the thread itself: leave `into` away.",
        )

    def _find(self, thread: str, namespace: str, checkpoint: str = "") -> CheckpointTuple | None:
        return self._finder.one(_plain(thread, namespace, checkpoint))


def _plain(thread: str, namespace: str | None = None, checkpoint: str = "") -> RunnableConfig:
    where: dict[str, Any] = {"thread_id": thread, PLAIN: True}
    if namespace is not None:
        where["checkpoint_ns"] = namespace
    if checkpoint:
        where["checkpoint_id"] = checkpoint
    return {"configurable": where}
