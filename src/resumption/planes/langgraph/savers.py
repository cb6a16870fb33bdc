"""LangGraph's persistence seam: its own savers, with each write bracketed and named.

The savers are subclasses by mixin with LangGraph's explicit signatures, because LangGraph looks at the class and at the
signatures of a saver to decide what it can do. They store exactly what the stock savers store.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
)
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT
from langgraph.checkpoint.sqlite import SqliteSaver

from resumption.history.workload import Workload
from resumption.planes.interface import Instruments, Store

__all__ = ["MemorySaver", "SqliteFileSaver", "open_saver"]

_NODE_PATH = "~__pregel_pull, "
"""How LangGraph begins the path of a task that is a node; the node's name is the rest."""


@dataclass(frozen=True, slots=True)
class _Seam:
    """Where the storage operations of one opened run are recorded."""

    tasks: tuple[str, ...]
    instruments: Instruments


class _Recording(BaseCheckpointSaver[str]):
    """The mixin: brackets `put` and `put_writes` in the instruments of the run that is open."""

    seam: _Seam

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint, which makes the results of all tasks that it has seen durable."""
        covers = [task for task in self.seam.tasks if task in checkpoint["versions_seen"]]
        with self.seam.instruments.persist(_name_of_checkpoint(metadata), covers):
            return super().put(config, checkpoint, metadata, new_versions)

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store what a task wrote, which makes its result durable if the task ended."""
        channels = [channel for channel, _ in writes]
        task = task_path.removeprefix(_NODE_PATH)
        covers = [task] if task in self.seam.tasks and _ended(channels) else []
        with self.seam.instruments.persist(f"put_writes({_label(task, channels)})", covers):
            super().put_writes(config, writes, task_id, task_path)


def _name_of_checkpoint(metadata: CheckpointMetadata) -> str:
    step, source = metadata["step"], metadata["source"]
    return f"put(step={step})" if source == "loop" else f"put({source},step={step})"


def _ended(channels: Sequence[str]) -> bool:
    """A task has ended if it wrote anything but its parking, its answers or its error."""
    return ERROR not in channels and any(channel not in WRITES_IDX_MAP for channel in channels)


def _label(task: str, channels: Sequence[str]) -> str:
    if not task:  # writes of no task, such as the value of a bare resume
        return ",".join(channels)
    if _ended(channels):
        return task
    return f"{task}:{next((channel for channel in (ERROR, INTERRUPT) if channel in channels), channels[0])}"


class MemorySaver(_Recording, InMemorySaver):
    """LangGraph's `InMemorySaver`, recorded."""


class SqliteFileSaver(_Recording, SqliteSaver):
    """LangGraph's `SqliteSaver`, recorded."""


_MEMORY: dict[Path, MemorySaver] = {}
"""The in-memory savers by store location: what stands for durable storage within this process."""


def open_saver(workload: Workload, store: Store, instruments: Instruments) -> MemorySaver | SqliteFileSaver:
    """Open the saver of `store`; raises `ValueError` for a backend that this family doesn't have."""
    saver: MemorySaver | SqliteFileSaver
    match store.backend:
        case "memory":
            saver = _MEMORY.setdefault(store.location, MemorySaver())
        case "sqlite":
            # LangGraph writes from threads of its own, so the connection can't be bound to this one.
            saver = SqliteFileSaver(sqlite3.connect(store.location / "langgraph.sqlite", check_same_thread=False))
        case _:
            raise ValueError(f"LangGraph has no backend {store.backend!r} here")
    saver.seam = _Seam(tuple(task.name for task in workload.tasks), instruments)
    return saver
