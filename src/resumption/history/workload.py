"""The abstract program that a protocol runs, and that every adapter turns into a real program of its framework.

A workload is a list of tasks in some shape; a task is a short list of steps. The state is one list of strings, the
*trail*, to which each task appends its name when it ends, and a gate `name=decision`. The trail therefore says which
tasks counted, in which order, and with which decision.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Corrupt", "Effect", "Interrupt", "Shape", "Step", "Task", "Work", "Workload", "WriteFault", "marker"]


class WriteFault(StrEnum):
    """How a task's write breaks the state schema (a list of strings)."""

    NULL_ITEM = "null-item"
    """The written list holds None."""
    NULL = "null"
    """None is written instead of a list."""
    WRONG_TYPE = "wrong-type"
    """A number is written instead of a list."""
    UNSERIALISABLE = "unserialisable"
    """The written list holds an object of a class that no codec of a framework knows, nor can import."""


class Shape(StrEnum):
    """How the tasks of a workload are arranged."""

    SEQUENCE = "sequence"
    """One after the other."""
    FAN_OUT = "fan-out"
    """All at once, independent of each other; the trail lists them in their order here."""


@dataclass(frozen=True, slots=True)
class Effect:
    """Fire the external, non-idempotent effect `name`."""

    name: str


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Ask for a decision, and park until one is delivered. `name` is unique in the workload."""

    name: str


@dataclass(frozen=True, slots=True)
class Work:
    """Take `seconds` of time: the slow work of a gated task, which decides how wide a race is."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Corrupt:
    """Make the task's write break the state schema."""

    fault: WriteFault


Step = Effect | Interrupt | Work | Corrupt


@dataclass(frozen=True, slots=True)
class Task:
    """One task: a name and what it does, in order. It writes to the trail when it ends."""

    name: str
    steps: tuple[Step, ...] = ()

    @property
    def interrupts(self) -> tuple[Interrupt, ...]:
        """The interrupts of this task, in order; empty unless it is a gate."""
        return tuple(step for step in self.steps if isinstance(step, Interrupt))

    @property
    def effects(self) -> tuple[Effect, ...]:
        """The effects of this task, in order."""
        return tuple(step for step in self.steps if isinstance(step, Effect))

    @property
    def corrupts(self) -> WriteFault | None:
        """How this task's write breaks the schema, if it does."""
        return next((step.fault for step in self.steps if isinstance(step, Corrupt)), None)


@dataclass(frozen=True, slots=True)
class Workload:
    """A whole abstract program."""

    tasks: tuple[Task, ...]
    shape: Shape = Shape.SEQUENCE

    def task(self, name: str) -> Task:
        """Return the task called `name`; raises `KeyError` if there is none."""
        for task in self.tasks:
            if task.name == name:
                return task
        raise KeyError(name)

    def index(self, name: str) -> int:
        """Return the place of the task called `name`; raises `KeyError` if there is none."""
        return self.tasks.index(self.task(name))

    def gates(self) -> Iterator[Task]:
        """The tasks that ask for a decision, in order."""
        return (task for task in self.tasks if task.interrupts)


def marker(task: Task, decisions: tuple[object, ...]) -> str:
    """Return what `task` appends to the trail when its interrupts received `decisions`."""
    if not decisions:
        return task.name
    return f"{task.name}={'+'.join(str(decision) for decision in decisions)}"
