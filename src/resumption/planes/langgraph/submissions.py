"""LangGraph's executors, watched: each storage operation gets its place when the loop submits it.

The synchronous loop stores from a pool of threads, where one operation overtakes another; the asynchronous one from
tasks. `submit` copies the context in both, so that a place reserved around it reaches the saver.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.pregel._executor import AsyncBackgroundExecutor, BackgroundExecutor
from langgraph.pregel._loop import PregelLoop

from resumption.planes.submission import submitting

__all__ = ["watch"]


def watch() -> None:
    """Number the storage operations that LangGraph submits in this process. Once is enough."""
    for executor in (BackgroundExecutor, AsyncBackgroundExecutor):
        if not hasattr(executor.submit, "__wrapped__"):
            executor.submit = _watched(executor.submit)  # type: ignore[method-assign]  # a seam that has no hook


def _watched(submit: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(submit)
    def submit_in_place(self: Any, fn: Callable[..., Any], *args: Any, **options: Any) -> Any:
        if not isinstance(getattr(fn, "__self__", None), BaseCheckpointSaver | PregelLoop):
            return submit(self, fn, *args, **options)  # a task, not a storage operation
        with submitting():
            return submit(self, fn, *args, **options)

    return submit_in_place
