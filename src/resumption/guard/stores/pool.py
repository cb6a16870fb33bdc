"""A bounded pool of connections that survives a fork of the process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar

__all__ = ["Pool"]


class Closable(Protocol):
    """A connection, as far as the pool is concerned."""

    def close(self) -> None:
        """Close; an open transaction is rolled back."""


C = TypeVar("C", bound=Closable)

# Connections that a forked child has inherited. Closing one would disturb its owner: the PostgreSQL protocol's goodbye
# would end the parent's session. They are kept until the child exits.
_inherited: list[object] = []


class Pool(Generic[C]):
    """Lends connections, at most `size` at a time; a connection that met an exception is closed, not reused."""

    def __init__(self, connect: Callable[[], C], size: int) -> None:
        self._connect = connect
        self._size = size
        self._start()

    def _start(self) -> None:
        self._slots = threading.BoundedSemaphore(self._size)
        self._idle: list[C] = []

    @contextmanager
    def connection(self) -> Generator[C]:
        """Borrow a connection, opened if none is idle."""
        idle = self._idle
        with self._slots:
            try:
                connection = idle.pop()
            except IndexError:
                connection = self._connect()
            try:
                yield connection
            except BaseException:
                connection.close()
                raise
            idle.append(connection)

    def close(self) -> None:
        """Close the idle connections. The pool stays usable."""
        while self._idle:
            self._idle.pop().close()

    def pause(self) -> None:
        """Before a fork: wait for what is lent, close all, and lend nothing until `resume`."""
        slots = self._slots
        for _ in range(self._size):
            slots.acquire()
        self.close()

    def resume(self) -> None:
        """In the parent, after a fork: lend again."""
        for _ in range(self._size):
            self._slots.release()

    def forget(self) -> None:
        """In a forked child: leave the parent's connections alone and start anew."""
        _inherited.append(self._idle)
        self._start()
