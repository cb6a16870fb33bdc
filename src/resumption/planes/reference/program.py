"""A workload as a line of numbered places, so that "before the fork" is a comparison of two integers."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from resumption.history.workload import Effect, Interrupt, Shape, Task, Workload

__all__ = ["Program"]


@dataclass(frozen=True, slots=True)
class Program:
    """A workload whose steps and task ends are numbered in the order in which a run passes them."""

    workload: Workload

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks, in order."""
        return self.workload.tasks

    @property
    def topology(self) -> str:
        """A digest of the program's shape: what a parked run has to be resumed with."""
        return hashlib.sha256(repr(self.workload).encode()).hexdigest()

    @property
    def fans_out(self) -> bool:
        """Whether no task waits for another; they are run one after the other even so."""
        return self.workload.shape is Shape.FAN_OUT

    def before(self, task: Task) -> tuple[Task, ...]:
        """The tasks that this one waits for, and whose writes it sees."""
        return () if self.fans_out else self.tasks[: self.tasks.index(task)]

    def in_line_with(self, task: Task) -> tuple[Task, ...]:
        """The tasks of which no two can wait for a decision at once, this one among them."""
        return (task,) if self.fans_out else self.tasks

    def start_of(self, task: Task) -> int:
        """The place of the first step of a task."""
        return sum(len(other.steps) + 1 for other in self.tasks[: self.tasks.index(task)])

    def end_of(self, task: Task) -> int:
        """The place at which a task's completion is recorded."""
        return self.start_of(task) + len(task.steps)

    def interrupts_of(self, task: Task) -> dict[str, int]:
        """The places of a task's interrupts, by name."""
        start = self.start_of(task)
        return {step.name: start + i for i, step in enumerate(task.steps) if isinstance(step, Interrupt)}

    def effects_of(self, task: Task) -> tuple[int, ...]:
        """The places of a task's effects, in order."""
        start = self.start_of(task)
        return tuple(start + i for i, step in enumerate(task.steps) if isinstance(step, Effect))

    def gate(self, interrupt: str) -> Task | None:
        """The task that raises an interrupt; None if there is none."""
        return next((task for task in self.tasks if interrupt in self.interrupts_of(task)), None)
