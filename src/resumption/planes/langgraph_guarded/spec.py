"""The guarded planes: those of LangGraph, with every resume form of theirs, and those that only a guarded graph has.

All but one are guarded as `guard(graph)` does it, without settings.

Nothing is left out that the guard refuses: what a refusal breaks of the contract is measured, and stated.
"""

from __future__ import annotations

from dataclasses import replace

from resumption.planes.interface import Capability, Form, Operation, PlaneSpec
from resumption.planes.langgraph import spec as stock

__all__ = [
    "AGENT",
    "AGENT_PER_CALL",
    "AGENT_TYPED_DICTS",
    "FUNCTIONAL",
    "GRAPH",
    "GRAPH_ASYNC_DURABILITY",
    "GRAPH_DELTA",
    "SPECS",
    "SUBGRAPH",
]

_BY_DELIVERY_ID = (
    Form(
        "bare-delivery-id",
        Operation.DELIVER,
        "invoke(Command(resume=value), delivery_id=…) on the thread.",
        statement="delivery-id",
    ),
    Form(
        "map-delivery-id",
        Operation.DELIVER,
        "invoke(Command(resume={interrupt id: value}), delivery_id=…) on the thread.",
        statement="delivery-id",
        names_interrupt=True,
    ),
)
"""How the guard's documentation asks decisions to be delivered: so that each repetition is known for one."""

_OWN = (
    Form(
        "input-delivery-id",
        Operation.RECOVER,
        "invoke() with the original input once more, on the same thread, with the delivery id that it first had.",
        statement="delivery-id",
    ),
    Form(
        "fork",
        Operation.FORK,
        "fork(graph, config with the checkpoint id at which the interrupt was pending, value, interrupt=id).",
        statement="fork",
    ),
)


def _guarded(spec: PlaneSpec) -> PlaneSpec:
    own = {form.operation: form for form in _OWN}
    recoveries = spec.forms_of(Operation.RECOVER)
    return replace(
        spec,
        name="langgraph-guarded",
        adapter=f"resumption.planes.langgraph_guarded.{spec.path.replace('-', '_')}",
        locks="resumption.planes.langgraph",
        resumes_copies=False,  # in another database nothing proves the death of an effect's owner
        preload=(*spec.preload, "resumption.langgraph", "resumption.guard.effects"),
        # What the guard keeps beside the saver's content would have to be copied with it. A lease in the memory of a
        # process is lost with that.
        backends=[
            replace(backend, copies=False, loses_leases=Capability.PROCESS_DEATH not in backend.lacks)
            for backend in spec.backends
        ],
        forms=(
            *_BY_DELIVERY_ID,
            *spec.forms_of(Operation.DELIVER),
            recoveries[0],
            own[Operation.RECOVER],
            *recoveries[1:],
            own[Operation.FORK],
            *spec.forms_of(Operation.FORK),
        ),
        fork_discriminator="the call: fork(…) in place of invoke(…)",
    )


GRAPH = _guarded(stock.GRAPH)
"""The graph API, guarded."""

GRAPH_ASYNC_DURABILITY = _guarded(stock.GRAPH_ASYNC_DURABILITY)
"""The same graph run with `durability="async"`, which is LangGraph's default."""

GRAPH_DELTA = _guarded(stock.GRAPH_DELTA)
"""The same graph, whose trail is a `DeltaChannel`; since 1.2."""

SUBGRAPH = _guarded(stock.SUBGRAPH)
"""A graph inside a graph, guarded at the outer one."""

FUNCTIONAL = _guarded(stock.FUNCTIONAL)
"""The functional API, guarded."""

AGENT = _guarded(stock.AGENT)
"""LangChain's `create_agent` with `HumanInTheLoopMiddleware`, guarded."""

AGENT_PER_CALL = _guarded(stock.AGENT_PER_CALL)
"""The same agent, whose middleware asks about each tool call as it starts; since LangChain 1.5."""

AGENT_TYPED_DICTS = _guarded(replace(stock.AGENT, path="agent-typed-dicts"))
"""The agent of `AGENT`, guarded with `typed_dicts="refuse"`; the other planes have the guard's defaults."""

SPECS: tuple[PlaneSpec, ...] = (
    GRAPH,
    SUBGRAPH,
    FUNCTIONAL,
    AGENT,
    AGENT_PER_CALL,
    AGENT_TYPED_DICTS,
    GRAPH_DELTA,
    GRAPH_ASYNC_DURABILITY,
)
"""Every plane of this family. Under `durability="exit"` the guard refuses effects without a key, so there is none."""
