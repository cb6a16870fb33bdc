"""The adapter of a drill: opens the user's own program, with its effects exchanged, on a recorded saver."""

from __future__ import annotations

import os
from typing import cast

from langgraph.types import Durability

from resumption.guard.effects import Ledger
from resumption.guard.langgraph.graph import GuardedGraph
from resumption.history.workload import Workload
from resumption.planes.drill.effects import Record, install, keep_ledgers_in, put_behind
from resumption.planes.drill.programs import load, on_saver
from resumption.planes.drill.runs import DrillRun
from resumption.planes.drill.settings import Settings
from resumption.planes.drill.spec import plane
from resumption.planes.interface import Instruments, Store
from resumption.planes.langgraph.apps import open_app
from resumption.planes.langgraph.savers import Seam

__all__ = ["open_program", "open_run"]


def open_run(workload: Workload, store: Store, instruments: Instruments) -> DrillRun:
    """Open the program's run in `store`, as the program is; nothing is executed."""
    return open_program(workload, store, instruments, guarded=False)


def open_program(workload: Workload, store: Store, instruments: Instruments, *, guarded: bool) -> DrillRun:
    """Open the program's run in `store`, as it is, or behind `guard` with each effect behind `@effect`.

    The process works in the store's folder from here on: what the program writes to a relative path is part of what is
    durable in this trial, and of no other.
    """
    settings = Settings.handed_over()
    record = cast(Record, instruments)
    ledger = Ledger(f"sqlite:///{store.location / 'drill-ledger.sqlite'}") if guarded else None
    keep_ledgers_in(store.location)
    exchanged = install(settings, record)
    source = load(settings.target, settings.folder)
    if ledger is not None:
        put_behind(ledger, exchanged, settings, record)
    os.chdir(store.location)
    app = open_app(
        lambda saver: on_saver(source, saver, guarded=guarded),
        store,
        Seam(workload, instruments),
        cast(Durability, settings.durability),
    )
    protected = guarded or isinstance(source, GuardedGraph)
    spec = plane(settings, guarded=guarded, protected=protected)
    return DrillRun(spec, app, store.thread, settings, source, guarded=protected)
