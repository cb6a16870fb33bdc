"""What is durable, seen from outside: the digest of a store's content, and of a copy's bytes."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from resumption.harness.workspace import workspace_folder

__all__ = ["bytes_digest", "content_digest"]

_MAGIC = b"SQLite format 3\0"
_JOURNALS = ("-wal", "-shm", "-journal")


def bytes_digest(folder: Path) -> str:
    """Return the SHA-256 of the names and bytes of all files in a folder."""
    digest = hashlib.sha256()
    for path in _files(folder):
        data = path.read_bytes()
        digest.update(f"{path.relative_to(folder)} {len(data)}\n".encode() + data)
    return digest.hexdigest()


def content_digest(folder: Path) -> str:
    """Return the SHA-256 of what is stored in a folder: rows of databases, bytes of other files.

    How SQLite lays its rows out, and what stands in its journal only, makes no difference. It is a copy that is read,
    so that reading changes nothing; no process may be writing.
    """
    digest = hashlib.sha256()
    with workspace_folder() as name:
        copy = Path(name) / "store"
        shutil.copytree(folder, copy)
        for path in _files(copy):
            if path.name.endswith(_JOURNALS):
                continue
            digest.update(f"{path.relative_to(copy)}\n".encode())
            for part in _rows(path) if _is_database(path) else [path.read_bytes()]:
                digest.update(part)
    return digest.hexdigest()


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _is_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def _rows(path: Path) -> Iterator[bytes]:
    with closing(sqlite3.connect(path)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
        for (table,) in tables:
            quoted = table.replace('"', '""')
            rows = connection.execute(f'SELECT * FROM "{quoted}"').fetchall()
            yield f"{table} {sorted(map(repr, rows))}\n".encode()
