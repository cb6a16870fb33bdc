"""Every statement about leases, claims and deliveries. Predicates name keys and versions only: no rule hides here."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from resumption.guard.claims.records import CLAIM_COLUMNS, DELIVERY_COLUMNS

__all__ = [
    "ASK_SESSION",
    "FENCES_READABLE",
    "FREE_SESSION",
    "GLANCE_SESSION",
    "HAS_LEASES",
    "LEASES_POSTGRES",
    "LEASES_SQLITE",
    "MUST_HOLD",
    "POSTGRES",
    "SCHEMA_VERSION",
    "SQLITE",
    "TRY_SESSION",
    "LeaseStatements",
    "Statements",
]

SCHEMA_VERSION = 2
"""2: a claim has `finished`. Tables that call themselves 1 may have it too: the column came before the number."""

TRY_SESSION = b"SELECT pg_try_advisory_lock(%d)"
GLANCE_SESSION = b"; SELECT number, holder FROM %b WHERE thread = %b"
"""Follows `TRY_SESSION`, in one query. Read committed, it sees what was committed by the time that the lock was had."""
FREE_SESSION = b"SELECT pg_advisory_unlock(%d)"
ASK_SESSION = b"SELECT 1"

FENCES_READABLE = (
    "SELECT quote_ident(nspname) || '.' || quote_ident(relname) FROM pg_class JOIN pg_namespace"
    " ON pg_namespace.oid = relnamespace WHERE pg_class.oid = to_regclass('resumption_fences')"
    " AND NOT relrowsecurity AND current_user = session_user"
)
"""The table of fences by its full name, if any session of the same user reads the same in it as this one."""

HAS_LEASES = "SELECT to_regclass('resumption_leases') IS NOT NULL"
"""Whether executors of this database have had to lease."""

MUST_HOLD = (
    "SELECT 1 / (SELECT count(*) FROM (SELECT 1 FROM resumption_fences"
    " WHERE thread = %s AND number = %s AND holder = %s FOR SHARE) AS held)"
)
"""Fails, and the transaction with it, unless this fence is the current one; holds it until the transaction's end. So
whoever holds a fence needn't wait for an answer before it sends what it has to write."""

_CLAIMS = ", ".join(CLAIM_COLUMNS)
_DELIVERIES = ", ".join(DELIVERY_COLUMNS)


def _marks(columns: tuple[str, ...]) -> str:
    return ", ".join("?" * len(columns))


@dataclass(frozen=True, slots=True)
class Statements:
    """One dialect's statements, by the role each plays. `?` marks a parameter."""

    fence: str = "SELECT number, holder FROM resumption_fences WHERE thread = ?"
    glance: str = fence
    """Reads the fence without locking it."""
    threads: str = "SELECT thread FROM resumption_fences ORDER BY thread"
    grant_first: str = "INSERT INTO resumption_fences (thread, number, holder) VALUES (?, ?, ?)"
    grant: str = "UPDATE resumption_fences SET number = ?, holder = ? WHERE thread = ? AND number = ?"
    checks_grant: bool = False
    """Whether granting fails if the grant that it follows isn't the last one any more."""
    claim: str = f"INSERT INTO resumption_claims ({_CLAIMS}) VALUES ({_marks(CLAIM_COLUMNS)})"
    unclaim: str = "DELETE FROM resumption_claims WHERE thread = ? AND key = ?"
    claims_of: str = f"SELECT {_CLAIMS} FROM resumption_claims WHERE thread = ? AND interrupt = ? ORDER BY id DESC"
    last_claims: str = (
        f"SELECT {_CLAIMS} FROM resumption_claims WHERE thread = ? AND root ="
        " (SELECT root FROM resumption_claims WHERE thread = ? ORDER BY id DESC LIMIT 1) ORDER BY id"
    )
    """The last claim, after those that were made at the same checkpoint."""
    claims_at: str = f"SELECT {_CLAIMS} FROM resumption_claims WHERE thread = ? AND root = ? ORDER BY id"
    all_claims: str = f"SELECT {_CLAIMS} FROM resumption_claims ORDER BY id"
    delivery: str = f"SELECT {_DELIVERIES} FROM resumption_deliveries WHERE thread = ? AND identity = ?"
    accept: str = (
        f"INSERT INTO resumption_deliveries ({_DELIVERIES}) VALUES ({_marks(DELIVERY_COLUMNS)})"
        " ON CONFLICT (thread, identity) DO NOTHING"
    )
    unaccept: str = "DELETE FROM resumption_deliveries WHERE thread = ? AND identity = ?"
    conclude: str = "UPDATE resumption_deliveries SET kind = ?, outcome = ? WHERE thread = ? AND identity = ?"
    refuse: str = (
        "INSERT INTO resumption_refusals (thread, interrupt, branch, digest, delivery, at, place)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)"
    )
    refusals: str = "SELECT thread, interrupt, branch, digest, delivery, at, place FROM resumption_refusals ORDER BY id"
    has_schema: str = "SELECT name FROM sqlite_master WHERE name = 'resumption_schema'"
    schema: str = "SELECT version FROM resumption_schema WHERE key = 'claims'"
    schema_lock: str = "SELECT 1"
    schema_record: str = (
        "INSERT INTO resumption_schema (key, version, identity) VALUES ('claims', ?, ?) ON CONFLICT (key) DO NOTHING"
    )
    schema_raise: str = "UPDATE resumption_schema SET version = ? WHERE key = 'claims'"
    has_finished: str = "SELECT name FROM pragma_table_info('resumption_claims') WHERE name = 'finished'"
    # Of a claim that was made before, nothing says which tasks beside it had finished: a copy runs them again.
    add_finished: str = "ALTER TABLE resumption_claims ADD COLUMN finished TEXT NOT NULL DEFAULT '[]'"
    create: tuple[str, ...] = (
        "CREATE TABLE IF NOT EXISTS resumption_schema"
        " (key TEXT PRIMARY KEY, version INTEGER NOT NULL, identity TEXT NOT NULL)",
        "CREATE TABLE IF NOT EXISTS resumption_fences (thread TEXT PRIMARY KEY, number BIGINT NOT NULL, holder TEXT)",
        "CREATE TABLE IF NOT EXISTS resumption_claims (id INTEGER PRIMARY KEY, thread TEXT NOT NULL, key TEXT NOT NULL,"
        " interrupt TEXT NOT NULL, digest TEXT NOT NULL, kind TEXT NOT NULL, value BLOB NOT NULL, root TEXT NOT NULL,"
        " namespace TEXT NOT NULL, checkpoint TEXT NOT NULL, task TEXT NOT NULL, answered INTEGER NOT NULL,"
        " finished TEXT NOT NULL, delivery TEXT NOT NULL, at TEXT NOT NULL, place TEXT NOT NULL, UNIQUE (thread, key))",
        "CREATE INDEX IF NOT EXISTS resumption_claims_thread ON resumption_claims (thread, id)",
        "CREATE TABLE IF NOT EXISTS resumption_deliveries (thread TEXT NOT NULL, identity TEXT NOT NULL,"
        " digest TEXT NOT NULL, head TEXT NOT NULL, kind TEXT, outcome BLOB, at TEXT NOT NULL, place TEXT NOT NULL,"
        " PRIMARY KEY (thread, identity))",
        "CREATE TABLE IF NOT EXISTS resumption_refusals (id INTEGER PRIMARY KEY, thread TEXT NOT NULL,"
        " interrupt TEXT NOT NULL, branch TEXT NOT NULL, digest TEXT NOT NULL, delivery TEXT NOT NULL,"
        " at TEXT NOT NULL, place TEXT NOT NULL)",
    )


SQLITE = Statements()


def _postgres() -> Statements:
    """The same statements for psycopg."""
    base = Statements()
    changed = replace(
        base,
        fence=f"{base.fence} FOR UPDATE",
        # Fails if there is nothing to change, so that nobody needs to wait for its answer to know.
        checks_grant=True,
        grant=f"WITH granted AS ({base.grant} RETURNING 1) SELECT 1 / count(*) FROM granted",
        has_schema="SELECT to_regclass('resumption_schema')::text",
        has_finished=(
            "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass('resumption_claims')"
            " AND attname = 'finished' AND NOT attisdropped"
        ),
        # CREATE TABLE IF NOT EXISTS races with itself in PostgreSQL: one lock makes setup one at a time.
        schema_lock="SELECT pg_advisory_xact_lock(7304601924)",
        create=tuple(
            statement.replace("BLOB", "BYTEA").replace(
                "id INTEGER PRIMARY KEY", "id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
            )
            for statement in base.create
        ),
    )
    texts = {one.name: text for one in fields(base) if isinstance(text := getattr(changed, one.name), str)}
    marked: dict[str, Any] = {name: text.replace("?", "%s") for name, text in texts.items()}
    return replace(changed, **marked)


POSTGRES = _postgres()


@dataclass(frozen=True, slots=True)
class LeaseStatements:
    """One dialect's statements about leases that expire. Their table is made where the first one is needed."""

    create: str = (
        "CREATE TABLE IF NOT EXISTS resumption_leases (thread TEXT PRIMARY KEY, number BIGINT NOT NULL, holder TEXT,"
        " beat BIGINT NOT NULL)"
    )
    look: str = "SELECT number, holder, beat FROM resumption_leases WHERE thread = ?"
    create_lock: str = "SELECT 1"
    """Makes creating one at a time."""
    unlocked: str | None = None
    """Whether no session holds the thread's lock. An executor that doesn't lease holds it by that."""
    take_first: str = (
        "INSERT INTO resumption_leases (thread, number, holder, beat) VALUES (?, ?, ?, 0)"
        " ON CONFLICT (thread) DO NOTHING"
    )
    take: str = (
        "UPDATE resumption_leases SET number = ?, holder = ?, beat = 0 WHERE thread = ? AND number = ? AND beat = ?"
    )
    beat: str = "UPDATE resumption_leases SET beat = beat + 1 WHERE thread = ? AND number = ? AND holder = ?"
    free: str = "UPDATE resumption_leases SET holder = NULL WHERE thread = ? AND number = ? AND holder = ?"


LEASES_SQLITE = LeaseStatements()


def _leases_postgres() -> LeaseStatements:
    base = LeaseStatements()
    texts = {one.name: text for one in fields(base) if isinstance(text := getattr(base, one.name), str)}
    changed = {name: text.replace("?", "%s") for name, text in texts.items()}
    locks = {"create_lock": POSTGRES.schema_lock, "unlocked": "SELECT pg_try_advisory_xact_lock(%s)"}
    return replace(base, **{**changed, **locks})


LEASES_POSTGRES = _leases_postgres()
