"""CrewAI's persistence seams: its own SQLite tables and its own checkpoint files, with each write bracketed and named.

They store exactly what the stock ones store. A process opens one run, so the seam belongs to the classes.
"""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Container, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from crewai.flow.persistence import SQLiteFlowPersistence
from crewai.state.checkpoint_config import CheckpointConfig
from crewai.state.provider.json_provider import JsonProvider

from resumption.history.workload import Workload
from resumption.planes.files import altered
from resumption.planes.interface import Instruments, Store
from resumption.planes.tasks import marked

__all__ = ["CHECKPOINTS", "TABLES", "CheckpointFiles", "RecordedFiles", "RecordedTables", "Seam", "tamper"]

TABLES = "flows.sqlite"
"""The file of a store's tables."""

CHECKPOINTS = "checkpoints"
"""The folder of a store's checkpoint files."""

_BROKEN = 7
"""What stands for the trail in a state that was altered."""


def tamper(store: Store) -> None:
    """Make the trail a number in every state that is stored: in both tables, and in the newest checkpoint."""
    with closing(sqlite3.connect(store.location / TABLES)) as connection, connection:
        for table in ("flow_states", "pending_feedback"):
            connection.execute(f"UPDATE {table} SET state_json = json_set(state_json, '$.trail', {_BROKEN})")
    if latest := CheckpointFiles(store.location / CHECKPOINTS).latest():
        with altered(Path(latest)) as content:
            restored_part(content)["checkpoint_state"]["trail"] = _BROKEN


@dataclass(frozen=True, slots=True)
class Seam:
    """Where the storage operations of this process are recorded, and what they cover."""

    workload: Workload
    instruments: Instruments

    def completed(self, methods: Container[str]) -> list[str]:
        """The tasks that are done once these methods are on record as completed, in program order."""
        return [task.name for task in self.workload.tasks if task.name in methods]


class RecordedTables(SQLiteFlowPersistence):  # type: ignore[misc]  # not installed beside the harness
    """CrewAI's `SQLiteFlowPersistence`, recorded."""

    seam: ClassVar[Seam]

    def save_state(self, flow_uuid: str, method_name: str, state_data: Any) -> None:
        """Store the state after a method, in its bracket."""
        with self.seam.instruments.persist(f"save_state({method_name})", self._covered(state_data)):
            super().save_state(flow_uuid, method_name, state_data)

    def save_pending_feedback(self, flow_uuid: str, context: Any, state_data: Any) -> None:
        """Store the state with a question, in its bracket."""
        name = f"save_pending_feedback({context.method_output})"
        with self.seam.instruments.persist(name, self._covered(state_data)):
            super().save_pending_feedback(flow_uuid, context, state_data)

    def clear_pending_feedback(self, flow_uuid: str) -> None:
        """Remove a question, in its bracket."""
        with self.seam.instruments.persist("clear_pending_feedback"):
            super().clear_pending_feedback(flow_uuid)

    def _covered(self, state: Any) -> list[str]:
        trail = state.get("trail") if isinstance(state, dict) else state.trail
        return marked(self.seam.workload, trail)


class RecordedFiles(JsonProvider):  # type: ignore[misc]  # not installed beside the harness
    """CrewAI's `JsonProvider`, recorded. It writes from threads of CrewAI's event bus, while the flow goes on."""

    seam: ClassVar[Seam]
    numbers: ClassVar[Iterator[int]] = itertools.count(1)
    """What this process's checkpoints are named by: what one holds depends on how far the flow has got meanwhile."""

    def checkpoint(self, data: str, location: str, **options: Any) -> str:
        """Store a checkpoint, in its bracket; durable are the tasks that one of its flows has as completed."""
        flows = json.loads(data)["entities"]
        done = self.seam.completed([name for flow in flows for name in flow["checkpoint_completed_methods"] or ()])
        with self.seam.instruments.persist(f"checkpoint-{next(self.numbers)}", done):
            written: str = super().checkpoint(data, location, **options)
        return written


def restored_part(checkpoint: dict[str, Any]) -> dict[str, Any]:
    """The part of a checkpoint that `from_checkpoint` restores: the first flow in it."""
    found: dict[str, Any] = checkpoint["entities"][0]
    return found


@dataclass(frozen=True, slots=True)
class CheckpointFiles:
    """The checkpoints of one run: a folder of JSON files."""

    folder: Path

    def latest(self) -> str:
        """The path of the newest one, as CrewAI's own command finds it: by the file's time. Empty if there is none."""
        files = sorted(self.folder.rglob("*.json"), key=lambda file: file.stat().st_mtime_ns)
        return str(files[-1]) if files else ""

    def state(self) -> dict[str, Any]:
        """The flow's state in the newest checkpoint; empty if there is none."""
        latest = self.latest()
        if not latest:
            return {}
        return restored_part(json.loads(JsonProvider().from_checkpoint(latest)))["checkpoint_state"] or {}

    def writing(self) -> Any:
        """The configuration with which a flow writes here after each of its methods."""
        return CheckpointConfig(
            location=str(self.folder), on_events=["method_execution_finished"], provider=RecordedFiles()
        )

    def reading(self, checkpoint: str) -> Any:
        """What `from_checkpoint` restores a flow by: a configuration or, before 1.14.2, the path itself."""
        if "restore_from" not in CheckpointConfig.model_fields:
            return checkpoint
        return CheckpointConfig(location=str(self.folder), restore_from=checkpoint)
