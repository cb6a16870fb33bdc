"""The adapter for the graph API, guarded."""

from __future__ import annotations

from resumption.history.workload import Workload
from resumption.langgraph import guard
from resumption.planes.interface import Instruments, Store
from resumption.planes.langgraph.apps import open_app
from resumption.planes.langgraph.graph import build, trail_of
from resumption.planes.langgraph.savers import Seam
from resumption.planes.langgraph.tampering import tamper
from resumption.planes.langgraph_guarded.runs import GuardedRun, LedgeredEffects
from resumption.planes.langgraph_guarded.spec import GRAPH

__all__ = ["open_run", "tamper"]


def open_run(workload: Workload, store: Store, instruments: Instruments) -> GuardedRun:
    """Open the workload's run in `store`, as a guarded graph; nothing is executed."""
    effects = LedgeredEffects(instruments, store)
    builder = build(workload, effects)
    app = open_app(lambda saver: guard(builder.compile(checkpointer=saver)), store, Seam(workload, instruments))
    return GuardedRun(GRAPH, app, store.thread, trail_of, effects)
