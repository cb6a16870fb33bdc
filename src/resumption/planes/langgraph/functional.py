"""The adapter for LangGraph's functional API: each task of the workload is a `@task` of one entrypoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.config import get_config
from langgraph.func import entrypoint, task

from resumption.history.events import Json
from resumption.history.workload import Shape, Task, Workload
from resumption.planes.interface import Instruments, Store
from resumption.planes.langgraph.apps import Program, open_app
from resumption.planes.langgraph.runs import Dialect, ThreadRun, ask
from resumption.planes.langgraph.savers import Seam
from resumption.planes.langgraph.spec import FUNCTIONAL
from resumption.planes.tasks import perform

__all__ = ["WORKFLOW", "build", "open_run", "step", "trail_of"]

WORKFLOW = "workflow"
"""The name of the entrypoint, as LangGraph has it from the function."""


def open_run(workload: Workload, store: Store, instruments: Instruments) -> ThreadRun:
    """Open the workload's run in `store`, as an entrypoint with tasks; nothing is executed."""
    seam = Seam(workload, instruments, whole=WORKFLOW)
    steps = [step(one, instruments, seam) for one in workload.tasks]
    app = open_app(lambda saver: build(workload.shape, steps, saver), store, seam)
    return ThreadRun(FUNCTIONAL, app, store.thread, Dialect(trail_of))


def build(shape: Shape, steps: Sequence[Any], saver: BaseCheckpointSaver[Any]) -> Program:
    """Return an entrypoint that calls the steps in sequence, or all of them before it waits for any."""

    @entrypoint(checkpointer=saver)
    def workflow(_input: Json) -> Json:
        trail: list[Json] = []
        if shape is Shape.FAN_OUT:
            return [entry for under_way in [one([]) for one in steps] for entry in under_way.result()]
        for one in steps:
            trail = trail + one(trail).result()
        return trail

    return workflow


def step(one: Task, instruments: Instruments, seam: Seam) -> Any:
    """Return a task of the workload as a `@task`."""

    def body(trail: Json) -> Any:
        # LangGraph stores a task's writes under its id alone, and tells name and id to the running task only.
        seam.identify(get_config()["configurable"]["checkpoint_ns"])
        return perform(one, trail, instruments, ask)

    return task(name=one.name)(body)  # type: ignore[arg-type]  # its overload leaves the parameters unsolved


def trail_of(values: Any) -> Json:
    """Return the trail that an entrypoint's values are; None on a thread that nothing ran on."""
    return None if values == {} else values  # what get_state says of a thread that nothing ran on
