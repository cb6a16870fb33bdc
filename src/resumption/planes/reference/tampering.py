"""What is done to a store from outside: what no run ever does, and what a run must notice."""

from __future__ import annotations

from resumption.planes.interface import Store
from resumption.planes.reference.lease import lock_file
from resumption.planes.reference.log import WRITES, open_log

__all__ = ["lose_leases", "tamper"]


def lose_leases(store: Store) -> int:
    """Delete the file that the executor locks, as one does who tidies up: its lock is then on a file without a name."""
    locked = lock_file(store.location, store.thread)
    found = locked.exists()
    locked.unlink(missing_ok=True)
    return int(found)


def tamper(store: Store) -> None:
    """Make the write of the task that was recorded last a number. Raises `LookupError` if no task was recorded."""
    with open_log(store.location, store.thread) as log:
        for kind in WRITES:
            rows = log.connection.execute(
                "SELECT rowid FROM journal WHERE thread = ? AND kind = ?", (store.thread, kind)
            ).fetchall()
            if rows:
                log.connection.execute("UPDATE journal SET value = '7' WHERE rowid = ?", max(rows))
        if not log.connection.total_changes:
            raise LookupError("the log has no task's record that could be altered")
