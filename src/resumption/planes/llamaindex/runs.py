"""What the adapters share: one run, whose caller saves its context, and every resume form as a user would call it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from workflows import Context
from workflows.events import UnhandledEvent
from workflows.handler import WorkflowHandler

from resumption.history.events import Json
from resumption.history.workload import Workload
from resumption.planes.files import NothingSaved, file_of
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
from resumption.planes.llamaindex.events import Answer, StepStarted
from resumption.planes.llamaindex.program import Build, State
from resumption.planes.llamaindex.snapshots import Saving, SnapshotFile, is_busy

__all__ = ["ContextRun", "NotTaken"]

MakeAnswer = Callable[[str, Json], Answer]
"""Makes the event that answers the question of an identity."""


class NotTaken(Exception):
    """LlamaIndex said that no step takes the answer."""


@dataclass(slots=True)
class _Live:
    """A run under way in this process, and the loop that it is in."""

    handler: WorkflowHandler
    loop: asyncio.AbstractEventLoop
    outcome: Future[Outcome] = field(default_factory=Future)
    started: dict[str, list[asyncio.Event]] = field(default_factory=dict)
    """The steps that wait for a snapshot."""


class ContextRun:
    """A run of a workload's workflow, from snapshot to snapshot."""

    def __init__(
        self, build: Build, answer: MakeAnswer, workload: Workload, store: Store, instruments: Instruments
    ) -> None:
        self._build = build
        self._answer = answer
        self._workload = workload
        self._store = store
        self._instruments = instruments
        self._live: _Live | None = None

    def start(self, value: Json) -> Handle:
        """Start the run; its state begins as the input of every workload says, with an empty trail."""
        return Call(lambda: asyncio.run(self._run(self._file(), None)))

    def deliver(self, decision: Decision) -> Handle:
        """Hand a decision over: to the run that is live here, else to one restored from a snapshot."""
        deliver = by_form({"send-event": self._send, "snapshot": self._fork}, decision.form)
        return Call(lambda: deliver(decision))

    def recover(self, form: str) -> Handle:
        """Restore the newest snapshot, and let the run go on, unless it waits for a person or is at its end."""
        return Call(by_form({"run-context": self._recover}, form))

    def inspect(self) -> Snapshot:
        """Return the state of the context restored from the newest snapshot, and what the caller saved beside it."""
        saved = self._file().load()
        if saved is None:
            return Snapshot([], (), False)
        state = asyncio.run(self._state_of(saved))
        return Snapshot(state.trail, saved.waiting, saved.finished)

    def address(self) -> Address:
        """Return the newest snapshot, and the identities of the questions that it was saved with."""
        saved = self._file().load()
        if saved is None:
            return Address()
        return Address(dict(saved.context), {question.name: question.identity for question in saved.waiting})

    def close(self) -> None:
        """Nothing is held: snapshots are in a file, and a run that waits is restored from there."""

    def _file(self, suffix: str = "") -> SnapshotFile:
        return SnapshotFile(file_of(self._store, suffix), self._workload, self._instruments)

    async def _state_of(self, saved: Saving) -> State:
        workflow = self._build(self._workload, self._instruments, _never_started)
        context: Context[State] = Context.from_dict(workflow, dict(saved.context))
        return await context.store.get_state()

    def _recover(self) -> Outcome:
        saved = self._saved()
        if saved.waiting:
            return Parked(saved.waiting)
        if saved.finished:
            return Completed(asyncio.run(self._state_of(saved)).trail)
        return asyncio.run(self._run(self._file(), saved))

    def _send(self, decision: Decision) -> Outcome:
        event = self._event(decision)
        live = self._live
        if live is None:
            return asyncio.run(self._run(self._file(), self._saved(), event))
        live.loop.call_soon_threadsafe(live.handler.ctx.send_event, event)
        return live.outcome.result()

    def _fork(self, decision: Decision) -> Outcome:
        asked = Saving(decision.address.checkpoint, (), False)
        return asyncio.run(self._run(self._file(f"-{decision.delivery}"), asked, self._event(decision)))

    def _event(self, decision: Decision) -> Answer:
        identity = decision.address.requests.get(decision.target)
        if identity is None:
            raise NotTaken(f"no question {decision.target!r} was asked")
        return self._answer(str(identity), decision.value)

    def _saved(self) -> Saving:
        saved = self._file().load()
        if saved is None:
            raise NothingSaved("the run has no snapshot: start it again")
        return saved

    async def _run(self, file: SnapshotFile, saved: Saving | None, event: Answer | None = None) -> Outcome:
        """Run from a snapshot, or from the beginning, up to the next question or the end; save as the policy says."""
        waits: dict[str, list[asyncio.Event]] = {}

        async def until_saved(step: str) -> None:
            turn = asyncio.Event()
            waits.setdefault(step, []).append(turn)
            await turn.wait()

        workflow = self._build(self._workload, self._instruments, until_saved)
        context: Context[Any] | None = Context.from_dict(workflow, dict(saved.context)) if saved else None
        handler = workflow.run(ctx=context)
        live = self._live = _Live(handler, asyncio.get_running_loop(), started=waits)
        try:
            if event is not None:
                handler.ctx.send_event(event)
            outcome = await _drive(live, file, event.question if event else "")
        except BaseException as error:
            await handler.cancel_run()
            live.outcome.set_exception(error)
            raise
        finally:
            self._live = None
        live.outcome.set_result(outcome)
        return outcome


async def _drive(live: _Live, file: SnapshotFile, answered: str) -> Outcome:
    """Follow the run's events up to where it waits for a person or its end, and save where the policy says so.

    `answered` is the question whose answer was sent: the run doesn't wait with it, taken or not.
    """
    handler = live.handler
    async for event in handler.stream_events(expose_internal=True):
        context = handler.ctx.to_dict()
        if isinstance(event, StepStarted):
            file.save(event.step, Saving(context, (), False))
            live.started[event.step].pop(0).set()
        elif not is_busy(context):
            if isinstance(event, UnhandledEvent):
                raise NotTaken(f"no step takes {event.event_type}")
            waiting = tuple(question for question in file.asked(context) if question.identity != answered)
            if waiting:
                file.save(f"{'+'.join(question.name for question in waiting)}?", Saving(context, waiting, False))
                await handler.cancel_run()
                return Parked(waiting)
    trail = await handler
    file.save("end", Saving(handler.ctx.to_dict(), (), True))
    return Completed(trail)


async def _never_started(step: str) -> None:
    raise RuntimeError(f"step {step} started while a snapshot was read")
