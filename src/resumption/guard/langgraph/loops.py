"""The loop layer: in which order writes become durable, and who is told that a task runs.

LangGraph saves in the background. Its own loop lets a checkpoint become durable before the writes that made it, and
starts a functional program's next task before the last one's result is durable: after a crash between the two, finished
work runs again. Only the loop knows which write belongs to which task, so the order is kept here.

The loops replace LangGraph's own by name, once, when the first graph is guarded. For a run without a tenure they are
LangGraph's own.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable
from typing import Any

from langgraph.pregel import main
from langgraph.pregel._loop import AsyncPregelLoop, PregelLoop, SyncPregelLoop
from langgraph.types import PregelExecutableTask

from resumption.guard.langgraph.nodes import attended
from resumption.guard.langgraph.tenure import Tenure, tenure_of

__all__ = ["install"]


def install() -> None:
    """Make LangGraph run the loops of this module."""
    if vars(main)["SyncPregelLoop"] is SyncPregelLoop:
        vars(main).update(SyncPregelLoop=GuardedSyncLoop, AsyncPregelLoop=GuardedAsyncLoop)


class _Ordering(PregelLoop):
    """What both loops do for a run that has a tenure."""

    _saving: Callable[..., Any]
    _following: Callable[..., Any]

    @property
    def submit(self) -> Callable[..., Any]:
        """How the loop starts background work: here, remembering what stores a task's writes."""
        return self._saving if self.tenure is None else self._submit_remembering

    @submit.setter
    def submit(self, function: Callable[..., Any]) -> None:
        self._saving = function
        self._unsettled: list[Any] = []

    @property
    def tenure(self) -> Tenure | None:
        """The tenure that the run is part of."""
        return tenure_of(self.config)

    def _submit_remembering(self, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        if function != self.checkpointer_put_writes:
            return self._saving(function, *args, **options)
        # A task's writes belong to a checkpoint, and are lost to whoever reads if that isn't there.
        future = self._saving(self._following, self.checkpoint_saved, function, *args, **options)
        self._unsettled = [one for one in self._unsettled if not one.done()] + [future]
        if self._delta_write_futs is not None:
            self._delta_write_futs.append(future)  # the next checkpoint waits for these
        return future

    def tick(self) -> bool:
        """Prepare the next superstep; its tasks are attended."""
        more = super().tick()
        tenure = self.tenure
        if more and tenure is not None:
            for identity, task in self.tasks.items():
                self.tasks[identity] = attended(task, tenure, self._start_after())
        return more

    @property
    def checkpoint_saved(self) -> Any:
        """The future of the last checkpoint; None if there was none in this run."""
        return getattr(self, "_put_checkpoint_fut", None)

    def _start_after(self) -> Any:
        """What a superstep's tasks wait for: the input is durable before anything acts on it, the rest if so asked."""
        first, self._ticked = not getattr(self, "_ticked", False), True
        return self.checkpoint_saved if self.durability == "sync" or (first and self.durability != "exit") else None

    def _attend(self, pushed: PregelExecutableTask | None) -> PregelExecutableTask | None:
        tenure = self.tenure
        if pushed is None or tenure is None:
            return pushed
        task = attended(pushed, tenure, None)
        self.tasks[task.id] = task
        return task


class GuardedSyncLoop(_Ordering, SyncPregelLoop):
    """LangGraph's synchronous loop, in order."""

    @staticmethod
    def _following(before: concurrent.futures.Future[Any] | None, function: Callable[..., Any], *args: Any) -> Any:
        if before is not None:
            before.result()
        return function(*args)

    def accept_push(self, task: PregelExecutableTask, write_idx: int, call: Any = None) -> PregelExecutableTask | None:
        """Accept a task that a running one calls, when what was written before it is durable."""
        if self.tenure is not None:
            for future in list(self._unsettled):
                future.result()
        return self._attend(super().accept_push(task, write_idx, call))

    def _checkpointer_put_after_previous(self, prev: concurrent.futures.Future[Any] | None, *rest: Any) -> Any:
        # A checkpoint whose parent couldn't be saved is not saved either, or its history would end nowhere.
        if prev is not None and self.tenure is not None:
            prev.result()
        return super()._checkpointer_put_after_previous(prev, *rest)


class GuardedAsyncLoop(_Ordering, AsyncPregelLoop):
    """LangGraph's asynchronous loop, in order."""

    @staticmethod
    async def _following(before: asyncio.Future[Any] | None, function: Callable[..., Any], *args: Any) -> Any:
        if before is not None:
            await before
        return await function(*args)

    async def aaccept_push(
        self, task: PregelExecutableTask, write_idx: int, call: Any = None
    ) -> PregelExecutableTask | None:
        """Accept a task that a running one calls, when what was written before it is durable."""
        if self.tenure is not None:
            await asyncio.gather(*list(self._unsettled))
        return self._attend(await super().aaccept_push(task, write_idx, call))

    async def _checkpointer_put_after_previous(  # type: ignore[override]  # as LangGraph's own overrides it
        self, prev: asyncio.Task[Any] | None, *rest: Any
    ) -> Any:
        if prev is not None and self.tenure is not None:
            await prev
        return await super()._checkpointer_put_after_previous(prev, *rest)
