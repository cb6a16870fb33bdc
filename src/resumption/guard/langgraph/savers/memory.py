"""The mixin for `InMemorySaver`: threads and event loops of one process.

The guard's own tables are in a SQLite database in memory, so that its conversations are the same everywhere; what they
say about LangGraph's slots is answered from the saver's dictionaries.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.memory import InMemorySaver

from resumption.guard.claims import statements
from resumption.guard.langgraph import statements as slots
from resumption.guard.langgraph.savers.base import GuardedSaver, fenced, process_locks
from resumption.guard.langgraph.savers.writes import keeping, spent
from resumption.guard.langgraph.tenure import Tenure, tenure_of
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


class GuardedMemory(GuardedSaver, InMemorySaver):
    """An `InMemorySaver` that checks the fence at each write."""

    guard_sql = statements.SQLITE
    guard_slots = slots.SQLITE

    def prepare(self, original: BaseCheckpointSaver[Any]) -> None:
        """Share locks and tables with other guarded copies."""
        self.guard_locks = process_locks(original)
        self._tables: _Tables = original.__dict__.setdefault("guard_tables", _Tables())
        self._answering: dict[str, Callable[..., list[tuple[Any, ...]]]] = {
            slots.SQLITE.head: self._head,
            slots.SQLITE.known: self._known,
            slots.SQLITE.rows: self._rows,
            slots.SQLITE.slot: self._slot,
            slots.SQLITE.nested: self._nested,
            slots.SQLITE.put: self._put,
            slots.SQLITE.drop: self._drop,
        }

    def read(self, make: Callable[[], Work[T]]) -> T:
        """Run statements that only read."""
        with self._tables.lock:
            return drive(make(), self._execute)

    def write(self, tenure: Tenure | None, make: Callable[[], Work[T]]) -> T:
        """Run statements, excluding other writers. Nothing here outlives a process that dies half way."""
        with self._tables.lock:
            self._check(tenure)
            return drive(make(), self._execute)

    async def aread(self, make: Callable[[], Work[T]]) -> T:
        """As `read`."""
        return self.read(make)

    async def awrite(self, tenure: Tenure | None, make: Callable[[], Work[T]]) -> T:
        """As `write`."""
        return self.write(tenure, make)

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint, if the run that made it still has its thread."""
        with self._tables.lock:
            self._check(tenure_of(config))
            return super().put(config, checkpoint, metadata, new_versions)

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task wrote, if its run still has its thread; answers once given are never stripped."""
        tenure = tenure_of(config)
        with self._tables.lock:
            if tenure is not None:
                self._check(tenure)
                along = spent(self, config, writes, task_id)
                writes = drive(keeping(self, config, writes, task_id), self._execute)
                if along is not None:
                    drive(along(), self._execute)
            super().put_writes(config, writes, task_id, task_path)

    def _check(self, tenure: Tenure | None) -> None:
        if tenure is not None:
            tenure.fence = drive(fenced(self.guard_sql, tenure), self._execute)

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
