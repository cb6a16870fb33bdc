"""The plane's side of the lockstep: take one action of the model, and say which state of the model this is.

An operation of the plane does more than one action, so it is stopped where the action ends, by an exception at a point
that its instruments pass. The plane keeps nothing in memory between operations, so going on after such a stop is going
on. A crash is a stop at the start of a task, before anything of it is stored.
"""

from __future__ import annotations

import shutil
import sqlite3
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from resumption.history.events import Intent, Json
from resumption.history.workload import Effect, Interrupt, Task, Workload
from resumption.model.semantics import NOTHING, Bounds, Record, Recovery, State
from resumption.planes.interface import Address, Decision, Store
from resumption.planes.reference.adapter import ReferenceRun
from resumption.planes.reference.log import Kind, Log, read_log
from resumption.planes.reference.program import Program
from resumption.planes.reference.rules import Rules
from resumption.planes.reference.sight import Sight, identity_of
from resumption.planes.reference.spec import ANSWER, FORK, RECOVER

__all__ = ["Driven", "Implementation"]

_GATE = "gate"
_MAIN = 1  # the attempt that a run begins on
_FILE = "reference.db"


class _Stop(BaseException):
    """Ends an operation where the action ends, as a kill would."""


@dataclass(slots=True)
class _Bench:
    """Instruments that note what started and fired, and stop an operation at a point."""

    at_start: bool = False
    """Stop when the body of a task starts."""
    at_record: bool = False
    """Stop when a task's completion is durable."""
    started: list[int] = field(default_factory=list)
    fired: list[int] = field(default_factory=list)

    @contextmanager
    def task(self, name: str, trail: Json) -> Iterator[_Bench]:
        self.started.append(int(name))
        if self.at_start:
            raise _Stop
        yield self

    def wrote(self, write: Json) -> None:
        """Nothing: a write is read from the store."""

    def consume(self, task: str, interrupt: str, value: Json) -> None:
        """Nothing: what a gate received is read from the mark that it left on the trail."""

    def fire(self, effect: str, *, task: str, value: Json) -> None:
        self.fired.append(int(effect))

    def work(self, seconds: float) -> None:
        """Nothing: no task of these workloads is slow."""

    @contextmanager
    def persist(self, name: str, covers: Sequence[str] = ()) -> Iterator[None]:
        yield
        if self.at_record and covers:
            raise _Stop


@dataclass(frozen=True, slots=True)
class Implementation:
    """A state of the plane: its store, what has fired, and what the model remembers but no store does."""

    store: bytes
    effects: tuple[int, ...]
    """How often each task's effect has fired on the first attempt."""
    crashes: int = 0
    recoveries: tuple[Recovery, ...] = ()
    extras: int = 0
    prefix_regress: bool = False


@dataclass(frozen=True, slots=True)
class Driven:
    """The plane at some bounds, in a folder of its own."""

    bounds: Bounds
    folder: Path
    rules: Rules

    def started(self) -> Implementation:
        """The plane when its run has started, and no task has."""
        self._empty()
        with suppress(_Stop):
            self._run(_Bench(at_start=True)).start({"trail": []}).wait()
        return Implementation(self._content(), (0,) * self.bounds.tasks)

    # Actions: each returns the state that it leads to ---------------------------------------------------------------

    def go_on(self, state: Implementation) -> Implementation:
        """`ExecTask` or `EmitInterrupt`, whichever it comes to."""
        bench = _Bench(at_record=True)
        with suppress(_Stop):
            self._restored(state, bench).recover(RECOVER.name).wait()
        return self._after(state, bench)

    def consume(self, state: Implementation, value: int) -> Implementation:
        """`Consume`: a decision, the gate's effect and its record."""
        bench = _Bench(at_record=True)
        with suppress(_Stop):
            self._restored(state, bench).deliver(_decision(value, ANSWER.name)).wait()
        return self._after(state, bench)

    def fork(self, state: Implementation, value: int) -> Implementation:
        """`ForkResume`: the branch runs to its end, and has to fire each of its own effects once."""
        bench = _Bench()
        self._restored(state, bench).deliver(_decision(value, FORK.name)).wait()
        due = list(range(self.bounds.gate, self.bounds.tasks + 1))
        if bench.fired not in ([], due):
            raise AssertionError(f"a fork fired {bench.fired}, not {due}")
        return replace(state, store=self._content())

    def crash(self, state: Implementation) -> Implementation:
        """`CrashRecover`: killed as its next task starts; what the recovery starts with is what it decided."""
        self._crashed_at(state)
        store = self._content()
        durable = self.observed(state).durable
        resumed_at = self._crashed_at(replace(state, store=store))
        return replace(
            state,
            store=self._content(),
            crashes=state.crashes + 1,
            recoveries=(*state.recoveries, Recovery(durable, resumed_at)),
        )

    def extra(self, state: Implementation, value: int) -> Implementation:
        """`ExtraResume`: a decision without fork intent, to a run that is finished."""
        bench = _Bench()
        self._restored(state, bench).deliver(_decision(value, ANSWER.name)).wait()
        return replace(self._after(state, bench), extras=state.extras + 1)

    # Observation ----------------------------------------------------------------------------------------------------

    def observed(self, state: Implementation) -> State:
        """Which state of the model this is."""
        self._restore(state)
        with read_log(self.folder, "run") as log:
            if log is None:
                raise AssertionError("the plane has no store")
            main = self._sight(log, _MAIN)
            recorded = [number for number, task in enumerate(main.program.tasks, 1) if main.record(task)]
            forks = [attempt for attempt in log.attempts() if attempt != _MAIN]
            durable = max(recorded, default=0)
            return State(
                pc=durable + 1,
                effects=state.effects,
                log=tuple(Record(number, _is_valid(main, number)) for number in recorded),
                durable=durable,
                waiting=bool(main.pending()),
                consumed=_decision_of(main),
                fork_values=tuple(_decision_of(self._sight(log, attempt)) for attempt in forks),
                fork_outcomes=tuple(_outcome_of(self._sight(log, attempt), self.bounds.gate) for attempt in forks),
                crashes=state.crashes,
                recoveries=state.recoveries,
                extras=state.extras,
                prefix_regress=state.prefix_regress,
            )

    def key(self, state: Implementation) -> tuple[object, ...]:
        """What tells two states of the plane apart: all that is stored but for fences, holders and delivery names."""
        self._restore(state)
        connection = sqlite3.connect(self.folder / _FILE)
        try:
            rows = [
                sorted(connection.execute(query).fetchall(), key=repr)
                for query in (
                    "SELECT attempt FROM threads",
                    "SELECT attempt, parent, forked_at FROM attempts",
                    "SELECT attempt, kind, place, name, value FROM journal",
                )
            ]
        finally:
            connection.close()
        return (repr(rows), replace(state, store=b""))

    def _after(self, before: Implementation, bench: _Bench) -> Implementation:
        """The state after an operation, given what it started and fired on the first attempt."""
        store = self._content()
        durable = self.observed(before).durable if bench.started else 0
        return replace(
            before,
            store=store,
            effects=tuple(count + bench.fired.count(task) for task, count in enumerate(before.effects, 1)),
            prefix_regress=before.prefix_regress or any(task <= durable for task in bench.started),
        )

    def _crashed_at(self, state: Implementation) -> int:
        """Go on, and be killed when a task starts; its number, or 0 if none does."""
        bench = _Bench(at_start=True)
        with suppress(_Stop):
            self._restored(state, bench).recover(RECOVER.name).wait()
        return bench.started[0] if bench.started else 0

    # The store ------------------------------------------------------------------------------------------------------

    def _workload(self) -> Workload:
        """The model's run: tasks in a row, each with an effect, and one of them behind a gate."""
        numbers = range(1, self.bounds.tasks + 1)
        asks = {self.bounds.gate: (Interrupt(_GATE),)}
        return Workload(tuple(Task(str(number), (*asks.get(number, ()), Effect(str(number)))) for number in numbers))

    def _run(self, bench: _Bench) -> ReferenceRun:
        return ReferenceRun(self._workload(), Store("sqlite", self.folder), bench, self.rules)

    def _restored(self, state: Implementation, bench: _Bench) -> ReferenceRun:
        self._restore(state)
        return self._run(bench)

    def _restore(self, state: Implementation) -> None:
        self._empty()
        (self.folder / _FILE).write_bytes(state.store)

    def _empty(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    def _content(self) -> bytes:
        return (self.folder / _FILE).read_bytes()

    def _sight(self, log: Log, attempt: int) -> Sight:
        return Sight(log, Program(self._workload()), self.rules, attempt)


def _decision(value: int, form: str) -> Decision:
    address = Address(requests={_GATE: identity_of(_GATE, _MAIN)})
    return Decision(
        value=value, target=_GATE, address=address, form=form, intent=Intent.ANSWER, delivery=uuid.uuid4().hex
    )


def _decision_of(sight: Sight) -> int:
    """The decision that was recorded on an attempt."""
    ((_, place),) = (found for task in sight.program.tasks for found in sight.program.interrupts_of(task).items())
    recorded = next((row for row in sight.log.at(Kind.DECISION, place) if row.attempt == sight.attempt), None)
    return NOTHING if recorded is None else int(recorded.value)


def _outcome_of(sight: Sight, gate: int) -> int:
    """The decision that an attempt's gate acted upon, by the mark that it left on the trail."""
    record = sight.record(sight.program.tasks[gate - 1])
    return NOTHING if record is None else int(record.value[0].split("=")[1])


def _is_valid(sight: Sight, number: int) -> bool:
    """Whether the recorded write of a task satisfies the state schema."""
    record = sight.record(sight.program.tasks[number - 1])
    return record is not None and isinstance(record.value, list) and all(isinstance(item, str) for item in record.value)
