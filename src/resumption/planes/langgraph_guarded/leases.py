"""Taking the guard's leases from executors that live, by what does that in earnest."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from resumption.planes.interface import Store
from resumption.planes.langgraph.apps import FILE

if TYPE_CHECKING or find_spec("psycopg"):  # a distribution that users of SQLite needn't have
    import psycopg

__all__ = ["lose_leases"]

_GIVE_UP = (
    "SELECT count(*) FROM (SELECT pg_terminate_backend(pid, 5000) AS ended FROM pg_locks"
    " WHERE locktype = 'advisory' AND granted AND pid <> pg_backend_pid()"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS sessions WHERE ended"
)
"""Ends the sessions that hold advisory locks in this database, and waits for each: milliseconds."""


def lose_leases(store: Store) -> int:
    """On PostgreSQL, have the server give up the sessions that have leases, as it does with those that it can't reach.

    On SQLite, delete the file that executors lock: the lock of one that lives is then on a file without a name.
    """
    if store.database:
        with psycopg.connect(store.database, autocommit=True) as administrator:
            (ended,) = administrator.execute(_GIVE_UP).fetchone() or (0,)
        return int(ended)
    locks = store.location / f"{FILE}-resumption-locks"
    found = locks.exists()
    locks.unlink(missing_ok=True)
    return int(found)
