"""The order in which a framework asks for storage operations, whatever order its threads begin them in.

A framework that stores in the background submits one operation after the other, and threads overtake each other on
the way to the store. A kill point or a frozen prefix that counted beginnings would name another moment in every run.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["Order", "submitting"]


class Order:
    """Numbers the storage operations of one process from 1, in the order in which they are asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def follow(self) -> None:
        """Number what this context submits, and every thread and task that inherits it."""
        _followed.set(self)

    def take(self) -> int:
        """Take the next place."""
        with self._lock:
            self._last += 1
            return self._last

    def begin(self) -> int:
        """The place of the operation that begins now: that of its submission, or the next one if nobody saw that."""
        places = _reserved.get(None)
        return places.pop() if places else self.take()


_followed: ContextVar[Order] = ContextVar("followed")
_reserved: ContextVar[list[int]] = ContextVar("reserved")
"""The place that was reserved for what runs in this context, until its first storage operation takes it."""


@contextmanager
def submitting() -> Iterator[None]:
    """Reserve a place for the storage operation that is submitted in the block, to run in a copy of its context."""
    order = _followed.get(None)
    token = _reserved.set([order.take()] if order else [])
    try:
        yield
    finally:
        _reserved.reset(token)
