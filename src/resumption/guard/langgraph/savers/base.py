"""What guarded savers have in common: each write is part of a transaction that carries its run's fence.

A transaction is a block (`together`), and what is stored inside it becomes durable with it or not at all: a saver's own
methods run unchanged, and find the transaction that is open instead of beginning one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, ChannelVersions, Checkpoint, CheckpointMetadata

from resumption.errors import UnsupportedSaver
from resumption.guard.claims import protocol
from resumption.guard.claims.locks import Locks, ProcessLocks
from resumption.guard.claims.statements import Statements
from resumption.guard.langgraph.savers.writes import keeping, spent
from resumption.guard.langgraph.statements import SlotStatements
from resumption.guard.langgraph.tenure import Tenure, tenure_of
from resumption.guard.stores.protocol import Reply, Work
from resumption.guard.stores.session import adrive, drive

__all__ = [
    "PATIENCE",
    "AwaitedSaver",
    "BlockingSaver",
    "GuardedSaver",
    "Open",
    "fenced",
    "opened",
    "process_locks",
    "refuse_transaction",
]

PATIENCE = 30.0
"""How many seconds a writer waits for other writers of the database, before anything of its own was written."""

T = TypeVar("T")
E = TypeVar("E")


@dataclass(frozen=True, slots=True)
class Open(Generic[E]):
    """A transaction under way. `execute` runs a statement of the guard's in it; a coroutine, if the saver has such."""

    key: object
    """Of the saver, and of its copies."""
    connection: Any
    execute: E
    cursor: Any = None
    """One for writes whose answers nobody waits for, where making one takes time."""


_opened: ContextVar[Open[Any] | None] = ContextVar("resumption_open_transaction", default=None)


def opened(key: object) -> Open[Any] | None:
    """The transaction that the running code is inside of, of the saver with this key."""
    found = _opened.get()
    return found if found is not None and found.key is key else None


class GuardedSaver(BaseCheckpointSaver[Any]):
    """A saver that stores nothing for an executor which has lost its thread."""

    guard_locks: Locks
    guard_sql: Statements
    guard_slots: SlotStatements
    guard_key: object
    """The same for copies of a guarded saver: LangGraph makes them, with a serializer of its own."""
    guard_groups: bool
    """Whether writes may share a transaction. A subclass that has methods of its own to store by may rely on each being
    durable when it returns."""

    def guard_prepare(self, original: BaseCheckpointSaver[Any]) -> None:
        """Make this copy of `original` ready for use."""
        raise NotImplementedError

    def guard_ready(self) -> None:
        """Do what could not be done while the graph was guarded. Called before each run; cheap when it is done."""

    async def guard_aready(self) -> None:
        """As `guard_ready`, on the event loop."""

    def guard_read(self, make: Callable[[], Work[T]]) -> T:
        """Run statements that only read."""
        raise NotImplementedError

    def guard_write(self, tenure: Tenure | None, make: Callable[[], Work[T]]) -> T:
        """Run statements in a transaction of their own, which carries the tenure's fence."""
        raise NotImplementedError

    async def guard_aread(self, make: Callable[[], Work[T]]) -> T:
        """As `guard_read`, on the event loop."""
        raise NotImplementedError

    async def guard_awrite(self, tenure: Tenure | None, make: Callable[[], Work[T]]) -> T:
        """As `guard_write`, on the event loop."""
        raise NotImplementedError


class BlockingSaver(GuardedSaver):
    """A saver whose methods block."""

    def transaction(self, tenure: Tenure | None) -> AbstractContextManager[Open[Callable[..., Reply]]]:
        """A transaction that begins by checking the fence, is committed at the block's end, or not kept on error."""
        raise NotImplementedError

    @contextmanager
    def together(self, tenure: Tenure | None) -> Generator[Open[Callable[..., Reply]]]:
        """What is stored in this block becomes durable at once, under the tenure's fence."""
        outer = opened(self.guard_key)
        if outer is not None:
            yield outer
            return
        with self.transaction(tenure) as begun:
            token = _opened.set(begun)
            try:
                yield begun
            finally:
                _opened.reset(token)

    def guard_write(self, tenure: Tenure | None, make: Callable[[], Work[T]]) -> T:
        """Run statements in a transaction of their own."""
        with self.together(tenure) as begun:
            return drive(make(), begun.execute)

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint, if the run that made it still has its thread."""
        tenure = tenure_of(config)
        if tenure is None:
            return super().put(config, checkpoint, metadata, new_versions)
        with self.together(tenure):
            return super().put(config, checkpoint, metadata, new_versions)

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task wrote, if its run still has its thread; answers once given are never stripped."""
        tenure = tenure_of(config)
        if tenure is None:
            super().put_writes(config, writes, task_id, task_path)
            return
        with self.together(tenure) as begun:
            kept = drive(keeping(self.serde, self.guard_slots, config, writes, task_id), begun.execute)
            super().put_writes(config, kept, task_id, task_path)
            drive(spent(self.guard_slots, config, writes, task_id), begun.execute)


class AwaitedSaver(GuardedSaver):
    """A saver whose methods are coroutines."""

    loop: asyncio.AbstractEventLoop

    def transaction(self, tenure: Tenure | None) -> AbstractAsyncContextManager[Open[Callable[..., Awaitable[Reply]]]]:
        """A transaction that begins by checking the fence, is committed at the block's end, or not kept on error."""
        raise NotImplementedError

    @asynccontextmanager
    async def together(self, tenure: Tenure | None) -> AsyncGenerator[Open[Callable[..., Awaitable[Reply]]]]:
        """What is stored in this block becomes durable at once, under the tenure's fence."""
        outer = opened(self.guard_key)
        if outer is not None:
            yield outer
            return
        async with self.transaction(tenure) as begun:
            token = _opened.set(begun)
            try:
                yield begun
            finally:
                _opened.reset(token)

    def guard_ready(self) -> None:
        """Do it on the saver's event loop, which runs in another thread."""
        self._on_loop(self.guard_aready())

    def guard_read(self, make: Callable[[], Work[T]]) -> T:
        """As `guard_aread`, from another thread than the event loop's."""
        return self._on_loop(self.guard_aread(make))

    def guard_write(self, tenure: Tenure | None, make: Callable[[], Work[T]]) -> T:
        """As `guard_awrite`, from another thread than the event loop's."""
        return self._on_loop(self.guard_awrite(tenure, make))

    async def guard_awrite(self, tenure: Tenure | None, make: Callable[[], Work[T]]) -> T:
        """Run statements in a transaction of their own."""
        async with self.together(tenure) as begun:
            return await adrive(make(), begun.execute)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint, if the run that made it still has its thread."""
        tenure = tenure_of(config)
        if tenure is None:
            return await super().aput(config, checkpoint, metadata, new_versions)
        async with self.together(tenure):
            return await super().aput(config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task wrote, if its run still has its thread; answers once given are never stripped."""
        tenure = tenure_of(config)
        if tenure is None:
            await super().aput_writes(config, writes, task_id, task_path)
            return
        async with self.together(tenure) as begun:
            kept = await adrive(keeping(self.serde, self.guard_slots, config, writes, task_id), begun.execute)
            await super().aput_writes(config, kept, task_id, task_path)
            await adrive(spent(self.guard_slots, config, writes, task_id), begun.execute)

    def _on_loop(self, work: Awaitable[T]) -> T:
        async def run() -> T:
            return await work

        return asyncio.run_coroutine_threadsafe(run(), self.loop).result()


def refuse_transaction(what: str) -> None:
    """Refuse a connection on which nothing of a run would be durable when LangGraph says so."""
    raise UnsupportedSaver(
        f"The checkpointer's connection {what}, so that nothing of a run would be durable before that is committed.",
        advice="Nothing was recorded. Give the checkpointer a connection of its own, in autocommit mode on PostgreSQL.",
    )


def fenced(sql: Statements, tenure: Tenure) -> Work[int]:
    """Check the tenure's fence in the transaction under way, or grant it; the caller keeps the number on success."""
    tenure.check()
    if tenure.exclusive and tenure.fence is None:
        tenure.must_hold()  # in the transaction: whoever has the thread after this puts up a fence after this
    first, tenure.attempted = not tenure.attempted, True
    return (yield from protocol.fencing(sql, tenure.thread, tenure.token, tenure.fence, tenure.seen, first=first))


def process_locks(original: BaseCheckpointSaver[Any]) -> ProcessLocks:
    """The locks of storage in this process's memory: one set for all guarded copies of a saver."""
    found = original.__dict__.setdefault("guard_process_locks", ProcessLocks())
    if not isinstance(found, ProcessLocks):
        raise AssertionError("the attribute is the guard's own")
    return found
