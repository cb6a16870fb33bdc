"""The adapter for the Agent Development Kit: each task of the workload is a function node of a workflow.

Its output, a pydantic model that holds the trail, is the next node's input. Nothing but the session's events outlives
an operation, and the workflow rebuilds itself from them.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import warnings
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import closing
from typing import Any

from google.adk.agents.context import Context
from google.adk.apps import App, ResumabilityConfig
from google.adk.events import Event, RequestInput
from google.adk.runners import Runner
from google.adk.workflow import FunctionNode, JoinNode, Workflow
from google.genai.types import Content, FunctionResponse, Part
from pydantic import BaseModel

from resumption.history.events import Json, Pending
from resumption.history.workload import Interrupt, Shape, Task, Workload
from resumption.planes.google_adk.sessions import FILE, SqliteFileSessions, node_of
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
    unknown_form,
)
from resumption.planes.tasks import Asked, appended, perform

__all__ = ["SessionRun", "Trail", "open_run", "tamper"]

_APP = "workload"
_USER = "user"
_JOIN = "join"
_GATHER = "gather"
_REQUEST = "adk_request_input"
"""The name of the function call by which the framework asks for input."""

warnings.filterwarnings("ignore", message=r"\[EXPERIMENTAL\]")  # resumability is experimental, and says so at each use


class Trail(BaseModel):
    """What flows from node to node: the schema of each node's input and output."""

    trail: list[str] = []


def open_run(workload: Workload, store: Store, instruments: Instruments) -> SessionRun:
    """Open the workload's run in `store`, as an invocation of a session; nothing is executed."""
    return SessionRun(workload, store, instruments)


def tamper(store: Store) -> None:
    """Make the trail of the session's latest output a number."""
    with closing(sqlite3.connect(store.location / FILE)) as connection, connection:
        outputs = "session_id = :session AND json_type(event_data, '$.output.trail') IS NOT NULL"
        connection.execute(
            "UPDATE events SET event_data = json_set(event_data, '$.output.trail', 7)"
            f" WHERE rowid = (SELECT max(rowid) FROM events WHERE {outputs})",
            {"session": store.thread},
        )


class SessionRun:
    """A run of a workflow: the one invocation of a session."""

    def __init__(self, workload: Workload, store: Store, instruments: Instruments) -> None:
        self._workload = workload
        self._session = store.thread
        self._open_sessions = lambda: SqliteFileSessions(
            store.location, [task.name for task in workload.tasks], instruments
        )
        self._instruments = instruments

    def start(self, value: Json) -> Handle:
        """Start the run; `value` is the user's message."""
        return self._call(lambda: self._run(None, Content(role="user", parts=[Part(text=json.dumps(value))])))

    def deliver(self, decision: Decision) -> Handle:
        """Hand decisions over, each as the function response to its request."""
        if decision.form not in ("function-response", "second-response"):
            raise unknown_form(decision.form)
        responses = [
            FunctionResponse(id=request, name=_REQUEST, response={"result": value})
            for request, value in decision.responses.items()
        ]
        message = Content(role="user", parts=[Part(function_response=response) for response in responses])
        return self._call(lambda: self._run(decision.address.checkpoint, message))

    def recover(self, form: str) -> Handle:
        """Run the invocation again; one that was never stored can only be started."""
        if form != "invocation-id":
            raise unknown_form(form)
        invocation = self.address().checkpoint
        return self._call(lambda: self._run(invocation, None)) if invocation else self.start({"trail": []})

    def inspect(self) -> Snapshot:
        """Return what the session's events say: the last output, the requests without response, and the end."""
        events = self._events()
        finished = bool(events) and bool(events[-1].actions.end_of_agent)
        return Snapshot(_last_output(events), _pending(events), finished)

    def address(self) -> Address:
        """Return the id of the invocation, and those of the requests that have no response."""
        events = self._events()
        requests = {pending.name: pending.identity for pending in _pending(events)}
        return Address(events[0].invocation_id if events else None, requests)

    def close(self) -> None:
        """Nothing is held between operations."""

    def _events(self) -> list[Event]:
        async def read() -> list[Event]:
            sessions = self._open_sessions()
            session = await sessions.get_session(app_name=_APP, user_id=_USER, session_id=self._session)
            return session.events if session else []

        return asyncio.run(read())

    def _call(self, operation: Callable[[], Coroutine[Any, Any, None]]) -> Call:
        def call() -> Outcome:
            asyncio.run(operation())
            events = self._events()
            pending = _pending(events)
            return Parked(pending) if pending else Completed(_last_output(events))

        return Call(call)

    async def _run(self, invocation: str | None, message: Content | None) -> None:
        app = App(
            name=_APP,
            root_agent=_workflow(self._workload, self._instruments),
            resumability_config=ResumabilityConfig(is_resumable=True),
        )
        runner = Runner(app=app, session_service=self._open_sessions(), auto_create_session=True)
        running = runner.run_async(
            user_id=_USER, session_id=self._session, invocation_id=invocation, new_message=message
        )
        async for _ in running:
            pass


def _pending(events: list[Event]) -> tuple[Pending, ...]:
    """The requests for input that no response names, as a client finds them."""
    calls = [call for event in events for call in event.get_function_calls() if call.name == _REQUEST]
    answered = {response.id for event in events for response in event.get_function_responses()}
    return tuple(
        Pending(identity=identity, name=name)
        for identity, name in {call.id: call.args["message"] for call in calls}.items()
        if identity not in answered
    )


def _last_output(events: list[Event]) -> Json:
    outputs = [event.output["trail"] for event in events if event.output and node_of(event) != _JOIN]
    return outputs[-1] if outputs else []


def _workflow(workload: Workload, instruments: Instruments) -> Workflow:
    nodes = [_node(task, instruments) for task in workload.tasks]
    if workload.shape is Shape.SEQUENCE:
        return Workflow(name=_APP, edges=[("START", *nodes)])

    def gather(node_input: dict[str, Trail]) -> Trail:
        return Trail(trail=[entry for task in workload.tasks for entry in node_input[task.name].trail])

    joined = JoinNode(name=_JOIN)
    end = FunctionNode(func=gather, name=_GATHER)
    return Workflow(name=_APP, edges=[*[("START", node, joined) for node in nodes], (joined, end)])


def _node(task: Task, instruments: Instruments) -> FunctionNode:
    """Return a task as a node; one that asks runs again from its first line when it was answered."""

    async def body(ctx: Context, node_input: Trail) -> AsyncGenerator[Trail, None]:
        def ask(question: Interrupt) -> Json:
            if _identity(question) in ctx.resume_inputs:
                return ctx.resume_inputs[_identity(question)]
            raise Asked(question)

        try:
            write = perform(task, node_input.trail, instruments, ask)
        except Asked as asked:
            question = asked.interrupt
            yield RequestInput(interrupt_id=_identity(question), message=question.name, response_schema=str)
            return
        yield {"trail": appended(node_input.trail, write)}  # type: ignore[misc]  # the framework makes a model of it, and checks it

    return FunctionNode(func=body, name=task.name, rerun_on_resume=bool(task.interrupts))


def _identity(question: Interrupt) -> str:
    """The id of a request. It has to be the same when the node runs again, so the framework can't choose it."""
    return f"{question.name}-1"
