"""The adapter for subgraphs, guarded at the outer graph."""

from __future__ import annotations

from resumption.history.workload import Workload
from resumption.langgraph import guard
from resumption.planes.interface import Instruments, Store
from resumption.planes.langgraph.apps import open_app
from resumption.planes.langgraph.graph import trail_of
from resumption.planes.langgraph.runs import Dialect
from resumption.planes.langgraph.savers import Seam
from resumption.planes.langgraph.subgraph import INNER, build
from resumption.planes.langgraph.tampering import tamper
from resumption.planes.langgraph_guarded.leases import lose_leases
from resumption.planes.langgraph_guarded.runs import GuardedRun, LedgeredEffects
from resumption.planes.langgraph_guarded.spec import SUBGRAPH

__all__ = ["lose_leases", "open_run", "tamper"]


def open_run(workload: Workload, store: Store, instruments: Instruments) -> GuardedRun:
    """Open the workload's run in `store`, as a graph inside a guarded graph; nothing is executed."""
    effects = LedgeredEffects(instruments, store)
    outer = build(workload, effects)
    seam = Seam(workload, instruments, whole=INNER)
    app = open_app(lambda saver: guard(outer.compile(checkpointer=saver)), store, seam)
    return GuardedRun(SUBGRAPH, app, store.thread, Dialect(trail_of), effects)
