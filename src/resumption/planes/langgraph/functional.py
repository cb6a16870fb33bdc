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
from resumption.planes.langgraph.runs import ThreadRun, ask
from resumption.planes.langgraph.savers import Seam
from resumption.planes.langgraph.spec import FUNCTIONAL
from resumption.planes.tasks import perform

__all__ = ["open_run"]

_WORKFLOW = "workflow"
"""The name of the entrypoint, as LangGraph has it from the function."""


def open_run(workload: Workload, store: Store, instruments: Instruments) -> ThreadRun:
    """Open the workload's run in `store`, as an entrypoint with tasks; nothing is executed."""
    seam = Seam(workload, instruments, whole=_WORKFLOW)
    steps = [_step(one, instruments, seam) for one in workload.tasks]
    build = _build_at_once if workload.shape is Shape.FAN_OUT else _build
    app = open_app(lambda saver: build(steps, saver), store, seam)
    return ThreadRun(FUNCTIONAL, app, store.thread, _trail_of)


def _build(steps: Sequence[Any], saver: BaseCheckpointSaver[Any]) -> Program:
    @entrypoint(checkpointer=saver)
    def workflow(_input: Json) -> Json:
        trail: list[Json] = []
        for step in steps:
            trail = trail + step(trail).result()
        return trail

    return workflow


def _build_at_once(steps: Sequence[Any], saver: BaseCheckpointSaver[Any]) -> Program:
    @entrypoint(checkpointer=saver)
    def workflow(_input: Json) -> Json:
        under_way = [step([]) for step in steps]
        return [entry for one in under_way for entry in one.result()]

    return workflow


def _step(one: Task, instruments: Instruments, seam: Seam) -> Any:
    def body(trail: Json) -> Any:
        # LangGraph stores a task's writes under its id alone, and tells name and id to the running task only.
        seam.identify(get_config()["configurable"]["checkpoint_ns"])
        return perform(one, trail, instruments, ask)

    return task(name=one.name)(body)  # type: ignore[arg-type]  # its overload leaves the parameters unsolved


def _trail_of(values: Any) -> Json:
    return None if values == {} else values  # what get_state says of a thread that nothing ran on
