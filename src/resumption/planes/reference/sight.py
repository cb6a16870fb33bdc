"""What one attempt may see of a thread's log."""

from __future__ import annotations

from dataclasses import dataclass

from resumption.decide.view import visible
from resumption.history.events import Json, Pending
from resumption.history.workload import Task
from resumption.planes.interface import Completed, Outcome, Parked
from resumption.planes.reference.log import Kind, Log, Row
from resumption.planes.reference.program import Program
from resumption.planes.reference.refusals import Refused, RunRefusal
from resumption.planes.reference.rules import REFERENCE, Rules, ViewRule

__all__ = ["Sight", "identity_of"]


def identity_of(interrupt: str, attempt: int) -> str:
    """The address of an interrupt on an attempt."""
    return f"{interrupt}#{attempt}"


@dataclass(frozen=True, slots=True)
class Sight:
    """One attempt's view of the log."""

    log: Log
    program: Program
    rules: Rules
    attempt: int

    def row(self, kind: Kind, place: int, name: str) -> Row | None:
        """The record of an effect, interrupt or task at a place; None if this attempt has none."""
        return self._first(REFERENCE.view, kind, place, name)

    def decision(self, place: int, interrupt: str) -> Row | None:
        """The recorded decision for an interrupt; None if this attempt has none."""
        return self._first(self.rules.view, Kind.DECISION, place, interrupt)

    def _first(self, rule: ViewRule, kind: Kind, place: int, name: str) -> Row | None:
        shared = self.log.shared_before(self.attempt)
        for row in self.log.at(kind, place):
            outcome = rule(
                interrupt=name,
                attempt=self.attempt,
                position=place,
                recorded_for=row.name,
                recorded_on=row.attempt,
                shared_before=shared.get(row.attempt),
            )
            if visible(outcome):
                return row
        return None

    def record(self, task: Task) -> Row | None:
        """The record of a task's completion; None if this attempt has none."""
        return self.row(Kind.TASK, self.program.end_of(task), task.name)

    def missing_before(self, task: Task) -> int:
        """How many of the tasks that come before this one have no record."""
        return sum(self.record(other) is None for other in self.program.before(task))

    def asked(self, task: Task) -> int:
        """How many interrupts of a task were raised."""
        places = self.program.interrupts_of(task)
        return sum(self.row(Kind.INTERRUPT, place, name) is not None for name, place in places.items())

    def answered(self, task: Task) -> int:
        """How many interrupts of a task have a decision."""
        places = self.program.interrupts_of(task)
        return sum(self.decision(place, name) is not None for name, place in places.items())

    def trail(self, tasks: tuple[Task, ...]) -> Json:
        """The state: the trail of the input, and what `tasks` wrote. Raises `Refused` if that breaks its schema."""
        head = self.log.head()
        given = head.input.get("trail") if head is not None and isinstance(head.input, dict) else None
        trail = list(given) if isinstance(given, list) else []
        for task in tasks:
            record = (
                self.row(Kind.STATE, self.program.end_of(task), task.name) if self.rules.splits else self.record(task)
            )
            if record is not None:
                if not self.rules.trusts(record.value):
                    raise Refused(RunRefusal.STATE_BROKEN, task.name)
                trail += record.value if isinstance(record.value, list) else [record.value]
        return trail

    def pending(self) -> tuple[Pending, ...]:
        """The interrupts that were raised and have no decision."""
        found = []
        for task in self.program.tasks:
            for name, place in self.program.interrupts_of(task).items():
                raised = self.row(Kind.INTERRUPT, place, name)
                if raised is not None and self.rules.keeps(raised.value) and self.decision(place, name) is None:
                    found.append(Pending(identity=identity_of(name, raised.attempt), name=name))
        return tuple(found)

    def finished(self) -> bool:
        """Whether every task has a record."""
        return all(self.record(task) is not None for task in self.program.tasks)

    def at_rest(self) -> bool:
        """Whether each task that can run waits for a decision: no execution of this attempt was cut short."""
        waiting = {pending.name for pending in self.pending()}
        can_run = (task for task in self.program.tasks if self.record(task) is None and not self.missing_before(task))
        return all(waiting & self.program.interrupts_of(task).keys() for task in can_run)

    def outcome(self) -> Outcome:
        """How the run stands on this attempt."""
        if self.finished():
            return Completed(self.trail(self.program.tasks))
        return Parked(self.pending())
