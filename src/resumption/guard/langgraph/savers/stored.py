"""The mixin for a saver that the guard doesn't know: locks, fences, claims and decisions are in a store beside it.

The saver's own tables are read and written by its public methods alone. So its writes can't carry the fence; instead
each is preceded by a look at it. `docs/guard.md` says what that leaves open.
"""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache, partial
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.base import CheckpointTuple as Found

from resumption.guard.claims import protocol
from resumption.guard.claims import statements as claims
from resumption.guard.claims.beside import locks_beside
from resumption.guard.claims.locks import Locks
from resumption.guard.langgraph import statements as slots
from resumption.guard.langgraph.savers.base import PATIENCE, GuardedSaver, fenced
from resumption.guard.langgraph.savers.overlay import OVERLAID, covering, laid_over, uncovering
from resumption.guard.langgraph.savers.standin import PLAIN, Finder, StandIn
from resumption.guard.langgraph.savers.writes import keeping, spent
from resumption.guard.langgraph.tenure import Tenure, tenure_of
from resumption.guard.stores.opening import open_store
from resumption.guard.stores.protocol import Work
from resumption.guard.stores.session import Store
from resumption.guard.stores.sqlite import SQLiteStore

__all__ = ["GuardedForeign", "address_of"]

T = TypeVar("T")
Writes = Sequence[tuple[str, Any]]


def address_of(store: str) -> str:
    """A store's address; a path alone is that of a SQLite file."""
    return store if "://" in store else f"sqlite:///{store}"


class GuardedForeign(GuardedSaver):
    """Any saver, whose writes are checked against the fence that a store keeps."""

    guard_slots = slots.SQLITE
    """What is asked in these words is answered by the `StandIn`: no saver is sent a statement."""
    guard_store: Store
    guard_overlay: slots.OverlayStatements
    guard_paths: bool
    """Whether the saver's own `put_writes` takes a task's path: those of before LangGraph 0.3 don't."""

    def guard_use(self, address: str) -> None:
        """Open the store, and make the guard's tables in it if they aren't there."""
        self.guard_store = open_store(address, PATIENCE)
        self.guard_locks = _locks_beside(self.guard_store, address)
        embedded = isinstance(self.guard_store, SQLiteStore)
        # A grant that fails isn't looked into here: the store is asked what the last one is, as in an embedded one.
        self.guard_sql = claims.SQLITE if embedded else replace(claims.POSTGRES, checks_grant=False)
        self.guard_overlay = slots.OVERLAY_SQLITE if embedded else slots.OVERLAY_POSTGRES
        self.guard_paths = "task_path" in inspect.signature(super().put_writes).parameters
        self.guard_store.transact(self._creating)

    def _creating(self) -> Work[None]:
        yield self.guard_sql.schema_lock, ()
        if not (yield from protocol.present(self.guard_sql)):
            yield from protocol.creating(self.guard_sql)
        yield self.guard_overlay.create, ()

    # What the guard asks and writes

    def guard_read(self, make: Callable[[], Work[T]]) -> T:
        """Run statements that only read."""
        return self._looked(make, self._finder())

    def guard_write(self, tenure: Tenure | None, make: Callable[[], Work[T]]) -> T:
        """Run statements in a transaction of the store, which carries the tenure's fence."""
        return self._written(tenure, make, self._finder())

    async def guard_aread(self, make: Callable[[], Work[T]]) -> T:
        """As `guard_read`, on the event loop."""
        return await _threaded(partial(self._looked, make, self._finder(asyncio.get_running_loop())))

    async def guard_awrite(self, tenure: Tenure | None, make: Callable[[], Work[T]]) -> T:
        """As `guard_write`, on the event loop."""
        return await _threaded(partial(self._written, tenure, make, self._finder(asyncio.get_running_loop())))

    def _looked(self, make: Callable[[], Work[T]], finder: Finder) -> T:
        stand_in = StandIn(finder, self.guard_overlay, self.serde)
        return self.guard_store.look(lambda: stand_in.work(make()))

    def _written(self, tenure: Tenure | None, make: Callable[[], Work[T]], finder: Finder) -> T:
        stand_in = StandIn(finder, self.guard_overlay, self.serde)

        def working() -> Work[tuple[int | None, T]]:
            fence = (yield from fenced(self.guard_sql, tenure)) if tenure else None
            return fence, (yield from stand_in.work(make()))

        fence, outcome = self.guard_store.transact(working)
        if tenure is not None:
            tenure.fence = fence
        return outcome

    def _finder(self, loop: asyncio.AbstractEventLoop | None = None) -> Finder:
        """How to ask this saver: by its coroutines on an event loop, if there is one, by blocking calls if not."""
        if loop is None:
            find, every = super().get_tuple, super().list
            return Finder(find, lambda config: list(every(config)))
        afind, alist = super().aget_tuple, super().alist

        async def all_of(config: RunnableConfig) -> list[Found]:
            return [found async for found in alist(config)]

        def asked(question: Coroutine[Any, Any, T]) -> T:
            return asyncio.run_coroutine_threadsafe(question, loop).result()

        return Finder(lambda config: asked(afind(config)), lambda config: asked(all_of(config)))

    # What LangGraph reads

    def get_tuple(self, config: RunnableConfig) -> Found | None:
        """As the saver's, with the guard's slots laid over it."""
        found = super().get_tuple(config)
        return found if found is None or _plain(config) else self._laid_over(found)

    def list(self, config: RunnableConfig | None, **options: Any) -> Iterator[Found]:
        """As the saver's, with the guard's slots laid over it."""
        for found in super().list(config, **options):
            yield found if _plain(config) else self._laid_over(found)

    async def aget_tuple(self, config: RunnableConfig) -> Found | None:
        """As the saver's, with the guard's slots laid over it."""
        found = await super().aget_tuple(config)
        return found if found is None or _plain(config) else await _threaded(partial(self._laid_over, found))

    async def alist(self, config: RunnableConfig | None, **options: Any) -> AsyncIterator[Found]:
        """As the saver's, with the guard's slots laid over it."""
        async for found in super().alist(config, **options):
            yield found if _plain(config) else await _threaded(partial(self._laid_over, found))

    def _laid_over(self, found: Found) -> Found:
        at = _place(found.config, found.checkpoint["id"])
        return laid_over(found, self.guard_store.look(lambda: covering(self.guard_overlay, *at)), self.serde)

    # What LangGraph writes

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint, if the run that made it still has its thread."""
        self._admit(tenure_of(config))
        return super().put(config, checkpoint, metadata, new_versions)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint, if the run that made it still has its thread."""
        await _threaded(partial(self._admit, tenure_of(config)))
        return await super().aput(config, checkpoint, metadata, new_versions)

    def put_writes(self, config: RunnableConfig, writes: Writes, task_id: str, task_path: str = "") -> None:
        """Store what a task wrote, if its run still has its thread; answers once given are never stripped."""
        tenure, finder = tenure_of(config), self._finder()
        kept = self._before(tenure, config, writes, task_id, finder)
        super().put_writes(config, kept, task_id, *([task_path] if self.guard_paths else []))
        self._after(tenure, config, writes, task_id, finder)

    async def aput_writes(self, config: RunnableConfig, writes: Writes, task_id: str, task_path: str = "") -> None:
        """Store what a task wrote, if its run still has its thread; answers once given are never stripped."""
        tenure, finder = tenure_of(config), self._finder(asyncio.get_running_loop())
        kept = await _threaded(partial(self._before, tenure, config, writes, task_id, finder))
        await super().aput_writes(config, kept, task_id, *([task_path] if self.guard_paths else []))
        await _threaded(partial(self._after, tenure, config, writes, task_id, finder))

    def _before(
        self, tenure: Tenure | None, config: RunnableConfig, writes: Writes, task: str, finder: Finder
    ) -> Writes:
        self._admit(tenure)
        if tenure is None or not _concerns(writes):
            return writes
        return self._looked(lambda: keeping(self.serde, self.guard_slots, config, writes, task), finder)

    def _after(self, tenure: Tenure | None, config: RunnableConfig, writes: Writes, task: str, finder: Finder) -> None:
        """Only now: should the process die in between, the question that was answered stays hidden."""
        if not _concerns(writes):
            return

        def working() -> Work[None]:
            at = _place(config, config["configurable"]["checkpoint_id"])
            yield from uncovering(self.guard_overlay, *at, task, [channel for channel, _ in writes])
            yield from spent(self.guard_slots, config, writes, task)

        self._written(tenure, working, finder)

    def _admit(self, tenure: Tenure | None) -> None:
        """Raise `Fenced` if the run has lost its thread. The first write under a tenure is the grant."""
        if tenure is None:
            return
        tenure.check()
        if tenure.fence is None:
            tenure.fence = self.guard_store.transact(lambda: fenced(self.guard_sql, tenure))
        else:
            held = (tenure.thread, tenure.token, tenure.fence)
            self.guard_store.look(lambda: protocol.holding(self.guard_sql, *held))


def _locks_beside(store: Store, address: str) -> Locks:
    if isinstance(store, SQLiteStore):
        return locks_beside(str(store.path))
    import psycopg
    from psycopg.rows import tuple_row

    from resumption.guard.claims.servers import server_locks

    def connect() -> psycopg.Connection[Any]:
        return psycopg.connect(address, autocommit=True, prepare_threshold=None, row_factory=tuple_row)

    return server_locks(address, connect)


def _place(config: RunnableConfig, checkpoint: str) -> tuple[str, str, str]:
    where = config["configurable"]
    return str(where["thread_id"]), where.get("checkpoint_ns", ""), checkpoint


def _plain(config: RunnableConfig | None) -> bool:
    return bool(config) and PLAIN in (config or {}).get("configurable", {})


def _concerns(writes: Writes) -> bool:
    return any(channel in OVERLAID for channel, _ in writes)


@cache
def _threads(process: int) -> ThreadPoolExecutor:
    """Threads for the store, of their own: a saver's coroutines may need the event loop's, and are waited for here."""
    return ThreadPoolExecutor(4, thread_name_prefix=f"resumption-store-{process}")


async def _threaded(job: Callable[[], T]) -> T:
    """Do a job of the store in a thread. It is waited for even by who is cancelled: it holds the thread's lease."""
    running = asyncio.get_running_loop().run_in_executor(_threads(os.getpid()), job)
    cancelled: asyncio.CancelledError | None = None
    while not running.done():
        try:
            await asyncio.wait([running])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    return running.result()
