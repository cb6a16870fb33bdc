"""The effect record, outside every framework: an effect *is* a committed row here.

The oracle is one SQLite file in autocommit mode with `synchronous=FULL`. A call that returned has its row, whatever is
killed afterwards; a call that was killed has its row or hasn't, and nobody but this file says which.
"""

from __future__ import annotations

import json
import socket
import sqlite3
import threading
from pathlib import Path
from typing import Protocol

from resumption.history.events import Json

__all__ = ["Oracle", "ServiceOracle", "SqliteOracle", "connect", "create", "fired"]

_BUSY_SECONDS = 60.0
_SERVICE = "unix:"


class Oracle(Protocol):
    """Where effects fire."""

    def fire(self, call: str, effect: str, value: Json) -> None:
        """Fire the effect: returns once its row is committed."""

    def arrive(self, name: str) -> None:
        """Say that a delivery sets out now. Whoever keeps the record takes the time of it, if anybody does."""

    def holds(self, effect: str, key: str) -> bool:
        """Whether a call of the effect with this idempotency key, the `key` of its value, is on record."""

    def close(self) -> None:
        """Release the connection."""


class SqliteOracle:
    """The record itself. Open one per process, after the fork. Threads take turns: they can't share a statement."""

    def __init__(self, path: Path) -> None:
        self._turn = threading.Lock()
        self._connection = sqlite3.connect(
            path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=8
        )
        self._connection.execute("PRAGMA synchronous=FULL")

    def fire(self, call: str, effect: str, value: Json) -> None:
        """Insert the row; in autocommit mode the statement is the commit."""
        row = (call, effect, json.dumps(value))
        with self._turn:
            self._connection.execute("INSERT INTO fired (call, effect, value) VALUES (?, ?, ?)", row)

    def arrive(self, name: str) -> None:
        """A file has no clock of its own, and takes no times."""

    def holds(self, effect: str, key: str) -> bool:
        """Look the row up."""
        with self._turn:
            rows = self._connection.execute("SELECT value FROM fired WHERE effect = ?", (effect,)).fetchall()
        values = (json.loads(value) for (value,) in rows)
        return any(isinstance(value, dict) and value.get("key") == key for value in values)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


class ServiceOracle:
    """The record behind a service of its own process, reached over a socket, as a payment provider is.

    Each call is one line; the service answers with one byte once the row is committed. Threads take turns.
    """

    def __init__(self, path: Path) -> None:
        self._turn = threading.Lock()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(_BUSY_SECONDS)
        self._socket.connect(str(path))

    def fire(self, call: str, effect: str, value: Json) -> None:
        """Ask the service, and wait for its receipt."""
        self._ask([call, effect, value])

    def arrive(self, name: str) -> None:
        """Have the service take the time."""
        self._ask([name])

    def holds(self, effect: str, key: str) -> bool:
        """Raises `OSError`: this service takes calls, and answers no questions."""
        raise OSError(f"the effect service can't be asked for {effect} with the key {key}")

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def _ask(self, line: list[Json]) -> None:
        with self._turn:
            self._socket.sendall(json.dumps(line).encode() + b"\n")
            if self._socket.recv(1) != b"+":
                raise OSError(f"the effect service went away during call {line[0]}")


def create(path: Path) -> None:
    """Make an empty effect record."""
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(
            "CREATE TABLE fired (row INTEGER PRIMARY KEY, call TEXT NOT NULL, effect TEXT NOT NULL, value TEXT)"
        )
    connection.close()


def connect(location: str) -> Oracle:
    """Open the record at a location: the path of its file, or `unix:` and the path of a service's socket."""
    if location.startswith(_SERVICE):
        return ServiceOracle(Path(location.removeprefix(_SERVICE)))
    return SqliteOracle(Path(location))


def fired(path: Path) -> tuple[str, ...]:
    """The calls whose rows are committed, in commit order."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=_BUSY_SECONDS)
    try:
        return tuple(call for (call,) in connection.execute("SELECT call FROM fired ORDER BY row"))
    finally:
        connection.close()
