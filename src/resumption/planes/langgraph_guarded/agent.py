"""The adapter for LangChain's agents, guarded: `create_agent` with a person in the loop."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

from resumption.history.workload import Workload
from resumption.langgraph import guard
from resumption.planes.interface import Instruments, PlaneSpec, Store
from resumption.planes.langgraph.apps import open_app
from resumption.planes.langgraph.savers import Seam
from resumption.planes.langgraph.tampering import tamper
from resumption.planes.langgraph_guarded.leases import lose_leases
from resumption.planes.langgraph_guarded.runs import GuardedRun, LedgeredEffects
from resumption.planes.langgraph_guarded.spec import AGENT

if TYPE_CHECKING or find_spec("langchain"):  # a distribution of its own, which users of LangGraph needn't have
    from resumption.planes.langgraph import tools

__all__ = ["lose_leases", "open_agent", "open_run", "tamper"]


def open_run(workload: Workload, store: Store, instruments: Instruments) -> GuardedRun:
    """Open the workload's run in `store`, as a guarded agent with tools; nothing is executed."""
    return open_agent(AGENT, "batched", workload, store, instruments)


def open_agent(
    spec: PlaneSpec,
    mode: tools.Mode,
    workload: Workload,
    store: Store,
    instruments: Instruments,
    typed_dicts: Literal["warn", "refuse"] | None = None,
) -> GuardedRun:
    """Open the workload's run in `store`, as a guarded agent of the plane `spec`, which asks in `mode`.

    `typed_dicts` is the guard's setting.
    """
    effects = LedgeredEffects(instruments, store)
    seam = Seam(workload, instruments, ended_in=tools.ended_in)
    app = open_app(
        lambda saver: guard(tools.build(workload, mode, effects, seam, saver), typed_dicts=typed_dicts), store, seam
    )
    return GuardedRun(spec, app, store.thread, tools.dialect(workload, mode), effects)
