"""The durable log of the reference plane: one SQLite file, and the named queries that decisions are fed from.

A journal row says that something happened at a place of the program on one attempt. Rows are added and never changed.
Which rows an attempt may see is not SQL's to say: a query fetches what is at a place, on every attempt, and
`resumption.decide.view` picks from it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from resumption.history.events import Json

__all__ = ["WRITES", "Kind", "Log", "Row", "Thread", "create_log", "open_log", "read_log"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS threads (
    thread TEXT PRIMARY KEY, topology TEXT NOT NULL, input TEXT NOT NULL,
    fence INTEGER NOT NULL, holder TEXT, attempt INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS attempts (
    thread TEXT NOT NULL, attempt INTEGER NOT NULL, parent INTEGER, forked_at INTEGER,
    PRIMARY KEY (thread, attempt)
) STRICT;
CREATE TABLE IF NOT EXISTS journal (
    thread TEXT NOT NULL, attempt INTEGER NOT NULL, kind TEXT NOT NULL, place INTEGER NOT NULL,
    name TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (thread, kind, place, attempt)
) STRICT;
CREATE TABLE IF NOT EXISTS deliveries (
    thread TEXT NOT NULL, delivery TEXT NOT NULL, digest TEXT NOT NULL, attempt INTEGER NOT NULL, outcome TEXT,
    PRIMARY KEY (thread, delivery)
) STRICT;
"""

_FILE = "reference.db"
_PATIENCE_SECONDS = 60.0


class Kind(StrEnum):
    """What a journal row records."""

    EFFECT = "effect"
    """An effect fired."""
    INTERRUPT = "interrupt"
    """A gate asked for a decision."""
    DECISION = "decision"
    """A delivery was accepted for an interrupt: the claim and the decision are this one row."""
    TASK = "task"
    """A task ended, with this write."""
    STATE = "state"
    """A task handed over this write, where a fault stores it on its own."""


WRITES = (Kind.TASK, Kind.STATE)
"""The kinds of rows that carry a task's write."""


@dataclass(frozen=True, slots=True)
class Row:
    """One journal row. `name` is that of the effect, interrupt or task."""

    attempt: int
    place: int
    name: str
    value: Json


@dataclass(frozen=True, slots=True)
class Thread:
    """What is recorded of a thread as a whole."""

    topology: str
    input: Json
    fence: int
    holder: str | None
    attempt: int
    """The attempt that was acted upon last: the one that an inspection shows."""


@dataclass(frozen=True, slots=True)
class Log:
    """The log of one thread, over an open connection."""

    connection: sqlite3.Connection
    thread: str

    @contextmanager
    def deciding(self) -> Iterator[None]:
        """Hold the store's write lock from a decision's reads to its write; what wasn't committed is rolled back."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")

    def commit(self) -> None:
        """Make the writes since `deciding` durable."""
        self.connection.execute("COMMIT")

    # Named queries ------------------------------------------------------------------------------------------------

    def head(self) -> Thread | None:
        """The thread's row; None before it was started."""
        row = self.connection.execute(
            "SELECT topology, input, fence, holder, attempt FROM threads WHERE thread = ?", (self.thread,)
        ).fetchone()
        return None if row is None else Thread(row[0], json.loads(row[1]), row[2], row[3], row[4])

    def attempts(self) -> tuple[int, ...]:
        """The attempts of the thread, in the order in which they were opened."""
        rows = self.connection.execute("SELECT attempt FROM attempts WHERE thread = ?", (self.thread,))
        return tuple(sorted(row[0] for row in rows))

    def shared_before(self, attempt: int) -> dict[int, int]:
        """For each ancestor of an attempt: the place before which the two have one history."""
        shared: dict[int, int] = {}
        parent, forked_at = self._origin(attempt)
        lowest = forked_at
        while parent is not None:
            lowest = min(lowest, forked_at)
            shared[parent] = lowest
            parent, forked_at = self._origin(parent)
        return shared

    def _origin(self, attempt: int) -> tuple[int | None, int]:
        parent, forked_at = self.connection.execute(
            "SELECT parent, forked_at FROM attempts WHERE thread = ? AND attempt = ?", (self.thread, attempt)
        ).fetchone()
        return parent, 0 if forked_at is None else forked_at

    def at(self, kind: Kind, place: int) -> tuple[Row, ...]:
        """The rows of a kind at a place, on every attempt, the oldest attempt first."""
        rows = self.connection.execute(
            "SELECT attempt, name, value FROM journal WHERE thread = ? AND kind = ? AND place = ?",
            (self.thread, kind, place),
        )
        return tuple(sorted((Row(row[0], place, row[1], json.loads(row[2])) for row in rows), key=lambda r: r.attempt))

    def delivery(self, delivery: str) -> tuple[str, int, Json] | None:
        """Digest, attempt and outcome of an accepted delivery; the outcome is None while there is none."""
        row = self.connection.execute(
            "SELECT digest, attempt, outcome FROM deliveries WHERE thread = ? AND delivery = ?",
            (self.thread, delivery),
        ).fetchone()
        return None if row is None else (row[0], row[1], None if row[2] is None else json.loads(row[2]))

    # Writes: each inside `deciding` -------------------------------------------------------------------------------

    def begin(self, topology: str, value: Json) -> None:
        """Record the start of the thread's run."""
        self.connection.execute(
            "INSERT INTO threads VALUES (?, ?, ?, 0, NULL, 1)", (self.thread, topology, json.dumps(value))
        )
        self.connection.execute("INSERT INTO attempts VALUES (?, 1, NULL, NULL)", (self.thread,))

    def grant(self, holder: str | None, fence: int) -> None:
        """Record who holds the thread's lease, and under which fence."""
        self.connection.execute(
            "UPDATE threads SET holder = ?, fence = ? WHERE thread = ?", (holder, fence, self.thread)
        )

    def focus(self, attempt: int) -> None:
        """Record the attempt that is acted upon."""
        self.connection.execute("UPDATE threads SET attempt = ? WHERE thread = ?", (attempt, self.thread))

    def fork(self, attempt: int, parent: int, forked_at: int) -> None:
        """Open an attempt that shares its parent's history before a place."""
        self.connection.execute("INSERT INTO attempts VALUES (?, ?, ?, ?)", (self.thread, attempt, parent, forked_at))

    def add(self, kind: Kind, row: Row) -> None:
        """Add a journal row."""
        self.connection.execute(
            "INSERT INTO journal VALUES (?, ?, ?, ?, ?, ?)",
            (self.thread, row.attempt, kind, row.place, row.name, json.dumps(row.value)),
        )

    def accept(self, delivery: str, digest: str, attempt: int) -> None:
        """Record that a delivery was accepted."""
        self.connection.execute(
            "INSERT INTO deliveries VALUES (?, ?, ?, ?, NULL)", (self.thread, delivery, digest, attempt)
        )

    def settle(self, delivery: str, outcome: Json) -> None:
        """Record what an accepted delivery came to."""
        self.connection.execute(
            "UPDATE deliveries SET outcome = ? WHERE thread = ? AND delivery = ?",
            (json.dumps(outcome), self.thread, delivery),
        )


@contextmanager
def open_log(location: Path, thread: str) -> Iterator[Log]:
    """Open the log for one operation. A connection is never shared: not between threads, not across a fork."""
    connection = sqlite3.connect(location / _FILE, isolation_level=None, timeout=_PATIENCE_SECONDS)
    try:
        connection.execute("PRAGMA synchronous = FULL")
        yield Log(connection, thread)
    finally:
        connection.close()


def create_log(location: Path) -> None:
    """Create the tables where they are missing."""
    with open_log(location, "") as log:
        log.connection.executescript(_SCHEMA)


@contextmanager
def read_log(location: Path, thread: str) -> Iterator[Log | None]:
    """Open the log for reading only; None if there is none. Neither creates nor changes a file."""
    if not (location / _FILE).exists():
        yield None
        return
    connection = sqlite3.connect(
        f"{(location / _FILE).absolute().as_uri()}?mode=ro", uri=True, isolation_level=None, timeout=_PATIENCE_SECONDS
    )
    try:
        yield Log(connection, thread)
    finally:
        connection.close()
