"""Every SQL statement of the ledger, for both databases.

Predicates name keys and versions only, so that no rule hides in SQL: what a record means is decided in
`resumption.decide.admit`, between the lock and the conditional write. `tests/guard/test_statements.py` enumerates them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from resumption.guard.stores.records import COLUMNS

__all__ = ["POSTGRES", "SCHEMA_VERSION", "SESSION", "SQLITE", "Statements"]

SCHEMA_VERSION = 1

SESSION = "SELECT pg_backend_pid()"
"""Which of a PostgreSQL server's processes answers."""

_COLUMNS = ", ".join(COLUMNS)
_RECORD = f"SELECT {_COLUMNS} FROM resumption_effects"


@dataclass(frozen=True, slots=True)
class Statements:
    """One dialect's statements, by the role each plays. `?` marks a parameter."""

    begin: str = "BEGIN IMMEDIATE"
    commit: str = "COMMIT"
    rollback: str = "ROLLBACK"  # on a connection of the caller's; the ledger's own are closed instead
    savepoint: str = "SAVEPOINT resumption_effect"
    release: str = "RELEASE SAVEPOINT resumption_effect"
    undo: str = "ROLLBACK TO SAVEPOINT resumption_effect"
    read: str = f"{_RECORD} WHERE key = ?"
    lock: str = f"{_RECORD} WHERE key = ?"
    insert: str = (
        f"INSERT INTO resumption_effects ({_COLUMNS}) VALUES ({', '.join('?' * len(COLUMNS))})"
        " ON CONFLICT (key) DO NOTHING"
    )
    update: str = (
        f"UPDATE resumption_effects SET {', '.join(f'{name} = ?' for name in COLUMNS)} WHERE key = ? AND version = ?"
    )
    delete: str = "DELETE FROM resumption_effects WHERE key = ? AND version = ?"
    page: str = f"{_RECORD} WHERE key > ? ORDER BY key LIMIT ?"
    audit: str = "INSERT INTO resumption_audit (key, at, what, branch, actor, note) VALUES (?, ?, ?, ?, ?, ?)"
    audit_of: str = "SELECT at, what, branch, actor, note FROM resumption_audit WHERE key = ? ORDER BY id"
    has_schema: str = "SELECT name FROM sqlite_master WHERE name = 'resumption_schema'"
    schema: str = "SELECT version, identity FROM resumption_schema WHERE key = 'effects'"
    schema_lock: str = "SELECT 1"  # BEGIN IMMEDIATE is one
    schema_record: str = (
        "INSERT INTO resumption_schema (key, version, identity) VALUES ('effects', ?, ?) ON CONFLICT (key) DO NOTHING"
    )
    create_schema: str = (
        "CREATE TABLE IF NOT EXISTS resumption_schema"
        " (key TEXT PRIMARY KEY, version INTEGER NOT NULL, identity TEXT NOT NULL)"
    )
    create_effects: str = (
        "CREATE TABLE IF NOT EXISTS resumption_effects (key TEXT PRIMARY KEY, version BIGINT NOT NULL,"
        " state TEXT NOT NULL, earlier TEXT NOT NULL, arguments TEXT NOT NULL, owner BIGINT NOT NULL,"
        " place TEXT NOT NULL, attempt INTEGER NOT NULL, generation INTEGER NOT NULL, began TEXT NOT NULL,"
        " ended TEXT, note TEXT, result TEXT)"
    )
    create_audit: str = (
        "CREATE TABLE IF NOT EXISTS resumption_audit (id INTEGER PRIMARY KEY, key TEXT NOT NULL, at TEXT NOT NULL,"
        " what TEXT NOT NULL, branch TEXT NOT NULL, actor TEXT NOT NULL, note TEXT NOT NULL)"
    )
    index_audit: str = "CREATE INDEX IF NOT EXISTS resumption_audit_key ON resumption_audit (key)"
    session_lock: str = "SELECT 1"  # one host: the operating system says it all
    session_free: str = "SELECT 1"


SQLITE = Statements()


def _postgres() -> Statements:
    """The same statements for psycopg. Keys compare bytewise there too, whatever the database's locale."""
    base = Statements()
    changed = replace(
        base,
        begin="BEGIN ISOLATION LEVEL READ COMMITTED",  # the decision must see the row that it waited for
        lock=f"{base.lock} FOR UPDATE",
        # CREATE TABLE IF NOT EXISTS races with itself in PostgreSQL: one lock makes setup one at a time.
        schema_lock="SELECT pg_advisory_xact_lock(7304601923)",
        create_effects=base.create_effects.replace("key TEXT", 'key TEXT COLLATE "C"'),
        create_audit=base.create_audit.replace("id INTEGER", "id BIGINT GENERATED ALWAYS AS IDENTITY"),
        has_schema="SELECT to_regclass('resumption_schema')::text",
        session_lock="SELECT pg_try_advisory_lock(?)",
        session_free="SELECT pg_try_advisory_xact_lock_shared(?)",
    )
    return replace(changed, **{field.name: getattr(changed, field.name).replace("?", "%s") for field in fields(base)})


POSTGRES = _postgres()
