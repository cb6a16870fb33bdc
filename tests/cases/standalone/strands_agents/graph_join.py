"""A graph of two entry nodes that join: `crash` dies once one of them is on record, `resume` restores the session.

Writes which nodes ran in both.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from strands.multiagent import GraphBuilder
from strands.multiagent.base import MultiAgentBase, MultiAgentResult, Status
from strands.session.file_session_manager import FileSessionManager

folder, phase = Path(sys.argv[1]), sys.argv[2]
log = folder / "ran.txt"


class Session(FileSessionManager):
    """Kills its process right behind the write by which a node has completed."""

    def update_multi_agent(self, session_id: str, multi_agent: Any, **named: Any) -> None:
        super().update_multi_agent(session_id, multi_agent, **named)
        if phase == "crash" and multi_agent.serialize_state()["completed_nodes"]:
            os.kill(os.getpid(), signal.SIGKILL)


class Node(MultiAgentBase):
    """Notes that it ran. It never waits, so that its sibling has not started yet when it ends."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.id = self.name = name

    async def invoke_async(self, task: Any, invocation_state: Any = None, **named: Any) -> MultiAgentResult:
        with log.open("a") as file:
            file.write(f"{self.name}\n")
        return MultiAgentResult(status=Status.COMPLETED, results={})

    async def stream_async(self, task: Any, invocation_state: Any = None, **named: Any) -> Any:
        yield {"result": await self.invoke_async(task, invocation_state)}

    def serialize_state(self) -> dict[str, Any]:
        return {}

    def deserialize_state(self, payload: dict[str, Any]) -> None:
        """There is no state."""


builder = GraphBuilder()
for name in ("left", "right", "join"):
    builder.add_node(Node(name), name)
for entry in ("left", "right"):
    builder.add_edge(entry, "join")
    builder.set_entry_point(entry)
builder.set_graph_id("graph")
builder.set_session_manager(Session("session", storage_dir=str(folder)))
asyncio.run(builder.build().invoke_async("go"))
sys.stdout.write(json.dumps(log.read_text().split()))
