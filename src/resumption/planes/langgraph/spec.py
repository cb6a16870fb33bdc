"""What the harness has to know of LangGraph, without importing it: its planes, backends and resume forms."""

from __future__ import annotations

from resumption.planes.interface import Backend, Capability, Form, Operation, PlaneSpec

__all__ = ["GRAPH", "SPECS"]

_IN_PROCESS = "InMemorySaver keeps its checkpoints in the memory of one process."

_BACKENDS = (
    Backend(
        "memory",
        lacks={Capability.PROCESS_DEATH: _IN_PROCESS, Capability.CONCURRENT_RUNS: _IN_PROCESS},
    ),
    Backend("sqlite"),
)

_FORMS = (
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
    ),
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
    Form(
        "update-state",
        Operation.FORK,
        "update_state(checkpoint, nothing new); at its result invoke(None), which asks again, then invoke(Command(…)).",
        statement="fork-by-update",
    ),
)

GRAPH = PlaneSpec(
    name="langgraph",
    package="langgraph",
    requires=("langgraph-checkpoint", "langgraph-checkpoint-sqlite", "langchain-core", "pydantic"),
    path="graph",
    adapter="resumption.planes.langgraph.graph",
    preload=(
        "langgraph.graph",
        "langgraph.checkpoint.memory",
        "langgraph.checkpoint.sqlite",
        "langchain_core.tracers.run_collector",  # these two LangGraph imports no earlier than in its first run
        "langchain_core.tracers.stdout",
    ),
    backends=_BACKENDS,
    forms=_FORMS,
    # A checkpoint id is an address, which a retry may carry as well as a fork; nothing else in the call says which.
    fork_discriminator="",
    environment={"LANGSMITH_TRACING": "false", "LANGCHAIN_TRACING_V2": "false"},
)
"""The graph API: a `StateGraph` with one node for each task, run synchronously with `durability="sync"`."""

SPECS: tuple[PlaneSpec, ...] = (GRAPH,)
"""Every plane of this family."""
