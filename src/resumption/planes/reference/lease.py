"""Who executes a thread: a lock that the operating system frees at its holder's death, and a fence beside it.

The lock is an open write transaction on a SQLite file of its own, so it excludes threads and processes alike on every
system that SQLite runs on, and waiting for it needs no polling here. Holding the lock proves that a holder on record is
dead; the fence goes into the log, where each write is checked against it.
"""

from __future__ import annotations

import hashlib
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from resumption.decide.lease import Lease, fence_after, holds, lease
from resumption.planes.interface import Instruments
from resumption.planes.reference.log import Log, Thread
from resumption.planes.reference.refusals import Refused, RunRefusal

__all__ = ["leased", "lock_file"]


def lock_file(location: Path, thread: str) -> Path:
    """The file that the executor of a thread locks. Whoever deletes it lets others lock another one of its name."""
    return location / f"{hashlib.sha256(thread.encode()).hexdigest()[:16]}.lease"


@contextmanager
def leased(
    log: Log, location: Path, instruments: Instruments, *, patience: float, excludes: bool = True
) -> Iterator[int | None]:
    """Hold the lease of the log's thread and yield its fence, or None if it was busy for `patience` seconds.

    Where it doesn't exclude others, the holder on record is taken for dead, whether it is or not: what a fault does.
    """
    lock = sqlite3.connect(lock_file(location, log.thread), isolation_level=None, timeout=patience)
    try:
        if excludes and not _locked(lock):
            yield None
            return
        holder = uuid.uuid4().hex
        fence = _granted(log, holder, instruments)
        try:
            yield fence
        finally:
            _release(log, holder, fence, instruments)
    finally:
        lock.close()


def _locked(lock: sqlite3.Connection) -> bool:
    try:
        lock.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            raise
        return False
    return True


def _granted(log: Log, holder: str, instruments: Instruments) -> int:
    with log.deciding():
        head = _started(log)
        outcome = lease(
            holder=head.holder, fence=head.fence, expires=None, dead=True, caller=holder, held_fence=None, now=0
        )
        if not holds(outcome):
            raise Refused(RunRefusal.BUSY)
        fence = fence_after(outcome, fence=head.fence)
        with instruments.persist("lease"):
            log.grant(holder, fence)
            log.commit()
    return fence


def _release(log: Log, holder: str, fence: int, instruments: Instruments) -> None:
    with log.deciding():
        head = _started(log)
        outcome = lease(
            holder=head.holder, fence=head.fence, expires=None, dead=False, caller=holder, held_fence=fence, now=0
        )
        if outcome is Lease.KEPT:
            with instruments.persist("release"):
                log.grant(None, fence)
                log.commit()


def _started(log: Log) -> Thread:
    head = log.head()
    if head is None:
        raise Refused(RunRefusal.NOT_STARTED)
    return head
