"""The reference plane's run: what the harness calls."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from resumption.history.events import Json
from resumption.history.workload import Workload
from resumption.planes.interface import (
    Address,
    Call,
    Decision,
    Handle,
    Instruments,
    Outcome,
    Run,
    Snapshot,
    Store,
    unknown_form,
)
from resumption.planes.reference.delivery import Accepted, Answered, Arrival, accept, arrive, settle
from resumption.planes.reference.execution import Execution
from resumption.planes.reference.lease import leased
from resumption.planes.reference.log import Log, create_log, open_log, read_log
from resumption.planes.reference.program import Program
from resumption.planes.reference.refusals import Refused, RunRefusal
from resumption.planes.reference.rules import REFERENCE, Refusal, Rules
from resumption.planes.reference.sight import Sight
from resumption.planes.reference.spec import ANSWER, BARE, FORK, RECOVER
from resumption.planes.reference.tampering import lose_leases, tamper

__all__ = ["PATIENCE_SECONDS", "ReferenceRun", "lose_leases", "open_run", "tamper"]

PATIENCE_SECONDS = 60.0
"""How long an operation waits for its turn on a thread before it is refused as busy."""


def open_run(workload: Workload, store: Store, instruments: Instruments) -> Run:
    """Open a run under the rules of the contract."""
    return ReferenceRun(workload, store, instruments, REFERENCE)


@dataclass(frozen=True, slots=True)
class ReferenceRun:
    """A run of the reference plane, under some rules. It keeps nothing in memory: each operation opens the log."""

    workload: Workload
    store: Store
    instruments: Instruments
    rules: Rules

    def start(self, value: Json) -> Handle:
        """Start the run with an input; its `trail` is the first content of the trail."""
        return Call(partial(self._start, value))

    def deliver(self, decision: Decision) -> Handle:
        """Hand a decision over."""
        if decision.form not in (ANSWER.name, BARE.name, FORK.name):
            raise unknown_form(decision.form)
        return Call(partial(self._deliver, decision))

    def recover(self, form: str) -> Handle:
        """Let every attempt of the run go on from its durable records."""
        if form != RECOVER.name:
            raise unknown_form(form)
        return Call(self._recover)

    def inspect(self) -> Snapshot:
        """Read trail, pending interrupts, and whether the run is finished, of the attempt acted upon last."""
        self.rules.inspects(self.store.location, self.instruments)
        return self._snapshot()

    def address(self) -> Address:
        """Return the identities of the pending interrupts."""
        return Address(requests={pending.name: pending.identity for pending in self._snapshot().pending})

    def copy_store(self, location: Path) -> str:
        """Copy the log and what stands beside it, file by file."""
        digest = hashlib.sha256()
        for path in sorted(self.store.location.iterdir()):
            data = path.read_bytes()
            (location / path.name).write_bytes(data)
            digest.update(f"{path.name} {len(data)}\n".encode() + data)
        return digest.hexdigest()

    def close(self) -> None:
        """Nothing is held between operations."""

    def _snapshot(self) -> Snapshot:
        with read_log(self.store.location, self.store.thread) as log:
            if log is None or log.head() is None:
                return Snapshot([], (), False)
            sight = self._current(log)
            return self.rules.shows(Snapshot(sight.trail(sight.program.tasks), sight.pending(), sight.finished()))

    def _start(self, value: Json) -> Outcome:
        create_log(self.store.location)
        with open_log(self.store.location, self.store.thread) as log:
            with log.deciding():
                if log.head() is not None:
                    raise Refused(RunRefusal.ALREADY_STARTED, self.store.thread)
                # Not announced as a storage operation: until it is durable there is no run that a crash could hurt.
                log.begin(Program(self.workload).topology, value)
                log.commit()
            with self._leased(log, PATIENCE_SECONDS) as fence:
                return self._execution(log, 1, fence).advance()

    def _recover(self) -> Outcome:
        with self._opened() as log, self._leased(log, PATIENCE_SECONDS, excludes=self.rules.excludes) as fence:
            crashed = [attempt for attempt in log.attempts() if not self._sight(log, attempt).at_rest()]
            if crashed and not self.rules.recovers:
                raise Refused(RunRefusal.NOT_RECOVERED, self.store.thread)
            forgotten = self.rules.forgets(self.workload, self.store.location) if crashed else frozenset()
            for attempt in crashed:
                execution = self._execution(log, attempt, fence, forgotten)
                if self.rules.drops:
                    execution.drop()
                execution.advance()
            return self._current(log).outcome()

    def _deliver(self, decision: Decision) -> Outcome:
        with self._opened() as log:
            arrival = None
            if log.delivery(decision.delivery) is None:
                try:
                    arrival = arrive(self._current(log), decision)
                except Refused as error:
                    return self._refused(log, decision, error, raced=_executing(log))
            for patience in (0.0, PATIENCE_SECONDS):
                with self._leased(log, patience) as fence:
                    outcome = self._served(log, decision, arrival, fence)
                if outcome is not None:
                    return outcome
            raise Refused(RunRefusal.BUSY, self.store.thread)

    def _served(self, log: Log, decision: Decision, arrival: Arrival | None, fence: int | None) -> Outcome | None:
        """Decide a delivery and execute it; None if it has to wait for the lease."""
        try:
            with log.deciding():
                served = accept(self._current(log), arrival, decision, self.instruments, leased=fence is not None)
        except Refused as error:
            raced = arrival is not None and (arrival.pending or (fence is None and _executing(log)))
            return self._refused(log, decision, error, raced=raced)
        match served:
            case Answered(outcome):
                return outcome
            case Accepted(attempt):
                execution = self._execution(log, attempt, fence, self.rules.rewinds(self.workload))
                outcome = execution.advance()
                settle(execution.sight, decision, outcome, self.instruments)
                return outcome
            case None:
                return None

    def _refused(self, log: Log, decision: Decision, error: Refused, *, raced: bool) -> Outcome:
        gate = Program(self.workload).gate(decision.target)
        self.rules.refuse(Refusal(error=error, decision=decision, gate=gate, raced=raced, instruments=self.instruments))
        return self._current(log).outcome()

    @contextmanager
    def _opened(self) -> Iterator[Log]:
        """Open the log of a run that was started with this program."""
        with read_log(self.store.location, self.store.thread) as log:
            head = None if log is None else log.head()
        if head is None:
            raise Refused(RunRefusal.NOT_STARTED, self.store.thread)
        if head.topology != Program(self.workload).topology:
            raise Refused(RunRefusal.TOPOLOGY_CHANGED, self.store.thread)
        with open_log(self.store.location, self.store.thread) as opened:
            yield opened

    def _leased(self, log: Log, patience: float, *, excludes: bool = True) -> AbstractContextManager[int | None]:
        return leased(log, self.store.location, self.instruments, patience=patience, excludes=excludes)

    def _execution(
        self, log: Log, attempt: int, fence: int | None, forgotten: frozenset[str] = frozenset()
    ) -> Execution:
        if fence is None:
            raise Refused(RunRefusal.BUSY, self.store.thread)
        return Execution(self._sight(log, attempt), self.instruments, fence, set(forgotten))

    def _sight(self, log: Log, attempt: int) -> Sight:
        return Sight(log, Program(self.workload), self.rules, attempt)

    def _current(self, log: Log) -> Sight:
        """What the attempt sees that was acted upon last."""
        head = log.head()
        if head is None:
            raise Refused(RunRefusal.NOT_STARTED, self.store.thread)
        return self._sight(log, head.attempt)


def _executing(log: Log) -> bool:
    """Whether an executor is on record for the thread."""
    head = log.head()
    return head is not None and head.holder is not None
