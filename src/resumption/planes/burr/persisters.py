"""Burr's persistence seam: its own SQLite persister, with each write bracketed and named."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any, Literal

from burr.core import State
from burr.core.persistence import SQLitePersister

from resumption.planes.interface import Instruments

__all__ = ["FILE", "SqliteFilePersister"]

FILE = "burr.sqlite"
"""The database file in a store's folder."""


class SqliteFilePersister(SQLitePersister):
    """Burr's `SQLitePersister`, recorded."""

    def __init__(self, folder: Path, names: Collection[str], whole: str, instruments: Instruments) -> None:
        """`names` are those of the tasks; the action called `whole` stands for all of them."""
        # Sub-applications run in threads of a pool, and are given copies that were made in another one.
        super().__init__(str(folder / FILE), connect_kwargs={"check_same_thread": False})
        self._of = (folder, names, whole, instruments)

    def copy(self) -> SqliteFilePersister:
        """Return another one, with a connection of its own: what a sub-application is given."""
        return SqliteFilePersister(*self._of)

    def save(
        self,
        partition_key: str | None,
        app_id: str,
        sequence_id: int,
        position: str,
        state: State[Any],
        status: Literal["completed", "failed"],
        **kwargs: Any,
    ) -> None:
        """Store the state behind an action, or before one that failed, in its bracket."""
        _, names, whole, instruments = self._of
        ended = status == "completed"
        covers = [name for name in names if ended and position in (name, whole)]
        with instruments.persist(f"save({position})" if ended else f"save({position},failed)", covers):
            super().save(partition_key, app_id, sequence_id, position, state, status, **kwargs)
