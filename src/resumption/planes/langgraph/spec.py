"""What the harness has to know of LangGraph, without importing it: its planes, backends and resume forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from resumption.planes.interface import Backend, Capability, Form, Operation, PlaneSpec

__all__ = [
    "AGENT",
    "AGENT_PER_CALL",
    "FUNCTIONAL",
    "GRAPH",
    "GRAPH_ASYNC_DURABILITY",
    "GRAPH_DELTA",
    "GRAPH_EXIT_DURABILITY",
    "SPECS",
    "SUBGRAPH",
]

_IN_PROCESS = "InMemorySaver keeps its checkpoints in the memory of one process."

_MEMORY = {Capability.PROCESS_DEATH: _IN_PROCESS, Capability.CONCURRENT_RUNS: _IN_PROCESS}

_POSTGRES = ("langgraph-checkpoint-postgres", "psycopg-pool")

_BACKENDS = (
    Backend("memory", lacks=_MEMORY, copies=True),
    Backend("sqlite"),
    Backend("memory-async", lacks=_MEMORY, by_default=False, copies=True),
    Backend("sqlite-async", by_default=False),
    Backend("postgres", by_default=False, server=True, requires=_POSTGRES),
    Backend("postgres-async", by_default=False, server=True, requires=_POSTGRES),
    Backend("postgres-pool", by_default=False, server=True, requires=_POSTGRES),
)
"""Savers with the calls that they are used with; a name without `-async` means the synchronous calls.

On PostgreSQL a process has one connection, or a pool of synchronous ones."""

_ANSWERS_AND_RECOVERIES = (
    Form(
        "bare",
        Operation.DELIVER,
        "invoke(Command(resume=value)) on the thread: whatever is pending takes the value.",
        statement="deliver-bare",
    ),
    Form(
        "map",
        Operation.DELIVER,
        "invoke(Command(resume={interrupt id: value})) on the thread.",
        statement="deliver-map",
        names_interrupt=True,
    ),
    Form(
        "no-input",
        Operation.RECOVER,
        "invoke(None) on the thread.",
        statement="recover-no-input",
    ),
    Form("input", Operation.RECOVER, "invoke() with the original input once more, on the same thread."),
    Form(
        "command",
        Operation.RECOVER,
        "invoke(Command(resume=True)) on the thread, as a client does that takes the crashed run for a parked one.",
        brings=True,
    ),
    Form(
        "checkpoint",
        Operation.RECOVER,
        "invoke(None) with the checkpoint id of the thread's head.",
        statement="run-at-checkpoint",
    ),
    Form(
        "command-checkpoint",
        Operation.RECOVER,
        "invoke(Command(resume=True)) with the checkpoint id of the thread's head.",
        brings=True,
    ),
)

_FORKS = (
    Form(
        "direct",
        Operation.FORK,
        "invoke(Command(resume=value)) with the checkpoint id at which the interrupt was pending.",
        statement="run-at-checkpoint",
    ),
    Form(
        "two-call",
        Operation.FORK,
        'update_state(checkpoint, None, as_node="__copy__"), then invoke(Command(resume=value)) at the new head.',
    ),
    Form(
        "replay",
        Operation.FORK,
        "invoke(None) with the checkpoint id, which asks again, then invoke(Command(resume=value)) at the new head.",
        statement="fork-by-replay",
    ),
)

_FORK_BY_UPDATE = Form(
    "update-state",
    Operation.FORK,
    "update_state(checkpoint, nothing new); at its result invoke(None), which asks again, then invoke(Command(…)).",
    statement="fork-by-update",
)

_FORK_INSIDE = Form(
    "direct-inner",
    Operation.FORK,
    "invoke(Command(resume=value)) with the subgraph's own config, as get_state(subgraphs=True) returns it.",
)


def _plane(
    path: str, forms: tuple[Form, ...], lacks: Mapping[Capability, str], *, by_default: bool = False
) -> PlaneSpec:
    return PlaneSpec(
        name="langgraph",
        package="langgraph",
        path=path,
        adapter=f"resumption.planes.langgraph.{path.replace('-', '_')}",
        preload=(
            "langgraph.graph",
            "langgraph.checkpoint.memory",
            "langgraph.checkpoint.sqlite",
            "langgraph.checkpoint.sqlite.aio",
            "langchain_core.tracers.run_collector",  # these two LangGraph imports no earlier than in its first run
            "langchain_core.tracers.stdout",
            "resumption.planes.langgraph.graph:warm_up",
        ),
        backends=_BACKENDS,
        forms=forms,
        past_states=True,
        # A checkpoint id is an address, which a retry may carry as well as a fork; nothing else in the call says which.
        fork_discriminator="",
        lacks=lacks,
        environment={"LANGSMITH_TRACING": "false", "LANGCHAIN_TRACING_V2": "false"},
        by_default=by_default,
    )


_GRAPH_FORMS = (*_ANSWERS_AND_RECOVERIES, *_FORKS, _FORK_BY_UPDATE)

GRAPH = _plane("graph", _GRAPH_FORMS, {}, by_default=True)
"""The graph API: a `StateGraph` with one node for each task."""

GRAPH_ASYNC_DURABILITY = _plane("graph-async-durability", _GRAPH_FORMS, {})
"""The same graph run with `durability="async"`, which is LangGraph's default."""

GRAPH_EXIT_DURABILITY = _plane("graph-exit-durability", _GRAPH_FORMS, {})
"""The same graph run with `durability="exit"`."""

GRAPH_DELTA = replace(
    _plane(
        "graph-delta",
        _GRAPH_FORMS,
        {Capability.TAMPER: "No checkpoint holds the trail: what a DeltaChannel holds is made of stored writes."},
    ),
    since={"langgraph": "1.2"},
)
"""The same graph, whose trail is a `DeltaChannel`."""

SUBGRAPH = _plane("subgraph", (*_GRAPH_FORMS, _FORK_INSIDE), {})
"""The same graph as the one node of an outer graph."""

FUNCTIONAL = _plane(
    "functional",
    (*_ANSWERS_AND_RECOVERIES, *_FORKS),
    {
        Capability.SCHEMA: "An entrypoint declares no state schema: a task's result is whatever it returns.",
        Capability.PARALLEL_GATES: "An entrypoint parks at the first question of a task that it waits for.",
    },
)
"""The functional API: an entrypoint with one `@task` for each task."""


def _agent(path: str, lacks: Mapping[Capability, str]) -> PlaneSpec:
    backends = [replace(backend, requires=(*backend.requires, "langchain")) for backend in _BACKENDS]
    return replace(_plane(path, _GRAPH_FORMS, lacks), backends=backends)


AGENT = _agent(
    "agent",
    {Capability.PARALLEL_GATES: "HumanInTheLoopMiddleware asks about all tool calls of a message in one interrupt."},
)
"""LangChain's `create_agent` with `HumanInTheLoopMiddleware`: one tool for each task, and a scripted model."""

AGENT_PER_CALL = replace(_agent("agent-per-call", {}), since={"langchain": "1.5"})
"""The same agent, whose middleware asks about each tool call as it starts."""

SPECS: tuple[PlaneSpec, ...] = (
    GRAPH,
    SUBGRAPH,
    FUNCTIONAL,
    AGENT,
    AGENT_PER_CALL,
    GRAPH_DELTA,
    GRAPH_ASYNC_DURABILITY,
    GRAPH_EXIT_DURABILITY,
)
"""Every plane of this family. Those that don't say otherwise run with `durability="sync"`."""
