"""Rows that were broken behind a store's back: restored by halves, edited by hand, or written by another tool."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import psycopg

__all__ = ["NO_JSON", "WRONG_TYPE", "break_column"]

NO_JSON = "{"
WRONG_TYPE = "wrong type"
"""What the column's type excludes: on SQLite any other type; on PostgreSQL, which keeps its types, NULL."""


def break_column(address: str, table: str, column: str, value: Any, **where: str) -> None:
    """Put a value into a column of the rows that `where` names. `address` is a file's path or a server's URL."""
    names = " AND ".join(f"{name} = ?" for name in where)
    update = f"UPDATE {table} SET {column} = ? WHERE {names}"
    if address.startswith("postgresql:"):
        with psycopg.connect(address, autocommit=True) as server:
            if value is WRONG_TYPE:
                server.execute(f"ALTER TABLE {table} ALTER {column} DROP NOT NULL")
                value = None
            touched = server.execute(update.replace("?", "%s"), (value, *where.values())).rowcount
    else:
        with closing(sqlite3.connect(address.removeprefix("sqlite:///"), isolation_level=None)) as file:
            if value is WRONG_TYPE:  # a column of numbers or bytes keeps this text, one of text these bytes
                kinds = {row[1]: row[2] for row in file.execute(f"PRAGMA table_info({table})")}
                value = b"\xff" if kinds[column] == "TEXT" else "x"
            touched = file.execute(update, (value, *where.values())).rowcount
    assert touched > 0, f"no row of {table} to break"
