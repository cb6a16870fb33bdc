"""Running the tasks of one attempt, under a lease, from what is durable to the next gate or to the end."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from resumption.decide.commit import Commit
from resumption.decide.recover import Recovery, runs
from resumption.history.events import Json
from resumption.history.workload import Interrupt, Task
from resumption.planes.interface import Instruments, Outcome, TaskSpan
from resumption.planes.reference.log import WRITES, Kind, Row
from resumption.planes.reference.refusals import Refused, RunRefusal
from resumption.planes.reference.rules import is_trail
from resumption.planes.reference.sight import Sight
from resumption.planes.tasks import perform

__all__ = ["Execution"]


class _Asked(BaseException):
    """Leaves a task's body at a gate that has no decision; what was asked is on record."""


@dataclass(slots=True)
class Execution:
    """One attempt, being executed under the lease with this fence."""

    sight: Sight
    instruments: Instruments
    fence: int
    forgotten: set[str] = field(default_factory=set)
    """Tasks whose records are left out of account, until they have run again; empty but under a fault."""

    def advance(self) -> Outcome:
        """Go on until nothing more can run: parked, or finished. Raises `Refused` for a write that can't be stored."""
        for task in self.sight.program.tasks:
            decided = self._decided(task)
            if decided is Recovery.WAITS:
                raise Refused(Commit.OUT_OF_ORDER, task.name)
            parked = decided is Recovery.PARKED or (runs(decided) and not self._run(task))
            if parked and not self.sight.program.fans_out:
                break
        return self.sight.outcome()

    def drop(self) -> None:
        """Record the tasks that are to run next as done, up to a gate, without running them: what a fault does."""
        for task in self.sight.program.tasks:
            if self._decided(task) is Recovery.RUNS:
                self.record(Kind.TASK, task, self.sight.program.end_of(task), task.name, [])

    def _decided(self, task: Task) -> Recovery:
        return self.sight.rules.recover(
            recorded=self.sight.record(task) is not None and task.name not in self.forgotten,
            missing=self.sight.missing_before(task),
            gates=len(task.interrupts),
            asked=self.sight.asked(task),
            answered=self.sight.answered(task),
        )

    def _run(self, task: Task) -> bool:
        """Run a task; False if it parked."""
        program = self.sight.program
        trail = self.sight.trail(program.tasks if self.sight.rules.splits else program.before(task))
        body = _Journaled(self, task, list(self.sight.program.effects_of(task)))
        try:
            write = perform(task, trail, body, body.ask)
        except _Asked:
            return False
        if self.sight.rules.splits:
            self.record(Kind.STATE, task, program.end_of(task), task.name, write)
        self.record(Kind.TASK, task, program.end_of(task), task.name, write)
        self.forgotten.discard(task.name)
        return True

    def record(self, kind: Kind, task: Task, place: int, name: str, value: Json) -> None:
        """Make one record durable, unless it is there already. Raises `Refused` if it may not be stored."""
        log, covers = self.sight.log, (task.name,) if kind is Kind.TASK else ()
        with log.deciding():
            head = log.head()
            if head is None:
                raise Refused(RunRefusal.NOT_STARTED)
            outcome = self.sight.rules.commit(
                fence=self.fence,
                current_fence=head.fence,
                recorded=self.sight.row(kind, place, name) is not None,
                valid=kind not in WRITES or is_trail(value),
                missing=self.sight.missing_before(task),
            )
            if outcome is Commit.STORED:
                stored = self.sight.rules.stores(value) if kind in WRITES else value
                with self.instruments.persist(f"{kind.value}({name})", covers):
                    log.add(kind, Row(self.sight.attempt, place, name, stored))
                    log.commit()
            elif outcome is not Commit.ALREADY_DURABLE:
                raise Refused(outcome, task.name)


@dataclass(slots=True)
class _Journaled:
    """The instruments as a task's body sees them: an effect that is on record is served from there."""

    execution: Execution
    of: Task
    effects: list[int]
    """Places of the effects that the body hasn't come to yet."""

    def ask(self, interrupt: Interrupt) -> Json:
        """Return the decision for an interrupt, or record that it was asked for and leave."""
        sight = self.execution.sight
        place = sight.program.interrupts_of(self.of)[interrupt.name]
        decision = sight.decision(place, interrupt.name) or self._lent(place)
        if decision is not None:
            return decision.value
        self.execution.record(Kind.INTERRUPT, self.of, place, interrupt.name, sight.rules.asks())
        raise _Asked

    def _lent(self, place: int) -> Row | None:
        """The decision of the task's interrupt before this one, where a fault has it answer this one too."""
        sight = self.execution.sight
        earlier = [item for item in sight.program.interrupts_of(self.of).items() if item[1] < place]
        if not sight.rules.lends or not earlier:
            return None
        name, before = earlier[-1]
        return sight.decision(before, name)

    def fire(self, effect: str, *, task: str, value: Json) -> None:
        """Fire an effect that has no record, and record it."""
        place = self.effects.pop(0)
        recorded = self.execution.sight.row(Kind.EFFECT, place, effect) is not None
        if recorded and task not in self.execution.forgotten:
            return
        self.execution.instruments.fire(effect, task=task, value=value)
        self.execution.record(Kind.EFFECT, self.of, place, effect, None)

    def task(self, name: str, trail: Json) -> AbstractContextManager[TaskSpan]:
        """Bracket the task's body."""
        return self.execution.instruments.task(name, trail)

    def consume(self, task: str, interrupt: str, value: Json) -> None:
        """Say that a gate received a decision."""
        self.execution.instruments.consume(task, interrupt, value)

    def work(self, seconds: float) -> None:
        """Be slow."""
        self.execution.instruments.work(seconds)

    def persist(self, name: str, covers: Sequence[str] = ()) -> AbstractContextManager[None]:
        """Bracket a storage operation."""
        return self.execution.instruments.persist(name, covers)
