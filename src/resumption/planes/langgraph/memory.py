"""The in-memory savers of this process: what stands for durable storage on the backends that end with it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from resumption.planes.langgraph.savers import AsyncMemorySaver, MemorySaver, Seam

__all__ = ["copy_saver", "saver_at"]

_SAVERS: dict[Path, MemorySaver | AsyncMemorySaver] = {}
"""By the location of their store."""


def saver_at(location: Path, kind: type[MemorySaver | AsyncMemorySaver], seam: Seam) -> MemorySaver | AsyncMemorySaver:
    """The saver of the store at a location, which stays for the next run of this process."""
    saver = _SAVERS.setdefault(location, kind())
    saver.seam = seam
    return saver


def copy_saver(source: Path, target: Path) -> str:
    """Copy what a saver holds to the store at another location. Returns the SHA-256 of the copy's content.

    All that the three dictionaries hold is serialised already, and never changed in place.
    """
    original = _SAVERS[source]
    copy = _SAVERS[target] = type(original)()
    for thread, namespaces in original.storage.items():
        for namespace, checkpoints in namespaces.items():
            copy.storage[thread][namespace].update(checkpoints)
    for place, writes in original.writes.items():
        copy.writes[place].update(writes)
    copy.blobs.update(original.blobs)
    content = [_canonical(part) for part in (copy.storage, copy.writes, copy.blobs)]
    return hashlib.sha256(repr(content).encode()).hexdigest()


def _canonical(content: Any) -> Any:
    """The content of dictionaries in dictionaries, in the order of their keys."""
    if not isinstance(content, Mapping):
        return content
    return sorted(((repr(key), _canonical(value)) for key, value in content.items()), key=lambda item: item[0])
