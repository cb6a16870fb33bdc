"""The adapter for the functional API, guarded."""

from __future__ import annotations

from resumption.history.workload import Workload
from resumption.langgraph import guard
from resumption.planes.interface import Instruments, Store
from resumption.planes.langgraph.apps import open_app
from resumption.planes.langgraph.functional import WORKFLOW, build, step, trail_of
from resumption.planes.langgraph.runs import Dialect
from resumption.planes.langgraph.savers import Seam
from resumption.planes.langgraph_guarded.leases import lose_leases
from resumption.planes.langgraph_guarded.runs import GuardedRun, LedgeredEffects
from resumption.planes.langgraph_guarded.spec import FUNCTIONAL

__all__ = ["lose_leases", "open_run"]


def open_run(workload: Workload, store: Store, instruments: Instruments) -> GuardedRun:
    """Open the workload's run in `store`, as a guarded entrypoint with tasks; nothing is executed."""
    effects = LedgeredEffects(instruments, store)
    seam = Seam(workload, instruments, whole=WORKFLOW)
    steps = [step(one, effects, seam) for one in workload.tasks]
    app = open_app(lambda saver: guard(build(workload.shape, steps, saver)), store, seam)
    return GuardedRun(FUNCTIONAL, app, store.thread, Dialect(trail_of), effects)
