"""What the harness has to know of a drilled program."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from resumption.planes.drill.settings import VARIABLE, Settings
from resumption.planes.interface import Backend, Form, Operation, PlaneSpec
from resumption.planes.langgraph.spec import GRAPH

__all__ = ["BARE", "CHECKPOINT", "FORK", "MAP", "NO_INPUT", "REPLAY", "plane"]

_STOCK = {(form.operation, form.name): form for form in GRAPH.forms}

MAP = _STOCK[Operation.DELIVER, "map"]
BARE = _STOCK[Operation.DELIVER, "bare"]
NO_INPUT = _STOCK[Operation.RECOVER, "no-input"]
CHECKPOINT = _STOCK[Operation.RECOVER, "checkpoint"]
REPLAY = _STOCK[Operation.FORK, "replay"]
FORK = Form("fork", Operation.FORK, "fork(graph, config with the checkpoint id, value, interrupt=id).", "fork")
"""The guard's own way to give a second decision."""


def plane(settings: Settings, preload: Sequence[str] = ()) -> PlaneSpec:
    """The plane of a program: the documented forms of resuming it, on the drill's own SQLite saver.

    `preload` are modules that the program imports, and that can be imported before a process is forked.
    """
    search = dict.fromkeys((settings.folder, *filter(None, sys.path)))
    return PlaneSpec(
        name=settings.target,
        package="langgraph",
        path="guarded" if settings.guarded else "stock",
        adapter="resumption.planes.drill.adapter",
        preload=(*GRAPH.preload, *preload),
        backends=(Backend("sqlite-async" if settings.asynchronous else "sqlite"),),
        forms=(MAP, BARE, NO_INPUT, CHECKPOINT, FORK if settings.guarded else REPLAY),
        environment={
            **GRAPH.environment,
            VARIABLE: settings.encode(),
            "PYTHONPATH": os.pathsep.join(search),
        },
    )
