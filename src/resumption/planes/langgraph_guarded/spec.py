"""The guarded planes: those of LangGraph, with the resume forms that a guarded graph has."""

from __future__ import annotations

from dataclasses import replace

from resumption.planes.interface import Form, Operation, PlaneSpec
from resumption.planes.langgraph import spec as stock

__all__ = ["FUNCTIONAL", "GRAPH", "SPECS", "SUBGRAPH"]

_FORMS = (
    Form(
        "bare",
        Operation.DELIVER,
        "invoke(Command(resume=value), delivery_id=…) on the thread.",
        statement="deliver-bare",
    ),
    Form(
        "map",
        Operation.DELIVER,
        "invoke(Command(resume={interrupt id: value}), delivery_id=…) on the thread.",
        statement="deliver-map",
    ),
    Form(
        "no-input",
        Operation.RECOVER,
        "invoke(None) on the thread.",
        statement="recover-no-input",
    ),
    Form(
        "input",
        Operation.RECOVER,
        "invoke() with the original input once more, on the same thread, with the delivery id that it first had.",
    ),
    Form(
        "checkpoint",
        Operation.RECOVER,
        "invoke(None) with the checkpoint id of the thread's head.",
        statement="run-at-checkpoint",
    ),
    Form(
        "fork",
        Operation.FORK,
        "fork(graph, config with the checkpoint id at which the interrupt was pending, value, interrupt=id).",
        statement="fork",
    ),
)
"""LangGraph's forms, but for those that the guard refuses by design: a bare answer to a crashed run is no recovery, and
an old checkpoint id is no fork."""


def _guarded(spec: PlaneSpec) -> PlaneSpec:
    return replace(
        spec,
        name="langgraph-guarded",
        adapter=f"resumption.planes.langgraph_guarded.{spec.path}",
        preload=(*spec.preload, "resumption.langgraph", "resumption.guard.effects"),
        forms=_FORMS,
        fork_discriminator="the call: fork(…) in place of invoke(…)",
    )


GRAPH = _guarded(stock.GRAPH)
"""The graph API, guarded."""

SUBGRAPH = _guarded(stock.SUBGRAPH)
"""A graph inside a graph, guarded at the outer one."""

FUNCTIONAL = _guarded(stock.FUNCTIONAL)
"""The functional API, guarded."""

SPECS: tuple[PlaneSpec, ...] = (GRAPH, SUBGRAPH, FUNCTIONAL)
"""Every plane of this family."""
