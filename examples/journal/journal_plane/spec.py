"""What the harness has to know of `journal_flow`, without importing it."""

from __future__ import annotations

from resumption.planes.interface import Backend, Capability, Form, Operation, PlaneSpec

_ONE_BY_ONE = "A flow runs one step after the other."
_NO_SCHEMA = "A flow declares no schema of its state."

SPECS = (
    PlaneSpec(
        name="journal",
        package="journal-flow",
        path="flow",
        adapter="journal_plane.flow",
        preload=("journal_flow",),
        backends=(Backend("file"),),
        forms=(
            Form("answer", Operation.DELIVER, "answer(question, value), then run().", "answer", names_interrupt=True),
            Form("run", Operation.RECOVER, "run() on the journal of the flow that crashed.", "run"),
        ),
        lacks={
            Capability.FAN_OUT: _ONE_BY_ONE,
            Capability.PARALLEL_GATES: _ONE_BY_ONE,
            Capability.FORK: "A question has one answer.",
            Capability.SCHEMA: _NO_SCHEMA,
            Capability.TAMPER: _NO_SCHEMA,
        },
    ),
)
