"""What a PostgreSQL database holds: digests of its rows and of its shape, and the tables without rows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import LiteralString

import psycopg
from psycopg import sql

__all__ = ["empty_tables", "read_rows", "rows_digest", "truncate", "whole_digest", "write_rows"]

_TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relname"

_SHAPE = """
WITH spaces AS (SELECT oid FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'),
     relations AS (SELECT oid, relname, relkind FROM pg_class WHERE relnamespace IN (SELECT oid FROM spaces))
SELECT relname, relkind::text, '' FROM relations
UNION ALL SELECT relname, attname,
        concat_ws(' ', format_type(atttypid, atttypmod), attnotnull, attidentity, pg_get_expr(adbin, adrelid))
    FROM pg_attribute JOIN relations ON relations.oid = attrelid
        LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE attnum > 0 AND NOT attisdropped
UNION ALL SELECT relname, 'index', pg_get_indexdef(indexrelid) FROM pg_index JOIN relations ON relations.oid = indrelid
UNION ALL SELECT relname, conname, pg_get_constraintdef(pg_constraint.oid)
    FROM pg_constraint JOIN relations ON relations.oid = conrelid
UNION ALL SELECT relname, 'trigger', pg_get_triggerdef(pg_trigger.oid)
    FROM pg_trigger JOIN relations ON relations.oid = tgrelid WHERE NOT tgisinternal
UNION ALL SELECT proname, 'routine', md5(prosrc) FROM pg_proc WHERE pronamespace IN (SELECT oid FROM spaces)
UNION ALL SELECT sequencename, 'sequence', COALESCE(last_value::text, '') FROM pg_sequences
UNION ALL SELECT oid::text, 'large object', '' FROM pg_largeobject_metadata
"""


def rows_digest(connection: psycopg.Connection) -> str:
    """Return the SHA-256 of all rows of all tables, however they are laid out."""
    digest = hashlib.sha256()
    for table in _tables(connection):
        rows = connection.execute(sql.SQL("SELECT t::text FROM {} t").format(sql.Identifier(table)))
        digest.update(f"{table} {sorted(rows.fetchall())}\n".encode())
    return digest.hexdigest()


def whole_digest(connection: psycopg.Connection) -> str:
    """Return the SHA-256 of all rows, and of all that clients can define: tables, indexes, routines, sequences."""
    shape = sorted(connection.execute(_SHAPE).fetchall())
    return hashlib.sha256(f"{rows_digest(connection)} {shape}".encode()).hexdigest()


def empty_tables(connection: psycopg.Connection) -> frozenset[str]:
    """The tables without rows."""
    tables = _tables(connection)
    if not tables:
        return frozenset()
    looks = [sql.SQL("NOT EXISTS (SELECT FROM {})").format(sql.Identifier(table)) for table in tables]
    row = connection.execute(sql.SQL("SELECT {}").format(sql.SQL(", ").join(looks))).fetchone() or ()
    return frozenset(table for table, empty in zip(tables, row, strict=True) if empty)


def truncate(connection: psycopg.Connection, tables: Iterable[str]) -> None:
    """Leave the tables as they were when they were made: without rows, with new files, their sequences restarted."""
    if names := [sql.Identifier(table) for table in sorted(tables)]:
        connection.execute(sql.SQL("TRUNCATE {} RESTART IDENTITY CASCADE").format(sql.SQL(", ").join(names)))


def read_rows(connection: psycopg.Connection, tables: Iterable[str]) -> dict[str, bytes]:
    """Return the rows of each table in the binary format of `COPY`, in the order in which they lie."""
    rows = {}
    for table in sorted(tables):
        with connection.cursor() as cursor, cursor.copy(_copy("COPY {} TO STDOUT (FORMAT binary)", table)) as copy:
            rows[table] = b"".join(copy)
    return rows


def write_rows(connection: psycopg.Connection, rows: Mapping[str, bytes]) -> bool:
    """Add what `read_rows` returned to tables without rows; False if a constraint between them refuses that order."""
    try:
        for table, data in rows.items():
            with connection.cursor() as cursor, cursor.copy(_copy("COPY {} FROM STDIN (FORMAT binary)", table)) as copy:
                copy.write(data)
    except psycopg.IntegrityError:
        return False
    return True


def _copy(statement: LiteralString, table: str) -> sql.Composed:
    return sql.SQL(statement).format(sql.Identifier(table))


def _tables(connection: psycopg.Connection) -> list[str]:
    return [table for (table,) in connection.execute(_TABLES).fetchall()]
