"""The adapter for graphs whose trail is a `DeltaChannel`: checkpoints hold no trail, which is made of stored writes."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from resumption.history.workload import Workload
from resumption.planes.interface import Instruments, Store
from resumption.planes.langgraph.graph import State, open_graph
from resumption.planes.langgraph.runs import ThreadRun
from resumption.planes.langgraph.spec import GRAPH_DELTA
from resumption.planes.langgraph.tampering import tamper

if TYPE_CHECKING or find_spec("langgraph.channels.delta"):  # releases before 1.2 have no such channel
    from langgraph.channels.delta import DeltaChannel

__all__ = ["delta_state", "open_run", "tamper"]


def open_run(workload: Workload, store: Store, instruments: Instruments) -> ThreadRun:
    """Open the workload's run in `store`, as a graph; nothing is executed."""
    return open_graph(GRAPH_DELTA, "sync", workload, store, instruments, delta_state())


def delta_state() -> type[State]:
    """The program's state, with the channel that only newer releases have."""

    class Delta(State):
        trail: Annotated[list[str], DeltaChannel(_appended)] = Field(default_factory=list)

    return Delta


def _appended(trail: list[str] | None, writes: Sequence[list[str]]) -> list[str]:
    return [*(trail or []), *(entry for write in writes for entry in write)]
