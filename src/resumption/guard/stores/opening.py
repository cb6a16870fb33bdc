"""Stores by their addresses, and what becomes of them when the process forks."""

from __future__ import annotations

import os
from pathlib import Path

from resumption.errors import LedgerUnavailable
from resumption.guard.forks import watch
from resumption.guard.stores.session import Store

__all__ = ["open_store"]


def open_store(url: str, timeout: float) -> Store:
    """The store at an address: `sqlite:///effects.db` or `postgresql://user@host/database`. Connects to nothing yet.

    `timeout` is how many seconds it goes on trying. A forked child gets connections and proofs of its own. Raises
    `LedgerUnavailable` if the address names no durable store, or if its driver isn't installed.
    """
    store = _store_for(url, timeout)
    watch(store)
    return store


def _store_for(url: str, timeout: float) -> Store:
    if url.startswith("sqlite:///") and ":memory:" not in url and len(url) > len("sqlite:///"):
        from resumption.guard.stores.sqlite import SQLiteStore

        return SQLiteStore(Path(os.path.abspath(url.removeprefix("sqlite:///"))), timeout)
    if url.startswith(("postgresql://", "postgres://")):
        try:
            from resumption.guard.stores.postgres import PostgresStore
        except ImportError as error:
            raise LedgerUnavailable(
                "The PostgreSQL driver is not installed.", advice="Install '.[postgres]'."
            ) from error
        return PostgresStore(url, timeout)
    raise LedgerUnavailable(
        "The store's address names no durable store.",
        advice='Write "sqlite:///effects.db" for a file in this folder, "sqlite:////var/effects.db" for one anywhere, '
        'or "postgresql://…".',
    )
