"""Telling that the guard's tables aren't what it made from that the database is away: the advice differs."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager

from resumption.errors import SchemaMismatch

__all__ = ["own_tables"]

_UNDEFINED_TABLE = "42P01"
_UNDEFINED_COLUMN = "42703"

_COLUMN = re.compile(r'(?:no such column: |no column named |column )"?(?:\w+\.)?(\w+)')
"""How the two drivers name a column that isn't there."""

_LANGGRAPHS = frozenset(
    ("thread_id", "checkpoint_ns", "checkpoint_id", "task_id", "idx", "channel", "type", "value", "blob")
)
"""The columns of a saver's tables that the guard's statements name. Without one of these it is the saver that is at
odds with its database, whose own error says so."""


@contextmanager
def own_tables() -> Generator[None]:
    """Raise `SchemaMismatch` for statements in this block that fail on tables which the guard didn't make so."""
    try:
        yield
    except Exception as error:
        if not _concerns_tables(error):
            raise
        raise SchemaMismatch(
            f"The guard's tables, whose names begin with resumption_, were altered or aren't its own: {error}",
            advice="Nothing ran. Restore them from a backup; or, while no executor runs, drop all of them: they are"
            " made anew, and know of no earlier decision.",
        ) from error


def _concerns_tables(error: Exception) -> bool:
    """By what the two drivers say; neither has to be installed."""
    state, text = getattr(error, "sqlstate", None), str(error)
    if state == _UNDEFINED_COLUMN or "no such column" in text or "has no column named" in text:
        column = _COLUMN.search(text)
        return "resumption_" in text or (column is not None and column[1] not in _LANGGRAPHS)
    return "resumption_" in text and (state == _UNDEFINED_TABLE or "no such table" in text)
