"""The locks of a SQLite database: the kernel's where they end with their holder, leases elsewhere."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from resumption.guard import telemetry
from resumption.guard.claims.expiring import ExpiringLocks
from resumption.guard.claims.leases import LEASE_SECONDS
from resumption.guard.claims.locks import FileLocks, Locks
from resumption.guard.claims.tables import LeaseFile
from resumption.guard.liveness import is_local

__all__ = ["locks_beside"]

_by_path: dict[Path, ExpiringLocks] = {}
_by_path_guard = threading.Lock()


def locks_beside(database: str) -> Locks:
    """The locks of the database in this file. Raises `LeaseImpossible` if none of either kind can be had.

    Where one executor has to lease, all must: the file of leases, once it is there, is used by all.
    """
    leases = Path(f"{database}-resumption-leases")
    if sys.platform != "linux":
        reason = "this system has no locks that end with their holder, however it ends"
    elif not is_local(leases):
        reason = "it isn't on a file system whose locks are known to end with their holder"
    elif leases.exists():
        reason = "others of its executors have to, and it has a file of leases"
    else:
        return FileLocks(Path(f"{database}-resumption-locks"))
    with _by_path_guard:
        if leases not in _by_path:
            _by_path[leases] = ExpiringLocks(LeaseFile(leases))
            telemetry.leasing(database, reason, LEASE_SECONDS)
        return _by_path[leases]
