"""The adapter for Burr: each task of the workload is a typed action of one application.

Burr has no object for a run: whoever wants to go on builds the application again, which reads the latest row of its
`app_id`, and runs it up to the next gate. That is what every operation here does.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import closing
from typing import Any

from burr.core import Application, ApplicationBuilder, ApplicationContext, action
from burr.core import State as BurrState
from burr.core.parallelism import MapActions, SubgraphType
from burr.integrations.pydantic import PydanticTypingSystem
from pydantic import BaseModel

from resumption.history.events import Json, Pending
from resumption.history.workload import Shape, Task, Workload
from resumption.planes.burr.persisters import FILE, SqliteFilePersister
from resumption.planes.forms import by_form
from resumption.planes.interface import (
    Address,
    Call,
    Completed,
    Decision,
    Handle,
    Instruments,
    Outcome,
    Parked,
    Snapshot,
    Store,
)
from resumption.planes.tasks import appended, perform

__all__ = ["ApplicationRun", "State", "open_run", "tamper"]

_FAN_OUT = "fan-out"
"""The action that runs all tasks at once."""

_INPUT = "decision"
"""The input that every gate declares."""


class State(BaseModel):
    """The application's state, with the types that Burr checks behind each action."""

    trail: list[str] = []


def open_run(workload: Workload, store: Store, instruments: Instruments) -> ApplicationRun:
    """Open the workload's run in `store`, as an application; nothing is executed."""
    return ApplicationRun(workload, store, instruments)


def tamper(store: Store) -> None:
    """Make the trail of the run's latest row a number."""
    with closing(sqlite3.connect(store.location / FILE)) as connection, connection:
        latest = "app_id = :app AND sequence_id = (SELECT max(sequence_id) FROM burr_state WHERE app_id = :app)"
        altered = "UPDATE burr_state SET state = json_set(state, '$.trail', 7)"
        connection.execute(f"{altered} WHERE {latest}", {"app": store.thread})


class ApplicationRun:
    """A run of an application under one `app_id`; after a fork, under the fork's."""

    def __init__(self, workload: Workload, store: Store, instruments: Instruments) -> None:
        self._gates = {task.name: task.interrupts[0].name for task in workload.gates()}
        self._app_id = store.thread
        tasks = [task.name for task in workload.tasks]
        self._names = [_FAN_OUT] if workload.shape is Shape.FAN_OUT else tasks
        self._actions = _actions(workload, instruments)
        self._persister = SqliteFilePersister(store.location, tasks, _FAN_OUT, instruments)
        self._persister.initialize()

    def start(self, value: Json) -> Handle:
        """Start the run; `value` is its first state."""
        return Call(lambda: self._run(self._build(value)))

    def deliver(self, decision: Decision) -> Handle:
        """Hand a decision over, as an input of the next action: of this run, or of a fork of it."""
        build = by_form(
            {"inputs": self._build, "fork-from-sequence-id": lambda: self._build_fork(decision)}, decision.form
        )
        return Call(lambda: self._answer(build(), decision))

    def recover(self, form: str) -> Handle:
        """Build the application from its latest row, and let it go on."""
        return Call(by_form({"resume-at-next-action": lambda: self._run(self._build())}, form))

    def inspect(self) -> Snapshot:
        """Return the state and the next action of an application that is built from the latest row."""
        if self._persister.load(None, self._app_id) is None:
            return Snapshot([], (), False)
        application = self._build()
        return Snapshot(application.state.data.trail, self._pending(application), not application.has_next_action())

    def address(self) -> Address:
        """Return the `app_id` and the sequence id of the latest row, and the gate that comes next."""
        stored = self._persister.load(None, self._app_id)
        checkpoint = {"app_id": self._app_id, "sequence_id": stored["sequence_id"] if stored else None}
        pending = self._pending(self._build())
        return Address(checkpoint, {gate.name: gate.identity for gate in pending})

    def close(self) -> None:
        """Close the database file."""
        self._persister.cleanup()

    def _build(self, first: Json = None, fork_of: Json = None) -> Application[Any]:
        """Build the application from its latest row, or from the row that is forked; from `first` if there is none."""
        source: dict[str, Any] = {}
        if fork_of:
            source = {"fork_from_app_id": fork_of["app_id"], "fork_from_sequence_id": fork_of["sequence_id"]}
        return (
            ApplicationBuilder()
            .with_actions(*self._actions)
            .with_transitions(*zip(self._names, self._names[1:], strict=False))
            .with_typing(PydanticTypingSystem(State))
            .with_identifiers(app_id=self._app_id)
            .initialize_from(
                self._persister,
                resume_at_next_action=True,
                default_state=first or {"trail": []},
                default_entrypoint=self._names[0],
                **source,
            )
            .with_state_persister(self._persister)
            .build()
        )

    def _build_fork(self, decision: Decision) -> Application[Any]:
        source = decision.address.checkpoint
        self._app_id = f"{source['app_id']}-{decision.delivery}"
        return self._build(fork_of=source)

    def _run(self, application: Application[Any]) -> Outcome:
        """Run up to the next gate. Burr looks for one only behind an action; its caller does before the first."""
        return self._parked(application) or self._advance(application, {})

    def _answer(self, application: Application[Any], decision: Decision) -> Outcome:
        return self._advance(application, {_INPUT: decision.value})

    def _advance(self, application: Application[Any], inputs: dict[str, Json]) -> Outcome:
        application.run(halt_before=list(self._gates), halt_after=[self._names[-1]], inputs=inputs)
        return self._parked(application) or Completed(application.state.data.trail)

    def _parked(self, application: Application[Any]) -> Parked | None:
        pending = self._pending(application)
        return Parked(pending) if pending else None

    def _pending(self, application: Application[Any]) -> tuple[Pending, ...]:
        coming = application.get_next_action()
        if coming is None or coming.name not in self._gates:
            return ()
        return (Pending(identity=coming.name, name=self._gates[coming.name]),)


def _actions(workload: Workload, instruments: Instruments) -> list[Any]:
    if workload.shape is Shape.SEQUENCE:
        return [_action(task, instruments) for task in workload.tasks]
    # Burr's documentation warns that typed state doesn't work in parallel actions.
    return [_FanOut([_untyped_action(task, instruments) for task in workload.tasks]).with_name(_FAN_OUT)]


def _action(task: Task, instruments: Instruments) -> Any:
    """Return a task as a typed action; a gate is one that needs an input."""

    def plain(state: State) -> State:
        return written(state, perform(task, state.trail, instruments, lambda _: None))

    def gate(state: State, decision: Any) -> State:
        return written(state, perform(task, state.trail, instruments, lambda _: decision))

    def written(state: State, write: Any) -> State:
        state.trail = appended(state.trail, write)
        return state

    body = gate if task.interrupts else plain
    body.__name__ = task.name
    return action.pydantic(reads=["trail"], writes=["trail"])(body)


def _untyped_action(task: Task, instruments: Instruments) -> Any:
    def body(state: BurrState[Any]) -> BurrState[Any]:
        return state.update(trail=perform(task, state["trail"], instruments, lambda _: None))

    body.__name__ = task.name
    return action(reads=["trail"], writes=["trail"])(body)


class _FanOut(MapActions):
    """All tasks at once, each in a sub-application that stores its own state."""

    def __init__(self, tasks: list[Any]) -> None:
        super().__init__()
        self._tasks = tasks

    @property
    def reads(self) -> list[str]:
        return ["trail"]

    @property
    def writes(self) -> list[str]:
        return ["trail"]

    def actions(
        self, state: BurrState[Any], context: ApplicationContext, inputs: dict[str, Any]
    ) -> Generator[SubgraphType, None, None]:
        yield from self._tasks

    def state(self, state: BurrState[Any], inputs: dict[str, Any]) -> BurrState[Any]:
        return state

    def reduce(self, state: BurrState[Any], states: Any) -> BurrState[Any]:
        return state.update(trail=[entry for sub in states for entry in sub["trail"]])
