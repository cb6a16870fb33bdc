"""pydantic-graph's persistence seam: its own `FileStatePersistence`, with each write bracketed and named."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from pydantic_graph import BaseNode, End
from pydantic_graph.persistence import NodeSnapshot
from pydantic_graph.persistence.file import FileStatePersistence

from resumption.history.workload import Workload
from resumption.planes.interface import Instruments
from resumption.planes.pydantic_graph.nodes import Question, State, ended_before

__all__ = ["RecordedFile"]


class RecordedFile(FileStatePersistence[State, list[str]]):
    """`FileStatePersistence`, recorded; it stores exactly what the stock one stores.

    A snapshot holds the state *before* its node, so a task is durable with the snapshot of the node behind it.
    """

    def __init__(self, file: Path, workload: Workload, instruments: Instruments) -> None:
        super().__init__(file)
        self._workload = workload
        self._instruments = instruments

    async def snapshot_node(self, state: State, next_node: BaseNode[State, Any, list[str]]) -> None:
        """Store the state in front of a node, in its bracket."""
        with self._instruments.persist(f"snapshot({_label(next_node)})", ended_before(self._workload, next_node)):
            await super().snapshot_node(state, next_node)

    async def snapshot_node_if_new(
        self, snapshot_id: str, state: State, next_node: BaseNode[State, Any, list[str]]
    ) -> None:
        """Store the state in front of the first node of a part of the run, in its bracket."""
        with self._instruments.persist(f"snapshot({_label(next_node)})", ended_before(self._workload, next_node)):
            await super().snapshot_node_if_new(snapshot_id, state, next_node)

    async def snapshot_end(self, state: State, end: End[list[str]]) -> None:
        """Store the state at the end of the run, in its bracket."""
        with self._instruments.persist("snapshot(end)", ended_before(self._workload, end)):
            await super().snapshot_end(state, end)

    async def load_next(self) -> NodeSnapshot[State, list[str]] | None:
        """Claim the next snapshot, which writes its status, in its bracket."""
        with self._instruments.persist("claim"):
            return await super().load_next()

    @asynccontextmanager
    async def record_run(self, snapshot_id: str) -> AsyncIterator[None]:
        """Write the status of a node when it starts, and again when it ends, each in its bracket."""
        node = snapshot_id.partition(":")[0]
        recording = super().record_run(snapshot_id)
        with self._instruments.persist(f"running({node})"):
            await recording.__aenter__()
        try:
            yield
        except BaseException as error:
            with self._instruments.persist(f"error({node})"):
                await recording.__aexit__(type(error), error, error.__traceback__)
            raise
        with self._instruments.persist(f"success({node})"):
            await recording.__aexit__(None, None, None)


def _label(node: BaseNode[State, Any, list[str]]) -> str:
    return f"{node.interrupt}?" if isinstance(node, Question) else node.get_node_id()
