"""Telling apart why the guard's own statements fail: other tables than it made, no room, or no right to write."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager

from resumption.errors import LedgerUnavailable, SchemaMismatch

__all__ = ["own_tables"]

_UNDEFINED_TABLE = "42P01"
_UNDEFINED_COLUMN = "42703"

_UNWRITABLE = frozenset(("53100", "25006"))
"""PostgreSQL's states for a full disk, and for a server or a user that may only read."""
_UNWRITABLE_FILE = frozenset(
    (sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)
)
"""SQLite's codes for the same. A limit on the size of files, or a quota, is an error of input and output to it."""

_COLUMN = re.compile(r'(?:no such column: |no column named |column )"?(?:\w+\.)?(\w+)')
"""How the two drivers name a column that isn't there."""

_LANGGRAPHS = frozenset(
    ("thread_id", "checkpoint_ns", "checkpoint_id", "task_id", "idx", "channel", "type", "value", "blob")
)
"""The columns of a saver's tables that the guard's statements name. Without one of these it is the saver that is at
odds with its database, whose own error says so."""


@contextmanager
def own_tables() -> Generator[None]:
    """What statements of the guard's in this block fail on, as an error of its own with the driver's as its cause.

    Raises `SchemaMismatch` for tables which the guard didn't make so, and `LedgerUnavailable` for a disk that is full
    or can't be written. Whatever else fails is left as it is.
    """
    try:
        yield
    except Exception as error:
        if _unwritable(error):
            raise LedgerUnavailable(
                f"The guard can't write to its tables: {str(error).strip().rstrip('.')}.",
                advice="Nothing was recorded, and no decision is used up. Make room, or the database writable, and call"
                " again.",
            ) from error
        if not _concerns_tables(error):
            raise
        raise SchemaMismatch(
            f"The guard's tables, whose names begin with resumption_, were altered or aren't its own: {error}",
            advice="Nothing ran. Restore them from a backup; or, while no executor runs, drop all of them: they are"
            " made anew, and know of no earlier decision.",
        ) from error


def _unwritable(error: Exception) -> bool:
    if isinstance(error, sqlite3.Error):
        return (getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF) in _UNWRITABLE_FILE
    return getattr(error, "sqlstate", None) in _UNWRITABLE


def _concerns_tables(error: Exception) -> bool:
    """By what the two drivers say; neither has to be installed."""
    state, text = getattr(error, "sqlstate", None), str(error)
    if state == _UNDEFINED_COLUMN or "no such column" in text or "has no column named" in text:
        column = _COLUMN.search(text)
        return "resumption_" in text or (column is not None and column[1] not in _LANGGRAPHS)
    return "resumption_" in text and (state == _UNDEFINED_TABLE or "no such table" in text)
