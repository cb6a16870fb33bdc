"""The persistence seam of the Agent Development Kit: its own SQLite session service, with each write bracketed."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from google.adk.events import Event
from google.adk.sessions import Session
from google.adk.sessions.sqlite_session_service import SqliteSessionService

from resumption.planes.brackets import beside_the_loop
from resumption.planes.interface import Instruments

__all__ = ["FILE", "SqliteFileSessions", "node_of"]

FILE = "adk.sqlite"
"""The database file in a store's folder."""


class SqliteFileSessions(SqliteSessionService):
    """`SqliteSessionService`, recorded. A task is durable when the event with its output is."""

    def __init__(self, folder: Path, tasks: Collection[str], instruments: Instruments) -> None:
        super().__init__(str(folder / FILE))
        self._tasks = tasks
        self._instruments = instruments

    async def create_session(self, **named: Any) -> Session:
        """Store a new session, in its bracket."""
        async with beside_the_loop(self._instruments.persist("create_session")):
            return await super().create_session(**named)

    async def append_event(self, session: Session, event: Event) -> Event:
        """Store an event, in its bracket."""
        node = node_of(event)
        covers = [node] if node in self._tasks and event.output is not None else []
        async with beside_the_loop(self._instruments.persist(f"append({_label(event, node)})", covers)):
            return await super().append_event(session, event)


def node_of(event: Event) -> str:
    """The name of the node that an event is of; empty for those of users and of the workflow itself."""
    path = event.node_info.path if event.node_info else None
    return path.rpartition("/")[2].partition("@")[0] if path else ""


def _label(event: Event, node: str) -> str:
    """What an event says: a node's output or its request; a user's message; or which nodes are in which status."""
    if node:
        return node if event.output is not None else f"{node}:request"
    if event.actions.agent_state:
        nodes = event.actions.agent_state.get("nodes", {})
        return " ".join(f"{name}={state['status']}" for name, state in nodes.items())
    return "end" if event.actions.end_of_agent else str(event.author)
