"""What the tasks of one superstep make of a channel together: known when the last of them has finished.

Each task's own result is checked by itself (`validity`), and stored. Together two of them may still break the schema: a
list that grows too long, a sum that grows too large. Whoever finishes last learns of it before its own result is
stored; the results of the others are kept.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from langgraph.channels.base import BaseChannel
from langgraph.errors import EmptyChannelError, InvalidUpdateError
from langgraph.pregel._algo import PregelTaskWrites, apply_writes
from langgraph.types import PregelExecutableTask

__all__ = ["Together", "superstep", "working"]

Writes = Iterable[tuple[str, Any]]


class Together:
    """The tasks of one superstep, and what those have written that have finished. Safe to use from their threads."""

    def __init__(self, channels: Mapping[str, BaseChannel[Any, Any, Any]], tasks: Iterable[PregelExecutableTask]):
        """`channels` are as the tasks found them. A task that has writes has finished before, in a run that ended."""
        self._channels = channels
        self._guard = threading.Lock()
        every = list(tasks)
        self._paths = {task.id: task.path for task in every}
        self._finished = {task.id: tuple(task.writes) for task in every if task.writes}

    @contextmanager
    def finishing(self, task: str, writes: Writes) -> Iterator[dict[str, Any]]:
        """Finish a task with these writes, unless the block raises; others wait for its end.

        Yields what the channels hold that it and others wrote, if it is the last to finish; nothing if it isn't. An
        exception stands for a value that the program's reducer didn't come to.
        """
        with self._guard:
            finished = {**self._finished, task: tuple(writes)}
            yield dict(self._shared(task, finished)) if finished.keys() == self._paths.keys() else {}
            self._finished = finished

    def _shared(self, task: str, finished: Mapping[str, Writes]) -> Iterator[tuple[str, Any]]:
        mine = {channel for channel, _ in finished[task]} & self._channels.keys()
        others = {channel for other in finished.keys() - {task} for channel, _ in finished[other]}
        for name in mine & others:
            channel = self._channels[name].copy()
            try:
                self._apply(name, channel, finished)
                yield name, channel.get()
            except (EmptyChannelError, InvalidUpdateError):
                continue  # nothing to check, or what LangGraph itself refuses: a channel that takes one write
            except Exception as error:  # the program's reducer
                yield name, error

    def _apply(self, name: str, channel: BaseChannel[Any, Any, Any], finished: Mapping[str, Writes]) -> None:
        """Update one channel as LangGraph does at the superstep's end, which knows the order."""
        parts = [
            PregelTaskWrites(self._paths[task], "", [write for write in writes if write[0] == name], ())
            for task, writes in finished.items()
        ]
        blank: Any = {"versions_seen": {}, "channel_versions": {}}
        apply_writes(blank, {name: channel}, parts, None, {})


_superstep: ContextVar[tuple[Together, str] | None] = ContextVar("resumption_superstep", default=None)


def superstep() -> tuple[Together, str] | None:
    """The superstep that the running code is part of, and its task; None where it has no others."""
    return _superstep.get()


@contextmanager
def working(together: Together | None, task: str) -> Iterator[None]:
    """Make the code of the block a task's."""
    token = _superstep.set((together, task) if together is not None else None)
    try:
        yield
    finally:
        _superstep.reset(token)
