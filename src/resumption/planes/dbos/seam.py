"""DBOS's persistence seam: its system database on SQLite, with each write bracketed and named.

Importing this module puts the recorded class where DBOS looks for its own. It stores exactly what the stock one stores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dbos import _sys_db_sqlite

from resumption.history.workload import Effect, Interrupt, Task, Workload
from resumption.planes.interface import Instruments

__all__ = ["RecordedDatabase", "Seam", "effect_step"]


def effect_step(task: str, effect: str) -> str:
    """The name of the step in which a gate fires an effect."""
    return f"{task}/{effect}"


@dataclass(frozen=True, slots=True)
class Seam:
    """Where the storage operations of this process are recorded, and what they cover."""

    workload: Workload
    instruments: Instruments
    waits: Callable[[str], None]
    """Told the id of a workflow that has stored everything that it stores before it waits for a message."""

    def covered(self, record: str) -> list[str]:
        """The tasks whose results are durable once `record` is: the name of a step, or of a receipt."""
        return [task.name for task in self.workload.tasks if last_record(task) == record]


def last_record(task: Task) -> str:
    """What DBOS records last of a task: the step that it is or, of a gate, its last effect or receipt."""
    for step in reversed(task.steps if task.interrupts else ()):
        if isinstance(step, Effect):
            return effect_step(task.name, step.name)
        if isinstance(step, Interrupt):
            return f"recv({step.name})"
    return task.name


class RecordedDatabase(_sys_db_sqlite.SQLiteSystemDatabase):  # type: ignore[misc]  # not installed beside the harness
    """DBOS's `SQLiteSystemDatabase`, recorded. DBOS is one object per process, and so is the seam."""

    seam: Seam

    def init_workflow(self, *args: Any, **kwargs: Any) -> Any:
        """Store that a workflow has begun, with its input, in its bracket."""
        with self.seam.instruments.persist("init_workflow"):
            return super().init_workflow(*args, **kwargs)

    def record_operation_result(self, result: Any, **kwargs: Any) -> None:
        """Store what a step returned or raised, in its bracket."""
        name = result["function_name"]
        failed = result["error"] is not None
        label = f"step({name}{':error' if failed else ''})"
        with self.seam.instruments.persist(label, [] if failed else self.seam.covered(name)):
            super().record_operation_result(result, **kwargs)

    def recv_consume(self, workflow_uuid: str, function_id: int, topic: str, *args: Any, **kwargs: Any) -> Any:
        """Store that a workflow received a message, in its bracket."""
        record = f"recv({topic})"
        with self.seam.instruments.persist(record, self.seam.covered(record)):
            return super().recv_consume(workflow_uuid, function_id, topic, *args, **kwargs)

    def record_sleep(self, workflow_uuid: str, *args: Any, **kwargs: Any) -> float:
        """Store until when a workflow waits for its message, in its bracket, and say that it waits."""
        with self.seam.instruments.persist("sleep"):
            left: float = super().record_sleep(workflow_uuid, *args, **kwargs)
        self.seam.waits(workflow_uuid)
        return left

    def set_event_from_workflow(self, workflow_uuid: str, function_id: int, key: str, *args: Any, **kwargs: Any) -> Any:
        """Store what a workflow publishes, in its bracket."""
        with self.seam.instruments.persist(f"set_event({key})"):
            return super().set_event_from_workflow(workflow_uuid, function_id, key, *args, **kwargs)

    def update_workflow_outcome(self, workflow_id: str, status: str, *args: Any, **kwargs: Any) -> Any:
        """Store how a workflow ended, in its bracket."""
        with self.seam.instruments.persist(f"outcome({status})"):
            return super().update_workflow_outcome(workflow_id, status, *args, **kwargs)

    def send_bulk(self, messages: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        """Store messages, in their bracket."""
        with self.seam.instruments.persist("send"):
            return super().send_bulk(messages, *args, **kwargs)

    def fork_workflow(self, *args: Any, **kwargs: Any) -> Any:
        """Store a new workflow with another one's steps, in its bracket."""
        with self.seam.instruments.persist("fork_workflow"):
            return super().fork_workflow(*args, **kwargs)


_sys_db_sqlite.SQLiteSystemDatabase = RecordedDatabase
