"""What rows of the guard's and the ledger's tables hold, column by column; and the one error for what can't be read.

A row is data that came from outside: a database restored by halves, edited by hand, or written through another tool.
So each column is decoded here by what it must be, wherever the row was selected.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from resumption.errors import RowUnreadable

__all__ = ["Columns", "Reader", "json_texts", "moment", "number", "optional", "packed", "place", "text"]

Reader = Callable[[object], Any]
"""Decodes one column. Raises `ValueError` for what it can't hold."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of one table that are read, in the order in which they are selected."""

    table: str
    named_by: str
    """What a row is found by: "thread" or "key"."""
    readers: Mapping[str, Reader]

    def read(self, row: Sequence[object], name: object) -> list[Any]:
        """The decoded row of this thread or key. Raises `RowUnreadable`."""
        values = []
        for (column, reader), value in zip(self.readers.items(), row, strict=True):
            try:
                values.append(reader(value))
            except (ValueError, RecursionError) as error:
                raise self.unreadable(column, name, error) from error
        return values

    @contextmanager
    def reading(self, column: str, name: object) -> Generator[None]:
        """Around what decodes a column further, such as the framework's serializer. Raises `RowUnreadable`."""
        try:
            yield
        except Exception as error:  # a serializer of the program's own may raise anything
            raise self.unreadable(column, name, error) from error

    def unreadable(self, column: str, name: object, error: Exception) -> RowUnreadable:
        """The error for a column of the row of this thread or key."""
        return RowUnreadable(
            f"{self.table}.{column} can't be read in a row of {self.named_by} {name!r}: "
            f"{type(error).__name__}: {error}.",
            advice="No effect fires by that row, and no other is concerned. Restore or correct it in the database.",
            table=self.table,
            column=column,
            row=str(name),
        )


def text(value: object) -> str:
    """Text."""
    if not isinstance(value, str):
        raise ValueError(f"{type(value).__name__} where text belongs")
    value.encode()  # a driver that lets undecodable bytes through has made surrogates of them
    return value


def number(value: object) -> int:
    """A whole number, which a session that speaks by libpq gets as text."""
    if isinstance(value, int | str):
        return int(value)
    raise ValueError(f"{type(value).__name__} where a number belongs")


def packed(value: object) -> bytes:
    """What a serializer wrote."""
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    raise ValueError(f"{type(value).__name__} where bytes belong")


def moment(value: object) -> str:
    """A time, in ISO's form."""
    datetime.fromisoformat(text(value))
    return text(value)


def optional(reader: Reader) -> Reader:
    """The same, or nothing."""
    return lambda value: None if value is None else reader(value)


def json_texts(value: object) -> str:
    """A list of texts as JSON."""
    found = json.loads(text(value))
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise ValueError("JSON that is no list of texts")
    return text(value)


def place(*names: str) -> Reader:
    """Where a process runs: a JSON object with at least these names."""

    def read(value: object) -> str:
        found = json.loads(text(value))
        if not isinstance(found, dict) or not found.keys() >= set(names):
            raise ValueError(f"JSON that is no object with {', '.join(names)}")
        inode = found.get("inode")
        if inode is not None and not (isinstance(inode, list) and len(inode) == 2):
            raise ValueError("an inode that is no pair")
        return text(value)

    return read
