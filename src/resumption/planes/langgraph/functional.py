"""The adapter for LangGraph's functional API, synchronous: each task of the workload is a `@task` of one entrypoint."""

from __future__ import annotations

from typing import Any

from langgraph.config import get_config
from langgraph.func import entrypoint, task
from langgraph.pregel import Pregel

from resumption.history.events import Json
from resumption.history.workload import Task, Workload
from resumption.planes.interface import Instruments, Store
from resumption.planes.langgraph.runs import Program, ThreadRun, ask
from resumption.planes.langgraph.savers import Saver, Seam, open_saver
from resumption.planes.tasks import perform

__all__ = ["open_run"]

_WORKFLOW = "workflow"
"""The name of the entrypoint, as LangGraph has it from the function."""


def open_run(workload: Workload, store: Store, instruments: Instruments) -> ThreadRun:
    """Open the workload's run in `store`, as an entrypoint with tasks; nothing is executed."""
    seam = Seam(workload, instruments, whole=_WORKFLOW)
    saver = open_saver(store, seam)
    return ThreadRun(Program(_build(workload, instruments, seam, saver), _trail_of), saver, store.thread)


def _build(workload: Workload, instruments: Instruments, seam: Seam, saver: Saver) -> Pregel[Any, Any, Any, Any]:
    steps = [_step(one, instruments, seam) for one in workload.tasks]

    @entrypoint(checkpointer=saver)
    def workflow(_input: Json) -> Json:
        trail: list[Json] = []
        for step in steps:
            trail = trail + step(trail).result()
        return trail

    return workflow


def _step(one: Task, instruments: Instruments, seam: Seam) -> Any:
    def body(trail: Json) -> Any:
        # LangGraph stores a task's writes under its id alone, and tells name and id to the running task only.
        seam.identify(get_config()["configurable"]["checkpoint_ns"])
        return perform(one, trail, instruments, ask)

    return task(name=one.name)(body)  # type: ignore[arg-type]  # its overload leaves the parameters unsolved


def _trail_of(values: Any) -> Json:
    return None if values == {} else values  # what get_state says of a thread that nothing ran on
