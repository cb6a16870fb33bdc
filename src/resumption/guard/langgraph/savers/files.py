"""The file of a SQLite database: a connection outlives its name, and would go on in one that nobody else can see."""

from __future__ import annotations

from resumption.errors import LeaseImpossible
from resumption.guard.stores.sqlite import file_at

__all__ = ["DatabaseFile"]


class DatabaseFile:
    """A database's file, as it was found when its saver was guarded. `path` is empty for a database in memory."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._found = file_at(path) if path else None

    def must_be_there(self) -> None:
        """Refuse to write where only this process can read. Raises `LeaseImpossible`."""
        if self._found is not None and file_at(self.path) != self._found:
            raise LeaseImpossible(
                f"{self.path} is no longer the file that the checkpointer has open: it was deleted, moved or replaced.",
                advice="Nothing of this was recorded. Put that file back, or open a new connection to the one there.",
            )
