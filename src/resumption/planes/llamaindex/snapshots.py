"""The caller's part of persistence: snapshots of a context in a JSON file, which a new one replaces whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resumption.history.events import Pending
from resumption.history.workload import Workload
from resumption.planes.files import altered, file_of, read, replace
from resumption.planes.interface import Instruments, Store
from resumption.planes.llamaindex.program import question_of, steps_of

__all__ = ["Saving", "SnapshotFile", "is_busy", "tamper"]


@dataclass(frozen=True, slots=True)
class Saving:
    """What the caller saved: the framework's snapshot, and what the caller knows beside it."""

    context: Mapping[str, Any]
    waiting: tuple[Pending, ...]
    """The questions that a person was asked, if the run waits for one."""
    finished: bool


class SnapshotFile:
    """The file of one run."""

    def __init__(self, path: Path, workload: Workload, instruments: Instruments) -> None:
        self._path = path
        self._workload = workload
        self._instruments = instruments

    def save(self, label: str, saving: Saving) -> None:
        """Replace the newest snapshot, in its bracket. Raises `TypeError` for what isn't JSON."""
        text = json.dumps(
            {
                "context": saving.context,
                "waiting": [[question.identity, question.name] for question in saving.waiting],
                "finished": saving.finished,
            }
        )
        with self._instruments.persist(f"save({label})", self._covered(saving)):
            replace(self._path, text)

    def load(self) -> Saving | None:
        """Return the newest snapshot; None if there is none."""
        held = read(self._path)
        if held is None:
            return None
        waiting = tuple(Pending(identity=identity, name=name) for identity, name in held["waiting"])
        return Saving(held["context"], waiting, held["finished"])

    def asked(self, context: Mapping[str, Any]) -> tuple[Pending, ...]:
        """The questions that a snapshot waits with: those that steps returned, and those that steps wait at."""
        names = {question_of(task, asked): asked.name for task in self._workload.tasks for asked in task.interrupts}
        waiters = (waiter for worker in context["workers"].values() for waiter in worker["collected_waiters"])
        waited = [waiter["waiter_id"] for waiter in waiters if waiter["resolved_event"] is None]
        return tuple(Pending(identity=asked, name=names[asked]) for asked in [*_state(context)["asked"], *waited])

    def _covered(self, saving: Saving) -> list[str]:
        """The tasks whose write is in a snapshot, and of which no step is to run again."""
        ended = _state(saving.context)["ended"]
        workers = saving.context["workers"]
        return [
            task.name
            for task in self._workload.tasks
            if task.name in ended and not any(_is_open(workers[name]) for name in steps_of(task) if name in workers)
        ]


def is_busy(context: Mapping[str, Any]) -> bool:
    """Whether a step runs or is to run, as far as a snapshot shows: older ones don't hold events on their way."""
    return bool(context.get("deliveries")) or any(_is_open(worker) for worker in context["workers"].values())


def _state(context: Mapping[str, Any]) -> dict[str, Any]:
    state: dict[str, Any] = json.loads(context["state"]["state_data"])["value"]
    return state


def _is_open(worker: Mapping[str, Any]) -> bool:
    """Whether a step is to run when its snapshot is restored."""
    return bool(worker["queue"] or worker["in_progress"])


def tamper(store: Store) -> None:
    """Make the trail of the newest snapshot a number."""
    with altered(file_of(store)) as held:
        state = held["context"]["state"]
        data = json.loads(state["state_data"])
        data["value"]["trail"] = 7
        state["state_data"] = json.dumps(data)
