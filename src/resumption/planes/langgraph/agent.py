"""The adapter for LangChain's agents, which LangGraph runs: `create_agent` with a person in the loop."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

from resumption.history.workload import Workload
from resumption.planes.interface import Instruments, PlaneSpec, Store
from resumption.planes.langgraph.apps import open_app
from resumption.planes.langgraph.runs import ThreadRun
from resumption.planes.langgraph.savers import Seam
from resumption.planes.langgraph.spec import AGENT
from resumption.planes.langgraph.tampering import tamper

if TYPE_CHECKING or find_spec("langchain"):  # a distribution of its own, which users of LangGraph needn't have
    from resumption.planes.langgraph import tools

__all__ = ["open_agent", "open_run", "tamper"]


def open_run(workload: Workload, store: Store, instruments: Instruments) -> ThreadRun:
    """Open the workload's run in `store`, as an agent with tools; nothing is executed."""
    return open_agent(AGENT, "batched", workload, store, instruments)


def open_agent(
    spec: PlaneSpec, mode: tools.Mode, workload: Workload, store: Store, instruments: Instruments
) -> ThreadRun:
    """Open the workload's run in `store`, as an agent of the plane `spec`, which asks in `mode`."""
    seam = Seam(workload, instruments, ended_in=tools.ended_in)
    app = open_app(partial(tools.build, workload, mode, instruments, seam), store, seam)
    return ThreadRun(spec, app, store.thread, tools.dialect(workload, mode))
