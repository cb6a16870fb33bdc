"""Telling that the guard's tables aren't what it made from that the database is away: the advice differs."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from resumption.errors import SchemaMismatch

__all__ = ["own_tables"]

_UNDEFINED_TABLE = "42P01"
_UNDEFINED_COLUMN = "42703"


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
    if state == _UNDEFINED_COLUMN or "no such column" in text:
        return True
    return "resumption_" in text and (state == _UNDEFINED_TABLE or "no such table" in text)
