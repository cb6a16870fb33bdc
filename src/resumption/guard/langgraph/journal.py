"""What a loop has to store, in order; what waits for the database together is stored in one transaction.

LangGraph stores in the background, each write and each checkpoint on its own. Here a checkpoint never becomes durable
before the writes that it comes from, nor anything after a checkpoint that couldn't be stored. What has queued up while
the database was busy shares a transaction: fewer commits, and what belongs together can't be torn apart by a crash.

There is no thread of its own: LangGraph starts one background job for each entry, and the first that gets its turn
stores for all.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, closing, nullcontext
from typing import Any

__all__ = ["AwaitedJournal", "BlockingJournal", "Entry"]


class Entry:
    """One thing to store: a checkpoint, or what a task wrote."""

    __slots__ = ("checkpoint", "done", "error", "store")

    def __init__(self, store: Callable[[], Any], *, checkpoint: bool) -> None:
        self.store = store
        self.checkpoint = checkpoint
        self.done = False
        self.error: BaseException | None = None


class _Journal:
    """The entries of one loop, and what has failed of them. `grouping`: whether entries may share a transaction."""

    def __init__(self, *, grouping: bool) -> None:
        self._grouping = grouping
        self._waiting: deque[Entry] = deque()
        self._lost_checkpoint: BaseException | None = None
        self._lost_writes: BaseException | None = None

    def enter(self, store: Callable[[], Any], *, checkpoint: bool) -> Entry:
        """Queue an entry, behind those that were queued before."""
        entry = Entry(store, checkpoint=checkpoint)
        self._waiting.append(entry)
        return entry

    def _storing(self) -> Generator[Sequence[Entry], BaseException | None, None]:
        """Yields what is to be stored together, and is sent what it failed with, until nothing waits."""
        entries = [self._waiting.popleft() for _ in range(len(self._waiting))]
        try:
            if self._grouping and len(entries) > 1 and not any(map(self._obstacle, entries)):
                failure = yield entries
                if failure is None:
                    for entry in entries:
                        self._settle(entry, None)
                    return
                # Nothing of it was stored. One by one it shows which entry failed, and the others are kept.
            for entry in entries:
                obstacle = self._obstacle(entry)
                self._settle(entry, obstacle or (yield (entry,)))
        finally:
            for entry in entries:
                if not entry.done:
                    self._settle(entry, RuntimeError("Storing was interrupted."))

    def _obstacle(self, entry: Entry) -> BaseException | None:
        """Why an entry can't be stored any more: a checkpoint before it is missing, or the writes that led to it."""
        return self._lost_checkpoint or (self._lost_writes if entry.checkpoint else None)

    def _settle(self, entry: Entry, error: BaseException | None) -> None:
        entry.error, entry.done = error, True
        if error is not None and entry.checkpoint:
            self._lost_checkpoint = error
        elif error is not None:
            self._lost_writes = error


class BlockingJournal(_Journal):
    """For a loop whose saver blocks. `together` is a block in which things become durable at once."""

    def __init__(self, together: Callable[[], AbstractContextManager[Any]] | None) -> None:
        super().__init__(grouping=together is not None)
        self._together = together
        self._turn = threading.Lock()

    def settle(self, entry: Entry) -> None:
        """Return when an entry is durable; raise what kept it from being so."""
        with self._turn:
            if not entry.done:
                self._store()
        if entry.error is not None:
            raise entry.error

    def _store(self) -> None:
        with closing(self._storing()) as storing:
            group = next(storing, None)
            while group is not None:
                failure: Exception | None = None
                try:
                    with self._block(group):
                        for entry in group:
                            entry.store()
                except Exception as error:
                    failure = error
                try:
                    group = storing.send(failure)
                except StopIteration:
                    return

    def _block(self, group: Sequence[Entry]) -> AbstractContextManager[Any]:
        return self._together() if self._together and len(group) > 1 else nullcontext()


class AwaitedJournal(_Journal):
    """For a loop whose saver is asynchronous."""

    def __init__(self, together: Callable[[], AbstractAsyncContextManager[Any]] | None) -> None:
        super().__init__(grouping=together is not None)
        self._together = together
        self._turn = asyncio.Lock()

    async def settle(self, entry: Entry) -> None:
        """Return when an entry is durable; raise what kept it from being so."""
        async with self._turn:
            if not entry.done:
                await self._store()
        if entry.error is not None:
            raise entry.error

    async def _store(self) -> None:
        with closing(self._storing()) as storing:
            group = next(storing, None)
            while group is not None:
                failure: Exception | None = None
                try:
                    async with self._block(group):
                        for entry in group:
                            await entry.store()
                except Exception as error:
                    failure = error
                try:
                    group = storing.send(failure)
                except StopIteration:
                    return

    def _block(self, group: Sequence[Entry]) -> AbstractAsyncContextManager[Any]:
        return self._together() if self._together and len(group) > 1 else nullcontext()
