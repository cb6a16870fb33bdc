"""The loop layer: in which order writes become durable, and who is told that a task runs.

LangGraph saves in the background. Its own loop lets a checkpoint become durable before the writes that made it, and
starts a functional program's next task before the last one's result is durable: after a crash between the two, finished
work runs again. Only the loop knows which write belongs to which task, so the order is kept here.

The loops replace LangGraph's own by name, once, when the first graph is guarded. For a run without a tenure they are
LangGraph's own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from langgraph.pregel import main
from langgraph.pregel._loop import AsyncPregelLoop, PregelLoop, SyncPregelLoop
from langgraph.types import PregelExecutableTask

from resumption.errors import KeyUnusable
from resumption.guard.langgraph.joint import Together
from resumption.guard.langgraph.journal import AwaitedJournal, BlockingJournal
from resumption.guard.langgraph.nodes import attended
from resumption.guard.langgraph.savers.base import AwaitedSaver, BlockingSaver
from resumption.guard.langgraph.tenure import Tenure, tenure_of

__all__ = ["install"]


def install() -> None:
    """Make LangGraph run the loops of this module."""
    if vars(main)["SyncPregelLoop"] is SyncPregelLoop:
        vars(main).update(SyncPregelLoop=GuardedSyncLoop, AsyncPregelLoop=GuardedAsyncLoop)


class _Ordering(PregelLoop):
    """What both loops do for a run that has a tenure."""

    _put: str
    """The saver's method that stores a checkpoint, in this kind of loop."""
    _names_first = False
    """Whether tasks wait for their checkpoint before they start, because their effects couldn't wait for it."""
    _threaded = False
    """Whether tasks' functions run in threads of their own."""
    tenure: Tenure | None
    """The tenure that the run is part of."""
    _saving: Callable[..., Any]
    _journal: Any

    @property
    def submit(self) -> Callable[..., Any]:
        """How the loop starts background work: here, by way of the journal if it is to store something."""
        return self._saving if self.tenure is None else self._submit_in_order

    @submit.setter
    def submit(self, function: Callable[..., Any]) -> None:
        self._saving = function
        self.tenure = tenure_of(self.config)
        self._unsettled: list[Any] = []
        self._checkpoint_saved: Any = None  # the future of the last checkpoint, if there was one in this run
        self._journal = None

    def _submit_in_order(self, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        if function == self.checkpointer_put_writes:
            store, checkpoint = partial(function, *args), False
        elif function == self._checkpointer_put_after_previous:
            # What the checkpoint must wait for, LangGraph's first arguments, is ahead of it in the journal.
            store, checkpoint = partial(getattr(self.checkpointer, self._put), *args[-4:]), True
        else:
            return self._saving(function, *args, **options)
        if self._journal is None:
            self._journal = self._open_journal()
        entry = self._journal.enter(store, checkpoint=checkpoint)
        future = self._saving(self._journal.settle, entry, **options)
        if checkpoint:
            self._checkpoint_saved = future
        else:
            self._unsettled = [one for one in self._unsettled if not one.done()] + [future]
        return future

    def _open_journal(self) -> Any:
        raise NotImplementedError

    def tick(self) -> bool:
        """Prepare the next superstep; its tasks are attended."""
        more = super().tick()
        tenure = self.tenure
        if more and tenure is not None:
            after, settle = self._start_after(), self._settling()
            together = Together(self.channels, self.tasks.values()) if len(self.tasks) > 1 else None
            for identity, task in self.tasks.items():
                self.tasks[identity] = attended(task, tenure, after, settle, together, threaded=self._threaded)
        return more

    def _start_after(self) -> Any:
        """What a superstep's tasks wait for: the input is durable before anything acts on it, the rest if so asked."""
        first, self._ticked = not getattr(self, "_ticked", False), True
        at_once = self.durability == "exit" or (self.durability == "async" and not first and not self._names_first)
        return None if at_once else self._checkpoint_saved

    def _settling(self) -> Callable[[], None]:
        """What an effect waits for that is named after a task: a task's id is made of its checkpoint's.

        A checkpoint that is lost in a crash is made anew with another id, and so are its tasks.
        """
        if self.durability == "exit":
            stored = self.checkpoint["id"] == self.checkpoint_id_saved
            return _nothing if stored else _never
        saved = self._checkpoint_saved
        return _nothing if saved is None or self._names_first else lambda: saved.result()

    def _attend(self, pushed: PregelExecutableTask | None) -> PregelExecutableTask | None:
        tenure = self.tenure
        if pushed is None or tenure is None:
            return pushed
        task = attended(pushed, tenure, None, threaded=self._threaded)
        self.tasks[task.id] = task
        return task


def _nothing() -> None:
    """What there is to wait for where a name is durable already."""


def _never() -> None:
    raise KeyUnusable(
        'Under durability="exit" no task has a name that outlives a crash.',
        advice='Give the effect a key that names it in the world, or run with durability "sync" or "async".',
    )


class GuardedSyncLoop(_Ordering, SyncPregelLoop):
    """LangGraph's synchronous loop, in order."""

    _put = "put"

    def _open_journal(self) -> BlockingJournal:
        saver = self.checkpointer
        if isinstance(saver, BlockingSaver) and saver.guard_groups:
            return BlockingJournal(partial(saver.together, self.tenure))
        return BlockingJournal(None)

    def accept_push(self, task: PregelExecutableTask, write_idx: int, call: Any = None) -> PregelExecutableTask | None:
        """Accept a task that a running one calls, when what was written before it is durable."""
        if self.tenure is not None:
            for future in list(self._unsettled):
                future.result()
        return self._attend(super().accept_push(task, write_idx, call))


class GuardedAsyncLoop(_Ordering, AsyncPregelLoop):
    """LangGraph's asynchronous loop, in order."""

    _put = "aput"
    _threaded = True
    _names_first = True  # an effect that is called on the event loop can't wait there for what the loop is to do

    def _open_journal(self) -> AwaitedJournal:
        saver = self.checkpointer
        if isinstance(saver, AwaitedSaver) and saver.guard_groups:
            return AwaitedJournal(partial(saver.together, self.tenure))
        return AwaitedJournal(None)

    async def aaccept_push(
        self, task: PregelExecutableTask, write_idx: int, call: Any = None
    ) -> PregelExecutableTask | None:
        """Accept a task that a running one calls, when what was written before it is durable."""
        if self.tenure is not None:
            await asyncio.gather(*list(self._unsettled))
        return self._attend(await super().aaccept_push(task, write_idx, call))
