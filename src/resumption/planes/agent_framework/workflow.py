"""The adapter for Agent Framework: each task of the workload is an executor, and its trail travels in typed messages.

A workflow object holds what one process knows of a run, so every operation builds a new one and restores it, as a
server does that takes one request after the other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from agent_framework import FileCheckpointStorage, Workflow, WorkflowBuilder, WorkflowCheckpoint, WorkflowRunResult

from resumption.history.events import Json, Pending
from resumption.history.workload import Shape, Workload
from resumption.planes.agent_framework.executors import RESULT, Begin, End, Gather, TaskExecutor
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

__all__ = ["WorkflowRun", "open_run", "tamper"]


def open_run(workload: Workload, store: Store, instruments: Instruments) -> WorkflowRun:
    """Open the workload's run in `store`, as a workflow; nothing is executed."""
    return WorkflowRun(workload, store, instruments)


def tamper(store: Store) -> None:
    """Make the trail that the latest checkpoint holds a number: its result, or that of a request or a message."""

    async def rewrite() -> None:
        storage = FileCheckpointStorage(store.location)
        latest = await storage.get_latest(workflow_name=store.thread)
        if latest is None:
            return
        if RESULT in latest.state:
            latest.state[RESULT] = 7
        for event in latest.pending_request_info_events.values():
            event.data["trail"] = 7
        for message in (message for messages in latest.messages.values() for message in messages):
            message.data = 7
        await storage.save(latest)

    asyncio.run(rewrite())


class _Storage(FileCheckpointStorage):
    """Agent Framework's `FileCheckpointStorage`, recorded."""

    def __init__(self, folder: Path, instruments: Instruments) -> None:
        super().__init__(folder)
        self._instruments = instruments
        self.ended: list[str] = []
        """The tasks that ended in the operation under way."""

    async def save(self, checkpoint: WorkflowCheckpoint) -> str:
        """Store a checkpoint, in its bracket."""
        senders = "+".join(checkpoint.messages) or "+".join(
            event.source_executor_id for event in checkpoint.pending_request_info_events.values()
        )
        bracket = self._instruments.persist(f"save({checkpoint.iteration_count}:{senders})", self.ended)
        async with beside_the_loop(bracket):
            saved: str = await super().save(checkpoint)
        return saved


class WorkflowRun:
    """A run of one workflow, under one workflow name."""

    def __init__(self, workload: Workload, store: Store, instruments: Instruments) -> None:
        self._workload = workload
        self._thread = store.thread
        self._instruments = instruments
        self._storage = _Storage(store.location, instruments)

    def start(self, value: Json) -> Handle:
        """Start the run; the trail in `value` is the first message."""
        return self._call(lambda: self._start(value["trail"]))

    def deliver(self, decision: Decision) -> Handle:
        """Restore a checkpoint, the latest or the one at the address, and respond to the request there."""
        ways = {
            "responses": self._respond_at_the_latest,
            "responses-at-checkpoint": self._respond_at_the_address,
            "fork-at-checkpoint": self._respond_at_the_address,
        }
        respond = by_form(ways, decision.form)
        return self._call(lambda: respond(decision))

    def recover(self, form: str) -> Handle:
        """Restore the latest checkpoint, and let the workflow go on."""
        return self._call(by_form({"latest-checkpoint": self._recover}, form))

    def inspect(self) -> Snapshot:
        """Return what the latest checkpoint holds: the result, or the trail of a request or of a message."""
        latest = self._latest()
        if latest is None:
            return Snapshot([], (), False)
        pending = _pending(latest)
        return Snapshot(_trail(latest), pending, not pending and not latest.messages)

    def address(self) -> Address:
        """Return the id of the latest checkpoint, and the ids of the requests that are pending there."""
        latest = self._latest()
        if latest is None:
            return Address()
        return Address(latest.checkpoint_id, {pending.name: pending.identity for pending in _pending(latest)})

    def close(self) -> None:
        """Nothing is held between operations."""

    def _latest(self) -> WorkflowCheckpoint | None:
        return asyncio.run(self._storage.get_latest(workflow_name=self._thread))

    async def _start(self, trail: Json) -> Outcome:
        return self._outcome(await self._build().run(trail))

    async def _recover(self) -> Outcome:
        latest = await self._storage.get_latest(workflow_name=self._thread)
        if latest is None:  # nothing is known of the run, so that its caller can only start it
            return await self._start([])
        return self._outcome(await self._build().run(checkpoint_id=latest.checkpoint_id), latest)

    async def _respond_at_the_latest(self, decision: Decision) -> Outcome:
        latest = await self._storage.get_latest(workflow_name=self._thread)
        return await self._respond(latest and latest.checkpoint_id, decision)

    async def _respond_at_the_address(self, decision: Decision) -> Outcome:
        return await self._respond(decision.address.checkpoint, decision)

    async def _respond(self, checkpoint: Json, decision: Decision) -> Outcome:
        return self._outcome(await self._build().run(checkpoint_id=checkpoint, responses=decision.responses))

    def _call(self, operation: Callable[[], Coroutine[Any, Any, Outcome]]) -> Call:
        def call() -> Outcome:
            self._storage.ended = []
            return asyncio.run(operation())

        return Call(call)

    def _outcome(self, result: WorkflowRunResult, restored: WorkflowCheckpoint | None = None) -> Outcome:
        """What the run came to. A run that was restored at its end returns nothing: its caller has the checkpoint."""
        if requests := result.get_request_info_events():
            return Parked(tuple(Pending(identity=event.request_id, name=event.data["name"]) for event in requests))
        if outputs := result.get_outputs():
            return Completed(outputs[-1])
        return Completed(_trail(restored) if restored else [])

    def _build(self) -> Workflow:
        tasks = [TaskExecutor(task, self._instruments, self._storage.ended) for task in self._workload.tasks]
        if self._workload.shape is Shape.FAN_OUT:
            begin, gather = Begin(), Gather()
            builder = WorkflowBuilder(name=self._thread, start_executor=begin, checkpoint_storage=self._storage)
            return builder.add_fan_out_edges(begin, tasks).add_fan_in_edges(tasks, gather).build()
        builder = WorkflowBuilder(name=self._thread, start_executor=tasks[0], checkpoint_storage=self._storage)
        return builder.add_chain([*tasks, End()]).build()


def _pending(checkpoint: WorkflowCheckpoint) -> tuple[Pending, ...]:
    events = checkpoint.pending_request_info_events
    return tuple(Pending(identity=identity, name=event.data["name"]) for identity, event in events.items())


def _trail(checkpoint: WorkflowCheckpoint) -> Json:
    """The trail that a checkpoint holds; an empty one if nothing in it has any."""
    if RESULT in checkpoint.state:
        return checkpoint.state[RESULT]
    for event in checkpoint.pending_request_info_events.values():
        return event.data["trail"]
    sent = [message.data for messages in checkpoint.messages.values() for message in messages]
    return sent[-1] if sent else []
