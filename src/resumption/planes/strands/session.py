"""The adapter for Strands Agents: each task of the workload is a tool, and the trail is what the tools answered.

Every operation builds a new agent, which the session's manager restores from its latest snapshot, as a server does that
takes one request after the other.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from strands import Agent, tool
from strands.hooks import AfterToolCallEvent
from strands.session import SnapshotSessionManager
from strands.storage import LocalFileStorage
from strands.types.tools import ToolContext

from resumption.history.events import Json, Pending
from resumption.history.workload import Shape, Task, Workload
from resumption.planes.brackets import beside_the_loop
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
from resumption.planes.strands.script import Script, results_in
from resumption.planes.tasks import perform

__all__ = ["SessionRun", "open_run"]

_PROMPTS = {"no-prompt": None, "new-message": "continue"}


def open_run(workload: Workload, store: Store, instruments: Instruments) -> SessionRun:
    """Open the workload's run in `store`, as a session that is saved after each invocation; nothing is executed."""
    return SessionRun(workload, store, instruments, save_latest_on="invocation")


class _Storage(LocalFileStorage):
    """Strands' `LocalFileStorage`, recorded. A task is durable when a snapshot holds its tool's result."""

    def __init__(self, folder: Path, instruments: Instruments) -> None:
        super().__init__(str(folder))
        self._instruments = instruments

    async def write(self, key: str, data: bytes) -> None:
        """Store a snapshot, in its bracket."""
        held = json.loads(data)["data"]
        latest = key.endswith("snapshot_latest.json")
        waits = ",interrupted" if held["interrupt_state"]["activated"] else ""
        # No agent is restored from an immutable snapshot unless somebody names it, so by it alone nothing is on record.
        covers = [result["toolUseId"] for result in _finished(held)] if latest else []
        name = f"{'latest' if latest else 'immutable'}({len(held['messages'])}{waits})"
        async with beside_the_loop(self._instruments.persist(name, covers)):
            await super().write(key, data)


class SessionRun:
    """A run of an agent: one conversation, in one session."""

    def __init__(self, workload: Workload, store: Store, instruments: Instruments, *, save_latest_on: str) -> None:
        self._workload = workload
        self._store = store
        self._instruments = instruments
        self._save_latest_on = save_latest_on

    def start(self, value: Json) -> Handle:
        """Start the conversation; the tools' input is the conversation itself."""
        return Call(lambda: self._invoke("start"))

    def deliver(self, decision: Decision) -> Handle:
        """Respond to the interrupts: in the latest snapshot, or in one that is restored before."""
        restored = by_form({"interrupt-response": None, "restore-snapshot": decision.address.checkpoint}, decision.form)
        prompt = [
            {"interruptResponse": {"interruptId": interrupt, "response": value}}
            for interrupt, value in decision.responses.items()
        ]
        return Call(lambda: self._invoke(prompt, restored))

    def recover(self, form: str) -> Handle:
        """Let the conversation go on, unless it waits for a response."""
        prompt = by_form(_PROMPTS, form)

        def recover() -> Outcome:
            pending = self.inspect().pending
            return Parked(pending) if pending else self._invoke(prompt)

        return Call(recover)

    def inspect(self) -> Snapshot:
        """Return what a restored agent's snapshot says: the tools' results, the interrupts, the model's last word."""
        held = self._agent().take_snapshot(preset="session").data
        messages = held["messages"]
        finished = bool(messages) and messages[-1]["content"] == [{"text": "done"}]
        return Snapshot(_trail(messages), _pending(held), finished)

    def address(self) -> Address:
        """Return the id of the latest immutable snapshot, and the ids of the interrupts without response."""
        manager = self._manager()
        agent = self._agent(manager)
        snapshots = asyncio.run(manager.list_snapshot_ids(agent))
        pending = _pending(agent.take_snapshot(preset="session").data)
        return Address(snapshots[-1] if snapshots else None, {item.name: item.identity for item in pending})

    def close(self) -> None:
        """Nothing is held between operations."""

    def _manager(self) -> SnapshotSessionManager:
        return SnapshotSessionManager(
            self._store.thread,
            storage=_Storage(self._store.location, self._instruments),
            save_latest_on=self._save_latest_on,
            snapshot_trigger=lambda **_: True,  # an immutable snapshot after each invocation, for forks
        )

    def _agent(self, manager: SnapshotSessionManager | None = None) -> Agent:
        names = [task.name for task in self._workload.tasks]
        turns = [names] if self._workload.shape is Shape.FAN_OUT else [[name] for name in names]
        agent = Agent(
            agent_id="agent",
            model=Script(turns),
            tools=[_tool(task, self._instruments) for task in self._workload.tasks],
            session_manager=manager or self._manager(),
            callback_handler=None,
        )
        agent.hooks.add_callback(AfterToolCallEvent, _fail)
        return agent

    def _invoke(self, prompt: Any, snapshot: str | None = None) -> Outcome:
        manager = self._manager()
        agent = self._agent(manager)
        if snapshot is not None:
            asyncio.run(manager.restore_snapshot(agent, snapshot_id=snapshot))
        result = agent(prompt)
        if result.stop_reason == "interrupt":
            return Parked(tuple(Pending(identity=asked.id, name=asked.name) for asked in result.interrupts))
        return Completed(_trail(agent.messages))


def _fail(event: AfterToolCallEvent) -> None:
    """End the invocation when a tool raised. Otherwise the model would be told, and a script can't react to it."""
    if event.exception:
        raise event.exception


def _tool(task: Task, instruments: Instruments) -> Callable[..., Any]:
    def body(tool_context: ToolContext) -> dict[str, Any]:
        trail = _trail(tool_context.agent.messages)
        write = perform(task, trail, instruments, lambda question: tool_context.interrupt(question.name))
        return {"status": "success", "content": [{"json": {"wrote": write}}]}

    decorated: Callable[..., Any] = tool(name=task.name, description=task.name, context=True)(body)
    return decorated


def _trail(messages: Sequence[Any]) -> list[Json]:
    """What the tools wrote, in the order in which the model asked for them."""
    return [entry for result in results_in(messages) for entry in _written(result)]


def _written(result: Any) -> list[Json]:
    return [entry for block in result["content"] if "json" in block for entry in block["json"]["wrote"]]


def _pending(held: Any) -> tuple[Pending, ...]:
    """The interrupts of a snapshot that wait for a response.

    Where each of them has one, the tool failed behind its interrupt: the agent takes nothing but the responses again.
    """
    state = held["interrupt_state"]
    if not state["activated"]:
        return ()
    raised = list(state["interrupts"].values())
    waiting = [asked for asked in raised if asked["response"] is None] or raised
    return tuple(Pending(identity=asked["id"], name=asked["name"]) for asked in waiting)


def _finished(held: Any) -> list[Any]:
    """The results that a snapshot holds of tools that ended by themselves, those of an interrupted turn included."""
    interrupted = held["interrupt_state"].get("pending_tool_execution") or {}
    results = [*results_in(held["messages"]), *interrupted.get("completed_tool_results", [])]
    return [result for result in results if _written(result)]
