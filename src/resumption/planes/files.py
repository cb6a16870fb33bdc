"""What adapters share that keep a run in JSON files: where those are, and how they are replaced and altered."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from resumption.planes.interface import Store

__all__ = ["NothingSaved", "altered", "file_of", "read", "replace"]


class NothingSaved(Exception):
    """There is nothing on file to go on from: a caller's own refusal."""


def file_of(store: Store, suffix: str = "") -> Path:
    """The file of a run or, with a suffix, of a fork of it."""
    return store.location / f"{store.thread}{suffix}.json"


def read(path: Path) -> Any:
    """What a file holds; None if there is no file."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def replace(path: Path, text: str) -> None:
    """Put a text in the place of what a file holds, as a careful caller saves: a reader finds the old or the new."""
    beside = path.with_suffix(".new")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, path)


@contextmanager
def altered(path: Path) -> Iterator[Any]:
    """Alter in the block what a file holds, in its place, as an editor would: not even the file is another one."""
    held = json.loads(path.read_text(encoding="utf-8"))
    yield held
    path.write_text(json.dumps(held), encoding="utf-8")
