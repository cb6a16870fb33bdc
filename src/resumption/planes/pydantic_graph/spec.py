"""What the harness has to know of pydantic-graph, without importing it: its plane, backend and resume forms."""

from __future__ import annotations

from resumption.planes.interface import Backend, Capability, Form, Operation, PlaneSpec

__all__ = ["GRAPH", "SPECS"]

_ONE_AFTER_THE_OTHER = "A graph with state persistence runs one node after the other."

GRAPH = PlaneSpec(
    name="pydantic-graph",
    package="pydantic-graph",
    path="graph",
    adapter="resumption.planes.pydantic_graph.graph",
    preload=("pydantic_graph",),
    backends=(Backend("json-file"),),
    forms=(
        Form(
            "load-next",
            Operation.DELIVER,
            "load_next() for the state at the question, then iter() from the node behind it, made with the answer. "
            "Where load_next() has nothing, or another node than a question, the caller refuses.",
            statement="deliver-load-next",
        ),
        Form(
            "iter-from-persistence",
            Operation.RECOVER,
            "iter_from_persistence(), unless load_all() shows that the run waits for an answer.",
            statement="recover-iter-from-persistence",
        ),
        Form(
            "reset-status",
            Operation.RECOVER,
            'Write "created" over the status of the snapshot that the crash left claimed, in the JSON file; '
            "then iter_from_persistence().",
        ),
        Form(
            "history",
            Operation.FORK,
            "load_all() for the state at the question, then iter() from the node behind it, made with the answer, "
            "on a file of its own.",
            names_interrupt=True,
        ),
    ),
    fork_discriminator="the call: load_next() hands a snapshot out once, load_all() shows those of the past",
    lacks={
        Capability.FAN_OUT: _ONE_AFTER_THE_OTHER,
        Capability.PARALLEL_GATES: _ONE_AFTER_THE_OTHER,
    },
    environment={"LOGFIRE_IGNORE_NO_CONFIG": "1", "LOGFIRE_SEND_TO_LOGFIRE": "false"},
)
"""A `Graph` on a `FileStatePersistence`: one node for each task, cut at its questions."""

SPECS: tuple[PlaneSpec, ...] = (GRAPH,)
"""Every plane of this family. Releases from 2.0 have no state persistence, so that there is nothing to resume."""
