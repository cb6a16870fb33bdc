"""LangGraph's persistence seam: its own savers, with each write bracketed and named.

The savers are subclasses by mixin with LangGraph's explicit signatures, because LangGraph looks at the class and at the
signatures of a saver to decide what it can do. They store exactly what the stock savers store.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
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
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from resumption.history.workload import Workload
from resumption.planes.brackets import beside_the_loop
from resumption.planes.interface import Instruments

__all__ = [
    "AsyncMemorySaver",
    "AsyncRecording",
    "AsyncSqliteFileSaver",
    "MemorySaver",
    "Recording",
    "Seam",
    "SqliteFileSaver",
]

_NODE_PATH = "~__pregel_pull, "
"""How LangGraph begins the path of a task that is a node; the node's name is the rest."""


def _nodes_that_ran(checkpoint: Checkpoint) -> Container[str]:
    return checkpoint["versions_seen"]


@dataclass(frozen=True, slots=True)
class Seam:
    """Where the storage operations of one opened run are recorded, and what they cover."""

    workload: Workload
    instruments: Instruments
    whole: str = ""
    """The task of LangGraph's that all tasks of the workload run inside; empty if there is none."""
    names: dict[str, str] = field(default_factory=dict)
    """The names of the tasks that LangGraph knows by id alone."""
    ended_in: Callable[[Checkpoint], Container[str]] = _nodes_that_ran
    """The tasks whose results a checkpoint holds."""

    def identify(self, namespace: str, task: str = "") -> None:
        """Learn the running task's name and id from its checkpoint namespace, `…|name:id`.

        `task` is its name where that of LangGraph's task is another.
        """
        name, _, identity = namespace.rpartition("|")[2].partition(":")
        self.names[identity] = task or name

    def covered(self, ended: Container[str]) -> list[str]:
        """The tasks of the workload that are durable when these tasks of LangGraph's are."""
        names = [task.name for task in self.workload.tasks]
        return names if self.whole and self.whole in ended else [name for name in names if name in ended]


class _Seamed(BaseCheckpointSaver[str]):
    """A saver that knows the run it stores, and the brackets of its operations."""

    seam: Seam

    def _storing(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata
    ) -> AbstractContextManager[None]:
        """Bracket `put`: a checkpoint makes the results of all tasks that it holds durable."""
        name = f"{_within(config)}put({_step_of(metadata)})"
        return self.seam.instruments.persist(name, self.seam.covered(self.seam.ended_in(checkpoint)))

    def _writing(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str
    ) -> AbstractContextManager[None]:
        """Bracket `put_writes`: what a task wrote makes its result durable if the task ended."""
        channels = [channel for channel, _ in writes]
        task = self.seam.names.get(task_id, task_path.removeprefix(_NODE_PATH))
        covers = self.seam.covered([task]) if _ended(channels) else []
        return self.seam.instruments.persist(f"{_within(config)}put_writes({_label(task, channels)})", covers)


class Recording(_Seamed):
    """The mixin for savers whose operations are synchronous underneath."""

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint, in its bracket."""
        with self._storing(config, checkpoint, metadata):
            return super().put(config, checkpoint, metadata, new_versions)

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store what a task wrote, in its bracket."""
        with self._writing(config, writes, task_id, task_path):
            super().put_writes(config, writes, task_id, task_path)


class AsyncRecording(_Seamed):
    """The mixin for savers whose operations are coroutines."""

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint, in its bracket."""
        async with beside_the_loop(self._storing(config, checkpoint, metadata)):
            return await super().aput(config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store what a task wrote, in its bracket."""
        async with beside_the_loop(self._writing(config, writes, task_id, task_path)):
            await super().aput_writes(config, writes, task_id, task_path)


def _within(config: RunnableConfig) -> str:
    """The subgraph that an operation belongs to, as `outer/inner/`; empty for the root graph."""
    namespace = config["configurable"].get("checkpoint_ns", "")
    return "".join(part.partition(":")[0] + "/" for part in namespace.split("|") if part)


def _step_of(metadata: CheckpointMetadata) -> str:
    step, source = metadata["step"], metadata["source"]
    return f"step={step}" if source == "loop" else f"{source},step={step}"


def _ended(channels: Sequence[str]) -> bool:
    """A task has ended if it wrote anything but its parking, its answers or its error.

    One that raised behind its writes has ended too: they are stored with the error, and are applied, not made again.
    """
    return any(channel not in WRITES_IDX_MAP for channel in channels)


def _label(task: str, channels: Sequence[str]) -> str:
    if not task:  # writes of no task, such as the value of a bare resume
        return ",".join(channels)
    if _ended(channels) and ERROR not in channels:
        return task
    return f"{task}:{next((channel for channel in (ERROR, INTERRUPT) if channel in channels), channels[0])}"


class MemorySaver(Recording, InMemorySaver):
    """LangGraph's `InMemorySaver`, recorded."""


class AsyncMemorySaver(AsyncRecording, InMemorySaver):
    """LangGraph's `InMemorySaver`, whose coroutines are recorded: they call the synchronous operations."""


class SqliteFileSaver(Recording, SqliteSaver):
    """LangGraph's `SqliteSaver`, recorded."""


class AsyncSqliteFileSaver(AsyncRecording, AsyncSqliteSaver):
    """LangGraph's `AsyncSqliteSaver`, recorded."""
