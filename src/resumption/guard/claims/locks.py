"""The lease of a thread on one host: a lock that the kernel frees when its holder is gone, however it went.

All threads of one database share a lock file beside it; each has one byte of it, at the hash of its name. The lock is
an *open file description* lock: it excludes other openings of the file in the same process too, so that two threads of
one process compete as two processes do. The database file itself is never opened here: closing it would drop SQLite's
own locks on it.

Whoever deletes the file lets others lock another one of its name, so a holder asks whether it is still there (`holds`).

A forked child inherits the description and would keep the lock alive after its parent's death, so it closes what it
inherited before it does anything else.
"""

from __future__ import annotations

import hashlib
import os
import threading
import weakref
from collections.abc import Hashable
from pathlib import Path
from typing import Protocol

from resumption.errors import LeaseImpossible
from resumption.guard.claims.records import Fence
from resumption.guard.liveness import try_lock

__all__ = ["FileLocks", "Held", "Locks", "ProcessLocks", "offset"]


class Held(Protocol):
    """A lock that is held."""

    exclusive: bool
    """Whether nobody else has this lock as long as it `holds`, so that this is all to ask before the first write. One
    that a server can free may be somebody else's by the time that its holder writes."""
    expires: bool
    """Whether it is lost by a pause alone. Then it may have been taken from one that pauses, and goes on to write."""
    seen: Fence | None
    """The thread's last grant, if it was read while this lock was certainly held."""

    def holds(self) -> bool:
        """Whether it is still held. Asks whoever could have freed it."""

    def release(self) -> None:
        """Give it up. Harmless if it was given up before."""


class Locks(Protocol):
    """The locks of the threads in one database."""

    def attempt(self, thread: str) -> Held | None:
        """Take the lock of a thread, without waiting; None if somebody else has it."""


class FileLocks:
    """Locks in a file beside an embedded database: for the threads and processes of one host."""

    def __init__(self, path: Path) -> None:
        """`path` is the lock file; it is made when the first lock is taken, and never removed."""
        self._path = path

    def attempt(self, thread: str) -> Held | None:
        """Take the lock of a thread, without waiting; None if another opening of the file has it.

        Raises `LeaseImpossible` if there is no file of locks and none can be made.
        """
        while True:
            # Not group-writable by accident, but shareable by whoever may share the database: the umask decides.
            try:
                descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            except OSError as error:
                raise LeaseImpossible(
                    f"The file of locks can't be opened: {error}.",
                    advice="Nothing ran. Let this program write to the database's folder, and make room there.",
                ) from error
            held = _Descriptor(descriptor, self._path)
            taken = try_lock(descriptor, offset(thread))
            if taken and held.holds():
                return held
            held.release()
            if not taken:
                return None
            # The file was deleted before it was locked: there is another one, or none.


class _Descriptor:
    """An open file description. Closing it frees what it has locked."""

    exclusive = True
    expires = False
    seen: Fence | None = None

    def __init__(self, descriptor: int, path: Path) -> None:
        self._descriptor: int | None = descriptor
        self._path = path
        self._guard = threading.Lock()
        _open.add(self)

    def holds(self) -> bool:
        """Whether it wasn't closed, and the file of that name is still the one that it has locked."""
        with self._guard:
            if self._descriptor is None:
                return False
            try:
                return os.path.samestat(os.fstat(self._descriptor), os.stat(self._path))
            except OSError:
                return False

    def release(self) -> None:
        """Close, once."""
        with self._guard:
            descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def forget(self) -> None:
        """In a forked child, where another thread of the parent may have held the guard."""
        self._guard = threading.Lock()
        self.release()


_open: weakref.WeakSet[_Descriptor] = weakref.WeakSet()


def _forget_all() -> None:
    for held in list(_open):
        held.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


class ProcessLocks:
    """Locks for storage that lives in this process's memory, and dies with it."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._held: set[Hashable] = set()

    def attempt(self, thread: str) -> Held | None:
        """Take the lock of a thread, without waiting; None if it is taken."""
        with self._guard:
            if thread in self._held:
                return None
            self._held.add(thread)
        return _Entry(self, thread)

    def free(self, thread: str) -> None:
        """Free the lock of a thread."""
        with self._guard:
            self._held.discard(thread)


class _Entry:
    """One entry of `ProcessLocks`."""

    exclusive = True
    expires = False
    seen: Fence | None = None

    def __init__(self, locks: ProcessLocks, thread: str) -> None:
        self._locks = locks
        self._thread: str | None = thread

    def holds(self) -> bool:
        """Whether it wasn't freed."""
        return self._thread is not None

    def release(self) -> None:
        """Free, once."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._locks.free(thread)


def offset(thread: str) -> int:
    """A thread's byte: 62 bits, so that two threads share one in no practical case (they would merely take turns)."""
    return int.from_bytes(hashlib.blake2b(thread.encode(), digest_size=8).digest(), "big") >> 2
