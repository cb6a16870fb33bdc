"""A saver that the guard doesn't know: a file for each checkpoint, and one for all that a task wrote at once.

At once matters: a saver that can tear a call of `put_writes` apart loses work, guarded or not.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from langgraph.checkpoint.base import WRITES_IDX_MAP, BaseCheckpointSaver, CheckpointTuple


class FileSaver(BaseCheckpointSaver[int]):
    """Checkpoints in a folder, by blocking calls and by coroutines."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def read(self, path: Path) -> Any:
        """A method of its own, of a name that a mixin might want."""
        kind, text = json.loads(path.read_text())
        return self.serde.loads_typed((kind, base64.b64decode(text)))

    def write(self, path: Path, value: Any) -> None:
        kind, blob = self.serde.dumps_typed(value)
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f"{path.name}.{os.getpid()}")
        unfinished.write_text(json.dumps([kind, base64.b64encode(blob).decode()]))
        unfinished.replace(path)

    def get_tuple(self, config: Any) -> CheckpointTuple | None:
        where = config["configurable"]
        return next(self.list({"configurable": {"checkpoint_ns": "", **where}}, limit=1), None)

    def list(self, config: Any, *, filter: Any = None, before: Any = None, limit: Any = None) -> Iterator[Any]:
        where = config["configurable"]
        wanted = (quote(where[key], safe="") if key in where else "*" for key in ("thread_id", "checkpoint_ns"))
        name = where.get("checkpoint_id") or "*"
        paths = self.folder.glob("/".join([*(f"@{part}" for part in wanted), f"{name}.checkpoint"]))
        newest = sorted(paths, key=lambda path: path.stem, reverse=True)
        if before is not None:
            newest = [path for path in newest if path.stem < before["configurable"]["checkpoint_id"]]
        for path in newest[:limit]:
            place, checkpoint, metadata, parent = self.read(path)
            above = {"configurable": {**place, "checkpoint_id": parent}} if parent else None
            here = {"configurable": {**place, "checkpoint_id": checkpoint["id"]}}
            yield CheckpointTuple(here, checkpoint, metadata, above, self._writes(path.with_suffix(".writes")))

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        where = config["configurable"]
        place = {"thread_id": where["thread_id"], "checkpoint_ns": where.get("checkpoint_ns", "")}
        path = self._path(place, checkpoint["id"])
        self.write(path, (place, checkpoint, dict(metadata), where.get("checkpoint_id")))
        return {"configurable": {**place, "checkpoint_id": checkpoint["id"]}}

    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        where = config["configurable"]
        folder = self._path(where, where["checkpoint_id"]).with_suffix(".writes")
        batch = len(list(folder.glob(f"{task_id}.*")))
        indexed = [
            (WRITES_IDX_MAP.get(channel, number), channel, value) for number, (channel, value) in enumerate(writes)
        ]
        self.write(folder / f"{task_id}.{batch:04}.write", (task_id, indexed))

    def get_next_version(self, current: Any, channel: Any) -> int:
        return (current or 0) + 1

    async def aget_tuple(self, config: Any) -> CheckpointTuple | None:
        return await asyncio.to_thread(self.get_tuple, config)

    async def alist(self, config: Any, **options: Any) -> AsyncIterator[Any]:
        for found in self.list(config, **options):
            yield found

    async def aput(self, *args: Any) -> Any:
        return await asyncio.to_thread(self.put, *args)

    async def aput_writes(self, *args: Any) -> None:
        await asyncio.to_thread(self.put_writes, *args)

    def _writes(self, folder: Path) -> list[tuple[str, str, Any]]:
        found: dict[tuple[str, int], tuple[str, str, Any]] = {}
        for path in sorted(folder.glob("*.write")):
            task, indexed = self.read(path)
            found.update({(task, index): (task, channel, value) for index, channel, value in indexed})
        return [found[at] for at in sorted(found)]

    def _path(self, place: Any, identity: str) -> Path:
        namespace = quote(place.get("checkpoint_ns", ""), safe="")
        return self.folder / f"@{quote(place['thread_id'], safe='')}" / f"@{namespace}" / f"{identity}.checkpoint"
