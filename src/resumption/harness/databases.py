"""A database of its own for each store, on one PostgreSQL server.

What a framework keeps in a database it makes in a template, once; the others are copies. A copy whose trial is over is
emptied and given to the next one, which costs less than a tenth of a new copy; one that isn't then as its template was,
to the last row and column, is dropped.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from resumption.errors import PostgresMissing, WorkerLost
from resumption.harness.tables import empty_tables, read_rows, rows_digest, truncate, whole_digest, write_rows

__all__ = ["Content", "Databases"]

_IDLE = 16  # databases of one template that wait for a trial
_KEPT = 48  # sessions of the harness's own; a server has a hundred by default, and the trials want most of them
_LOOKS = 5000
_LOOK_SECONDS = 0.002
_OWN = "resumption-harness"
"""The `application_name` of the sessions in which the harness looks at a database."""
_SESSIONS = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND (%s = '' OR application_name = %s)"
    " AND (%s OR application_name <> %s)"
)


@dataclass(frozen=True, slots=True)
class _Template:
    """What a framework made in an empty database, and what that looks like."""

    database: str
    empty: frozenset[str]
    """The tables without rows."""
    digest: str


@dataclass(frozen=True, slots=True)
class Content:
    """What a database held beside what its template holds."""

    rows: Mapping[str, bytes]
    """By table, in the format of `COPY`."""
    digest: str
    """Of the whole database."""


class Databases:
    """The databases that a run makes on a server, by any thread. A database is named by its connection string.

    Every call raises `PostgresMissing` if the server can't be reached or refuses.
    """

    def __init__(self, server: str) -> None:
        self._server = server
        self._lock = threading.Lock()
        self._prefix = f"resumption_{secrets.token_hex(4)}"
        self._made = 0
        self._templates: dict[str, _Template] = {}
        self._origins: dict[str, _Template] = {}
        self._idle: dict[str, list[str]] = {}
        self._sessions: dict[str, psycopg.Connection] = {}
        with _connecting():
            self._connection = psycopg.connect(server, autocommit=True)

    @property
    def address(self) -> tuple[str, int]:
        """The host and port of the server."""
        info = self._connection.info
        return info.host, info.port

    def create(self) -> str:
        """Make an empty database."""
        return self._create(sql.SQL(""))

    def copy(self, database: str) -> str:
        """Have the server copy a database, in which nobody may be at work."""
        self._leave(database)
        self.settle(database)
        copy = self._create(sql.SQL(" TEMPLATE {}").format(_name(database)))
        with self._lock:
            if (origin := self._origins.get(database)) is not None:
                self._origins[copy] = origin
        return copy

    def prepared(self, key: str, prepare: Callable[[str], None]) -> str:
        """Return a copy of the template `key`, which the first to ask has `prepare` make of an empty database."""
        with self._lock:
            template = self._templates.get(key)
            if template is not None and (idle := self._idle.get(template.database)):
                return idle.pop()
        if template is None:
            made = self._template(prepare)
            with self._lock:
                template = self._templates.setdefault(key, made)
        copy = self.copy(template.database)
        with self._lock:
            self._origins[copy] = template
        return copy

    def give_back(self, database: str) -> None:
        """Take a database that is needed no more: for the next to ask for its template, if it can be made like that."""
        with self._lock:
            origin = self._origins.get(database)
        if origin is None or not self._restored(database, origin):
            self.drop(database)
            return
        with self._lock:
            full = len(self._idle.setdefault(origin.database, [])) >= _IDLE
            crowded = len(self._sessions) > _KEPT
        if full:
            self.drop(database)
            return
        if crowded:
            self._leave(database)
        with self._lock:
            self._idle[origin.database].append(database)

    def settle(self, database: str, session: str = "") -> None:
        """Wait until the sessions of ended clients are over: the server still ends what it did for a killed one.

        `session` restricts that to one `application_name`. Raises `WorkerLost` if one lives on.
        """
        if not self._settled(database, session):
            raise WorkerLost(f"A PostgreSQL session {session} outlives its process.", advice="Run again.")

    def content_digest(self, database: str) -> str:
        """Return the SHA-256 of all rows in a database, however they are laid out."""
        with self._looking(database) as connection:
            return rows_digest(connection)

    def content(self, database: str) -> Content:
        """Read what a copy of a template holds by now. Nobody may be at work in it."""
        with self._lock:
            origin = self._origins[database]
        with self._looking(database) as connection:
            return Content(read_rows(connection, origin.empty - empty_tables(connection)), whole_digest(connection))

    def fill(self, database: str, content: Content) -> bool:
        """Write the content of another copy into a fresh one; whether nothing tells the two apart then."""
        with self._looking(database) as connection:
            return write_rows(connection, content.rows) and whole_digest(connection) == content.digest

    def drop(self, database: str) -> None:
        """Remove a database, whoever is connected to it."""
        self._leave(database)
        self._execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(_name(database)))

    def close(self) -> None:
        """Remove every database that is left."""
        for session in self._sessions.values():
            session.close()
        with _connecting(), self._connection as connection:
            for (name,) in connection.execute("SELECT datname FROM pg_database").fetchall():
                if name.startswith(f"{self._prefix}_"):
                    connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    def _create(self, source: sql.Composable) -> str:
        with self._lock:
            self._made += 1
            name = f"{self._prefix}_{self._made}"
            self._execute(sql.SQL("CREATE DATABASE {}{}").format(sql.Identifier(name), source))
        return make_conninfo(self._server, dbname=name)

    def _template(self, prepare: Callable[[str], None]) -> _Template:
        database = self.create()
        prepare(database)
        self.settle(database)
        with self._looking(database) as connection:
            template = _Template(database, empty_tables(connection), whole_digest(connection))
        self._leave(database)
        return template

    def _restored(self, database: str, origin: _Template) -> bool:
        """Empty what was empty in the template; whether nothing tells the database from the template then."""
        if not self._settled(database):
            return False
        with self._looking(database) as connection:
            truncate(connection, origin.empty - empty_tables(connection))
            return whole_digest(connection) == origin.digest

    def _settled(self, database: str, session: str = "", *, own: bool = False) -> bool:
        """Whether the sessions are over, after waiting for them; the harness's `own` too, or but for those."""
        name = conninfo_to_dict(database)["dbname"]
        with _connecting():
            for _ in range(_LOOKS):
                if self._connection.execute(_SESSIONS, (name, session, session, own, _OWN)).fetchone() == (0,):
                    return True
                # A session's end notifies nobody, so the server is asked again after a moment.
                self._connection.execute("SELECT pg_sleep(%s)", (_LOOK_SECONDS,))
        return False

    @contextmanager
    def _looking(self, database: str) -> Iterator[psycopg.Connection]:
        """The harness's own session in a database, kept for the next look. One thread looks at a database at a time."""
        with _connecting():
            with self._lock:
                session = self._sessions.get(database)
            if session is None:
                session = psycopg.connect(make_conninfo(database, application_name=_OWN), autocommit=True)
                with self._lock:
                    self._sessions[database] = session
            yield session

    def _leave(self, database: str) -> None:
        """End the harness's own session in a database, and wait for that: a server copies no database in use."""
        with self._lock:
            session = self._sessions.pop(database, None)
        if session is not None:
            session.close()
            self._settled(database, _OWN, own=True)

    def _execute(self, statement: sql.Composed) -> None:
        with _connecting():
            self._connection.execute(statement)


@contextmanager
def _connecting() -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        raise PostgresMissing(
            f"The PostgreSQL server can't be used: {' '.join(str(error).split()).rstrip('.')}.",
            advice="Check the server's log, and the connection string if you gave one.",
        ) from error


def _name(database: str) -> sql.Identifier:
    return sql.Identifier(str(conninfo_to_dict(database)["dbname"]))
