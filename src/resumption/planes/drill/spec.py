"""What the harness has to know of a drilled program."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace

from resumption.planes.drill.settings import VARIABLE, Settings
from resumption.planes.interface import Backend, Form, Operation, PlaneSpec
from resumption.planes.langgraph.spec import GRAPH

__all__ = ["BARE", "CHECKPOINT", "FORK", "MAP", "NO_INPUT", "REPLAY", "looking", "plane"]

_SURVEY = "resumption.planes.drill.survey"
_ADAPTERS = ("resumption.planes.drill.adapter", "resumption.planes.drill.guarded", _SURVEY)
"""One zygote serves the program as it is, guarded, and looked at."""

_STOCK = {(form.operation, form.name): form for form in GRAPH.forms}

MAP = _STOCK[Operation.DELIVER, "map"]
BARE = _STOCK[Operation.DELIVER, "bare"]
NO_INPUT = _STOCK[Operation.RECOVER, "no-input"]
CHECKPOINT = _STOCK[Operation.RECOVER, "checkpoint"]
REPLAY = _STOCK[Operation.FORK, "replay"]
FORK = Form("fork", Operation.FORK, "fork(graph, config with the checkpoint id, value, interrupt=id).", "fork")
"""The guard's own way to give a second decision."""


def plane(
    settings: Settings,
    preload: Sequence[str] = (),
    *,
    guarded: bool = False,
    asynchronous: bool = False,
    protected: bool = False,
) -> PlaneSpec:
    """The plane of a program: the documented forms of resuming it, on the drill's own SQLite saver.

    `preload` are modules that the program imports, and that can be imported before a process is forked.
    `guarded` says whether the drill guards the program, `protected` whether anybody does; `asynchronous`, whether the
    program is awaited.
    """
    search = dict.fromkeys((settings.folder, *filter(None, sys.path)))
    return PlaneSpec(
        name=settings.target,
        package="langgraph",
        path="guarded" if guarded else "stock",
        adapter=f"resumption.planes.drill.{'guarded' if guarded else 'adapter'}",
        preload=(*GRAPH.preload, *_ADAPTERS, *preload),
        backends=(Backend("sqlite-async" if asynchronous else "sqlite"),),
        forms=(MAP, BARE, NO_INPUT, CHECKPOINT, FORK if protected else REPLAY),
        environment={
            **GRAPH.environment,
            VARIABLE: settings.encode(),
            "PYTHONPATH": os.pathsep.join(search),
        },
    )


def looking(settings: Settings) -> PlaneSpec:
    """The plane on which a program is looked at, and not run."""
    return replace(plane(settings), path="survey", adapter=_SURVEY)
