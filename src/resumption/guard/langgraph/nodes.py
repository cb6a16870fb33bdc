"""The node layer: a task's code runs under its run's tenure, and names the effects in it."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import contextmanager
from functools import partial, wraps
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig, run_in_executor
from langgraph._internal._runnable import RunnableCallable, RunnableSeq
from langgraph.types import PregelExecutableTask

from resumption.guard.langgraph.joint import Together, working
from resumption.guard.langgraph.tenure import Tenure
from resumption.guard.scope import task_scope

__all__ = ["attended"]


def attended(
    task: PregelExecutableTask,
    tenure: Tenure,
    after: Any,
    settle: Callable[[], None] = lambda: None,
    together: Together | None = None,
    *,
    threaded: bool = True,
) -> PregelExecutableTask:
    """The same task, whose code keeps the lease until it ends and knows which task its effects belong to.

    It starts when `after` is done, a future of the task's own kind of loop; None for one that needn't wait. `settle`
    is what an effect waits for that is named after the task, as for `task_scope`; `together` the superstep that it is
    part of with others. `threaded` is whether an event loop runs the code, and functions of it in threads.
    """
    if isinstance(task.proc, _Attended):
        return task
    code = _threads_attended(task.proc, tenure) if threaded else task.proc
    return dataclasses.replace(task, proc=_Attended(code, tenure, task.id, after, settle, together))


class _Attended(Runnable[Any, Any]):
    """A task's code, in its scope."""

    def __init__(
        self,
        code: Runnable[Any, Any],
        tenure: Tenure,
        task: str,
        after: Any,
        settle: Callable[[], None],
        together: Together | None,
    ) -> None:
        self._code = code
        self._tenure = tenure
        self._task = task
        self._after = after
        self._settle = settle
        self._together = together

    def invoke(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Any:
        """Run the code."""
        if self._after is not None:
            self._after.result()
        with self._scope():
            return self._code.invoke(input, config, **options)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Any:
        """Run the code, on the event loop."""
        if self._after is not None:
            await self._after
        with self._scope():
            return await self._code.ainvoke(input, config, **options)

    async def astream(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> AsyncIterator[Any]:
        """Run the code, on the event loop, and pass on what it yields."""
        if self._after is not None:
            await self._after
        with self._scope():
            async for chunk in self._code.astream(input, config, **options):
                yield chunk

    @contextmanager
    def _scope(self) -> Generator[None]:
        # A task has the same id when it runs again after a crash, and another one on another branch.
        tenure = self._tenure
        named = task_scope(
            run=tenure.thread, branch="", task=self._task, must_hold=tenure.must_hold, settle=self._settle
        )
        with tenure.attended(), working(self._together, self._task), named:
            yield


def _threads_attended(code: Runnable[Any, Any], tenure: Tenure) -> Runnable[Any, Any]:
    """The same code, whose functions keep the lease in the threads that an event loop runs them in.

    A cancelled event loop stops waiting for such a thread, but the thread runs on.
    """
    if isinstance(code, RunnableSeq):
        changed = copy.copy(code)
        changed.steps = [_threads_attended(step, tenure) for step in code.steps]
        return changed
    if isinstance(code, RunnableCallable) and isinstance(code.afunc, partial) and code.afunc.func is run_in_executor:
        placed, function, *arguments = code.afunc.args
        threaded = copy.copy(code)
        threaded.afunc = partial(run_in_executor, placed, _attending(function, tenure), *arguments)
        return threaded
    return code


def _attending(function: Callable[..., Any], tenure: Tenure) -> Callable[..., Any]:
    @wraps(function)
    def inside(*args: Any, **kwargs: Any) -> Any:
        with tenure.attended():
            return function(*args, **kwargs)

    return inside
