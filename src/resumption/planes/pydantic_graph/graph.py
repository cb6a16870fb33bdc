"""The adapter for pydantic-graph: a graph on a `FileStatePersistence`, one file for each run as its documentation asks.

Releases from 2.0 have no state persistence; there this module can't be imported, and says so.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

try:
    from pydantic_graph.persistence import EndSnapshot, NodeSnapshot
except ImportError as error:
    raise ImportError(
        "this release of pydantic-graph has no pydantic_graph.persistence: state persistence was part of 1.x, "
        "and from 2.0 there is no plane to measure"
    ) from error
from pydantic_graph import End
from pydantic_graph.graph import GraphRun

from resumption.history.events import Json, Pending
from resumption.history.workload import Workload
from resumption.planes.files import altered, file_of
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
from resumption.planes.pydantic_graph.nodes import Program, Question, State
from resumption.planes.pydantic_graph.persistence import RecordedFile

__all__ = ["FileRun", "NotWaiting", "open_run", "tamper"]


class NotWaiting(Exception):
    """The caller's refusal of an answer that no claimed snapshot waits for."""


def open_run(workload: Workload, store: Store, instruments: Instruments) -> FileRun:
    """Open the workload's run in `store`; nothing is executed."""
    return FileRun(workload, store, instruments)


def tamper(store: Store) -> None:
    """Make the trail of the run's newest snapshot a number."""
    with altered(file_of(store)) as snapshots:
        snapshots[-1]["state"]["trail"] = 7


class FileRun:
    """A run whose snapshots are in one JSON file, and the files of its forks beside it."""

    def __init__(self, workload: Workload, store: Store, instruments: Instruments) -> None:
        self._workload = workload
        self._store = store
        self._instruments = instruments

    def start(self, value: Json) -> Handle:
        """Start the run; its state begins as the input of every workload says, with an empty trail."""
        return _call(lambda: self._start(State()))

    def deliver(self, decision: Decision) -> Handle:
        """Hand a decision over, to the snapshot that waits or to one of the past."""
        deliver = by_form({"load-next": self._deliver, "history": self._fork}, decision.form)
        return _call(lambda: deliver(decision))

    def recover(self, form: str) -> Handle:
        """Ask a crashed run to go on."""
        return _call(by_form({"iter-from-persistence": self._recover, "reset-status": self._reset_and_recover}, form))

    def inspect(self) -> Snapshot:
        """Return what the last of `load_all()` says."""
        snapshots = asyncio.run(self._opened()[1].load_all())
        if not snapshots:
            return Snapshot([], (), False)
        last = snapshots[-1]
        return Snapshot(last.state.trail, _waiting(last), isinstance(last, EndSnapshot))

    def address(self) -> Address:
        """Return the id of the snapshot that waits for an answer, if one does."""
        try:
            pending = self.inspect().pending
        except ValueError:  # a file that can't be read any more has no address
            return Address()
        return Address(requests={question.name: question.identity for question in pending})

    def close(self) -> None:
        """Nothing is held: the file is opened for each operation."""

    def _opened(self, suffix: str = "") -> tuple[Program, RecordedFile]:
        """The program, and the file of the run or of a fork; instances of either serve one run of the graph."""
        program = Program(self._workload, self._instruments)
        persistence = RecordedFile(file_of(self._store, suffix), self._workload, self._instruments)
        persistence.set_graph_types(program.graph)
        return program, persistence

    async def _start(self, state: State) -> Outcome:
        program, persistence = self._opened()
        first = program.first()
        if isinstance(first, Question):
            await program.graph.initialize(first, persistence, state=state)
            return Parked((_pending(first, first.get_snapshot_id()),))
        async with program.graph.iter(first, state=state, persistence=persistence) as run:
            return await _advance(run)

    async def _deliver(self, decision: Decision) -> Outcome:
        program, persistence = self._opened()
        claimed = await persistence.load_next()
        if claimed is None:
            raise NotWaiting("load_next() returned None: no snapshot waits to be run")
        if not isinstance(claimed.node, Question):
            raise NotWaiting(f"load_next() returned {claimed.id}, which is no question")
        node = program.behind(claimed.node, decision.value)
        async with program.graph.iter(node, state=claimed.state, persistence=persistence) as run:
            return await _advance(run)

    async def _fork(self, decision: Decision) -> Outcome:
        identity = decision.address.requests[decision.target]
        past = await self._opened()[1].load_all()
        asked = next((snapshot for snapshot in past if snapshot.id == identity), None)
        if asked is None or not isinstance(asked.node, Question):
            raise NotWaiting(f"load_all() shows no question {identity}")
        program, persistence = self._opened(f"-{decision.delivery}")
        node = program.behind(asked.node, decision.value)
        async with program.graph.iter(node, state=asked.state, persistence=persistence) as run:
            return await _advance(run)

    async def _recover(self) -> Outcome:
        program, persistence = self._opened()
        snapshots = await persistence.load_all()
        if snapshots and (waiting := _waiting(snapshots[-1])):
            return Parked(waiting)
        async with program.graph.iter_from_persistence(persistence) as run:
            return await _advance(run)

    async def _reset_and_recover(self) -> Outcome:
        file = file_of(self._store)
        snapshots = json.loads(file.read_bytes())
        if snapshots[-1].get("status") in ("pending", "running", "error"):
            snapshots[-1]["status"] = "created"
            with self._instruments.persist("reset"):
                file.write_text(json.dumps(snapshots), encoding="utf-8")
        return await self._recover()


def _call(operation: Callable[[], Coroutine[Any, Any, Outcome]]) -> Handle:
    return Call(lambda: asyncio.run(operation()))


async def _advance(run: GraphRun[State, None, list[str]]) -> Outcome:
    """Run node after node, up to a question or the end."""
    while True:
        node = await run.next()
        if isinstance(node, End):
            return Completed(node.data)
        if isinstance(node, Question):
            return Parked((_pending(node, node.get_snapshot_id()),))


def _pending(question: Question, identity: str) -> Pending:
    return Pending(identity=identity, name=question.interrupt)


def _waiting(snapshot: NodeSnapshot[State, list[str]] | EndSnapshot[State, list[str]]) -> tuple[Pending, ...]:
    """The question that a snapshot waits with; nothing if it is none, or was claimed."""
    if isinstance(snapshot, NodeSnapshot) and isinstance(snapshot.node, Question) and snapshot.status == "created":
        return (_pending(snapshot.node, snapshot.id),)
    return ()
