"""A database of its own for each store, on one PostgreSQL server.

What a framework keeps in a database it makes in a template, once; the others are copies, which cost milliseconds.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from resumption.errors import PostgresMissing, WorkerLost

__all__ = ["Databases"]

_LOOKS = 5000
_LOOK_SECONDS = 0.002
_SESSIONS = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND (%s = '' OR application_name = %s)"
_TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relname"


class Databases:
    """The databases that a run makes on a server, by any thread. A database is named by its connection string.

    Every call raises `PostgresMissing` if the server can't be reached or refuses.
    """

    def __init__(self, server: str) -> None:
        self._server = server
        self._lock = threading.Lock()
        self._prefix = f"resumption_{secrets.token_hex(4)}"
        self._made = 0
        self._templates: dict[str, str] = {}
        with _connecting():
            self._connection = psycopg.connect(server, autocommit=True)

    @property
    def address(self) -> tuple[str, int]:
        """The host and port of the server."""
        info = self._connection.info
        return info.host, info.port

    def create(self, template: str = "") -> str:
        """Make a database: an empty one, or a copy of `template`, which nobody may be using."""
        with self._lock:
            self._made += 1
            name = f"{self._prefix}_{self._made}"
            source = sql.SQL(" TEMPLATE {}").format(_name(template)) if template else sql.SQL("")
            self._execute(sql.SQL("CREATE DATABASE {}{}").format(sql.Identifier(name), source))
        return make_conninfo(self._server, dbname=name)

    def prepared(self, key: str, prepare: Callable[[str], None]) -> str:
        """Return a copy of the template `key`, which the first to ask has `prepare` make of an empty database."""
        with self._lock:
            missing = key not in self._templates
        if missing:
            template = self.create()
            prepare(template)
            self.settle(template)
            with self._lock:
                self._templates.setdefault(key, template)
        return self.create(self._templates[key])

    def settle(self, database: str, session: str = "") -> None:
        """Wait until the sessions of ended clients are over: the server still ends what it did for a killed one.

        `session` restricts that to one `application_name`. Raises `WorkerLost` if one lives on.
        """
        name = conninfo_to_dict(database)["dbname"]
        with _connecting():
            for _ in range(_LOOKS):
                if self._connection.execute(_SESSIONS, (name, session, session)).fetchone() == (0,):
                    return
                # A session's end notifies nobody, so the server is asked again after a moment.
                self._connection.execute("SELECT pg_sleep(%s)", (_LOOK_SECONDS,))
        raise WorkerLost(f"A PostgreSQL session {session} outlives its process.", advice="Run again.")

    def content_digest(self, database: str) -> str:
        """Return the SHA-256 of all rows in a database, however they are laid out."""
        digest = hashlib.sha256()
        with _connecting(), psycopg.connect(database) as connection:
            for (table,) in connection.execute(_TABLES).fetchall():
                rows = connection.execute(sql.SQL("SELECT t::text FROM {} t").format(sql.Identifier(table)))
                digest.update(f"{table} {sorted(rows.fetchall())}\n".encode())
        return digest.hexdigest()

    def drop(self, database: str) -> None:
        """Remove a database, whoever is connected to it."""
        self._execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(_name(database)))

    def close(self) -> None:
        """Remove every database that is left."""
        with _connecting(), self._connection as connection:
            for (name,) in connection.execute("SELECT datname FROM pg_database").fetchall():
                if name.startswith(f"{self._prefix}_"):
                    connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

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
