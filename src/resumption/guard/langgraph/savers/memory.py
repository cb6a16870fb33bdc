"""The mixin for `InMemorySaver`: threads and event loops of one process.

The guard's own tables are in a SQLite database in memory, so that its conversations are the same everywhere; what they
say about LangGraph's slots is answered from the saver's dictionaries.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, TypeVar

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver

from resumption.guard.claims import statements
from resumption.guard.langgraph import statements as slots
from resumption.guard.langgraph.savers.base import BlockingSaver, Open, fenced, process_locks
from resumption.guard.langgraph.tenure import Tenure
from resumption.guard.stores.protocol import Reply, Work
from resumption.guard.stores.session import drive

__all__ = ["GuardedMemory"]

T = TypeVar("T")


class _Tables:
    """The guard's tables for one saver, shared by its guarded copies."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        for statement in statements.SQLITE.create:
            self.connection.execute(statement)


class GuardedMemory(BlockingSaver, InMemorySaver):
    """An `InMemorySaver` that checks the fence at each write."""

    guard_sql = statements.SQLITE
    guard_slots = slots.SQLITE

    def guard_prepare(self, original: BaseCheckpointSaver[Any]) -> None:
        """Share locks and tables with other guarded copies."""
        self.guard_locks = process_locks(original)
        self._tables: _Tables = original.__dict__.setdefault("guard_tables", _Tables())
        self._answering: dict[str, Callable[..., list[tuple[Any, ...]]]] = {
            slots.SQLITE.head: self._head,
            slots.SQLITE.known: self._known,
            slots.SQLITE.rows: self._rows,
            slots.SQLITE.slot: self._slot,
            slots.SQLITE.rows_at_head: self._rows_at_head,
            slots.SQLITE.nested: self._nested,
            slots.SQLITE.put: self._put,
            slots.SQLITE.drop: self._drop,
            slots.SQLITE.forget: self._forget,
            slots.SQLITE.places: self._places,
            slots.SQLITE.columns: lambda table: [],
            slots.SQLITE.copy("checkpoints", ()): self._copy_checkpoint,
            slots.SQLITE.copy("writes", ()): self._copy_writes,
        }

    def guard_read(self, make: Callable[[], Work[T]]) -> T:
        """Run statements that only read."""
        with self._tables.lock:
            return drive(make(), self._execute)

    @contextmanager
    def transaction(self, tenure: Tenure | None) -> Generator[Open[Callable[..., Reply]]]:
        """Exclude other writers, and check the fence. Nothing here outlives a process that dies half way."""
        with self._tables.lock:
            if tenure is not None:
                tenure.fence = drive(fenced(self.guard_sql, tenure), self._execute)
            yield Open(self.guard_key, self._tables.connection, self._execute)

    async def guard_aread(self, make: Callable[[], Work[T]]) -> T:
        """As `guard_read`."""
        return self.guard_read(make)

    async def guard_awrite(self, tenure: Tenure | None, make: Callable[[], Work[T]]) -> T:
        """As `guard_write`."""
        return self.guard_write(tenure, make)

    def _execute(self, sql: str, parameters: tuple[Any, ...]) -> Reply:
        answer = self._answering.get(sql)
        if answer is not None:
            return Reply(answer(*parameters), -1)
        cursor = self._tables.connection.execute(sql, parameters)
        return Reply(cursor.fetchall(), cursor.rowcount)

    # The statements on LangGraph's tables

    def _checkpoints(self, thread: str, namespace: str) -> list[str]:
        return sorted(self.storage.get(thread, {}).get(namespace, {}))

    def _head(self, thread: str, namespace: str) -> list[tuple[Any, ...]]:
        return [(identity,) for identity in self._checkpoints(thread, namespace)[-1:]]

    def _known(self, thread: str, namespace: str, checkpoint: str) -> list[tuple[Any, ...]]:
        return [(1,)] if checkpoint in self._checkpoints(thread, namespace) else []

    def _rows(self, thread: str, namespace: str, checkpoint: str) -> list[tuple[Any, ...]]:
        found = self.writes.get((thread, namespace, checkpoint), {})
        return [(task, channel, *packed) for (task, _), (_, channel, packed, _) in sorted(found.items())]

    def _rows_at_head(self, thread: str, namespace: str, *again: str) -> list[tuple[Any, ...]]:
        found = self._head(thread, namespace)
        return [(*row, *head) for head in found for row in self._rows(thread, namespace, *head)]

    def _slot(self, thread: str, namespace: str, checkpoint: str, task: str, index: int) -> list[tuple[Any, ...]]:
        found = self.writes.get((thread, namespace, checkpoint), {}).get((task, index))
        return [found[2]] if found else []

    def _nested(self, thread: str, first: str, last: str) -> list[tuple[Any, ...]]:
        inside = [namespace for namespace in self.storage.get(thread, {}) if first <= namespace < last]
        return [(one, self._checkpoints(thread, one)[-1]) for one in inside if self._checkpoints(thread, one)]

    def _put(self, thread: str, namespace: str, checkpoint: str, task: str, *slot: Any) -> list[tuple[Any, ...]]:
        index, channel, kind, blob = slot
        rows = self.writes[thread, namespace, checkpoint]
        path = rows[task, index][3] if (task, index) in rows else ""
        rows[task, index] = (task, channel, (kind, blob), path)
        return []

    def _drop(self, thread: str, namespace: str, checkpoint: str, task: str, index: int) -> list[tuple[Any, ...]]:
        self.writes.get((thread, namespace, checkpoint), {}).pop((task, index), None)
        return []

    def _forget(self, thread: str, namespace: str, checkpoint: str, task: str) -> list[tuple[Any, ...]]:
        rows = self.writes.get((thread, namespace, checkpoint), {})
        for key in [key for key in rows if key[0] == task]:
            del rows[key]
        return []

    def _places(self, thread: str) -> list[tuple[Any, ...]]:
        found = self.storage.get(thread, {})
        every = [(checkpoint, namespace) for namespace in found for checkpoint in found[namespace]]
        return [(namespace, checkpoint) for checkpoint, namespace in sorted(every)]

    def _copy_checkpoint(self, into: str, thread: str, namespace: str, checkpoint: str) -> list[tuple[Any, ...]]:
        self.storage[into][namespace][checkpoint] = self.storage[thread][namespace][checkpoint]
        for (owner, within, channel, version), blob in list(self.blobs.items()):
            if (owner, within) == (thread, namespace):
                self.blobs[into, namespace, channel, version] = blob
        return []

    def _copy_writes(self, into: str, thread: str, namespace: str, checkpoint: str) -> list[tuple[Any, ...]]:
        self.writes[into, namespace, checkpoint] = dict(self.writes.get((thread, namespace, checkpoint), {}))
        return []
