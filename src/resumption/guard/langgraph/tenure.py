"""A tenure: one run's hold on one thread, from before it reads durable state until its last node has ended."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from resumption.errors import Fenced
from resumption.guard.claims.locks import Held
from resumption.guard.claims.records import Fence

__all__ = ["KEY", "Tenure", "acting", "tenure_of"]

KEY = "__pregel_resumption_tenure"
"""Where a run's config carries its tenure. LangGraph hands keys of this form to subgraphs and savers, but keeps them
out of metadata, traces and streams. A context variable would not do: LangGraph writes from threads that have none."""


class Tenure:
    """A held lease, the fence that its writes carry, and the nodes that run under it."""

    def __init__(self, thread: str, held: Held) -> None:
        self.thread = thread
        self.token = secrets.token_hex(16)
        self.fence: int | None = None
        """The fence of this tenure's grant; None until its first write has made one."""
        self.seen: Fence | None = held.seen
        """The last grant before this tenure's, read since the lease was taken; None for a lease that can't be lost."""
        self.attempted = False
        """Whether a grant was asked for, and may have been made without this executor's knowing."""
        self.answered: dict[tuple[str, str, str], int] = {}
        """How many answers a task's slot has, at most, where this tenure wrote it: nobody else does meanwhile. By
        namespace, checkpoint and task."""
        self._held = held
        self._process = os.getpid()
        self._guard = threading.Lock()
        self._attended = 0
        self._over = False

    @property
    def exclusive(self) -> bool:
        """Whether no other executor can believe that it has the thread."""
        return self._held.exclusive

    @property
    def expires(self) -> bool:
        """Whether a pause is enough to lose the thread to another executor."""
        return self._held.expires

    @property
    def grant(self) -> tuple[str, int | None, str]:
        """Thread, fence and token, by which a database tells whether this grant is the last one. Raises as `check`."""
        self.check()
        return self.thread, self.fence, self.token

    def check(self) -> None:
        """Raise `Fenced` in a forked child, which inherits the run but not the lease, and after the end."""
        if os.getpid() != self._process:
            raise Fenced(
                f"A forked child of the executor of thread {self.thread!r} tried to write to it.",
                advice="Let the process that runs the graph do so.",
            )
        if self._over and not self._attended:
            raise Fenced(
                f"The run on thread {self.thread!r} has ended, and its lease was given up.",
                advice="Don't write to a run after it ended.",
            )

    def must_hold(self) -> None:
        """Raise `Fenced` unless the lease is still held. Unlike `check` this asks whoever could have freed it."""
        self.check()
        if not self._held.holds():
            raise Fenced(
                f"This executor can't show that it still has the lease of thread {self.thread!r}.",
                advice="What was next was not begun. Whoever has the thread goes on; if nobody has, recover it.",
            )

    @contextmanager
    def attended(self) -> Generator[None]:
        """Keep the lease while the block runs, even if the run is cancelled meanwhile."""
        with self._guard:
            self._attended += 1
        try:
            yield
        finally:
            with self._guard:
                self._attended -= 1
                last = self._over and not self._attended
            if last:
                self._release()

    def end(self) -> None:
        """The run is over: give the lease up, at once or when the last node has ended."""
        with self._guard:
            self._over = True
            last = not self._attended
        if last:
            self._release()

    def _release(self) -> None:
        # A forked child gave its copy of the lock back when it was forked.
        if os.getpid() == self._process:
            self._held.release()


_acting: ContextVar[Tenure | None] = ContextVar("resumption_tenure", default=None)


@contextmanager
def acting(tenure: Tenure) -> Generator[None]:
    """Make the writes of the block, in this thread or task, part of a tenure whose config doesn't carry it."""
    token = _acting.set(tenure)
    try:
        yield
    finally:
        _acting.reset(token)


def tenure_of(config: Mapping[str, Any] | None) -> Tenure | None:
    """The tenure on the thread that a config names, if the code that runs is part of one."""
    configurable = (config or {}).get("configurable") or {}
    thread = configurable.get("thread_id")
    for tenure in (configurable.get(KEY), _acting.get()):
        if isinstance(tenure, Tenure) and tenure.thread == str(thread):
            return tenure
    return None
