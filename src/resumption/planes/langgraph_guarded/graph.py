"""The adapter for the graph API, guarded."""

from __future__ import annotations

from langgraph.types import Durability

from resumption.history.workload import Workload
from resumption.langgraph import guard
from resumption.planes.interface import Instruments, PlaneSpec, Store
from resumption.planes.langgraph.apps import open_app
from resumption.planes.langgraph.graph import State, build, trail_of
from resumption.planes.langgraph.runs import Dialect
from resumption.planes.langgraph.savers import Seam
from resumption.planes.langgraph.tampering import tamper
from resumption.planes.langgraph_guarded.leases import lose_leases
from resumption.planes.langgraph_guarded.runs import GuardedRun, LedgeredEffects
from resumption.planes.langgraph_guarded.spec import GRAPH

__all__ = ["lose_leases", "open_graph", "open_run", "tamper"]


def open_run(workload: Workload, store: Store, instruments: Instruments) -> GuardedRun:
    """Open the workload's run in `store`, as a guarded graph; nothing is executed."""
    return open_graph(GRAPH, "sync", workload, store, instruments)


def open_graph(
    spec: PlaneSpec,
    durability: Durability,
    workload: Workload,
    store: Store,
    instruments: Instruments,
    schema: type[State] | None = None,
) -> GuardedRun:
    """Open the workload's run in `store`, as a guarded graph of the plane `spec`; nothing is executed.

    `durability` is when LangGraph stores what happened, in its words. `schema` is another one of the same state.
    """
    effects = LedgeredEffects(instruments, store)
    builder = build(workload, effects, schema)
    seam = Seam(workload, instruments)
    app = open_app(lambda saver: guard(builder.compile(checkpointer=saver)), store, seam, durability)
    return GuardedRun(spec, app, store.thread, Dialect(trail_of), effects)
