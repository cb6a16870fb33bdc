"""What the harness has to know of Apache Burr, without importing it: its plane and its resume forms."""

from __future__ import annotations

from resumption.planes.interface import Backend, Capability, Form, Operation, PlaneSpec

__all__ = ["APPLICATION", "SPECS"]

APPLICATION = PlaneSpec(
    name="burr",
    package="apache-burr",
    path="application",
    adapter="resumption.planes.burr.application",
    preload=("burr.core", "burr.core.parallelism", "burr.core.persistence", "burr.integrations.pydantic"),
    backends=(Backend("sqlite"),),
    forms=(
        Form(
            "inputs",
            Operation.DELIVER,
            "run(halt_before=gates, inputs={the gate's input: value}) on an application built with"
            " initialize_from(resume_at_next_action=True).",
            statement="deliver-inputs",
        ),
        Form(
            "resume-at-next-action",
            Operation.RECOVER,
            "build with initialize_from(resume_at_next_action=True), and run() unless a gate comes next.",
            statement="recover-next-action",
        ),
        Form(
            "fork-from-sequence-id",
            Operation.FORK,
            "build under a new app_id with initialize_from(fork_from_app_id=…, fork_from_sequence_id=…,"
            " resume_at_next_action=True), then run(inputs={the gate's input: value}).",
            statement="fork-from-sequence-id",
        ),
    ),
    fork_discriminator="fork_from_app_id, with an app_id of the fork's own",
    lacks={
        Capability.GATE_SEQUENCE: "An action gets its inputs when it starts; it can't ask again while it runs.",
        Capability.LIVE_DELIVERY: "An application gets its inputs when it is run, and none while it runs. Another one"
        " that is built from the same row can be in any process.",
        Capability.PARALLEL_GATES: "A parallel action runs its sub-applications to their ends: none of them can halt"
        " before an action and hand control back.",
    },
)
"""An `Application` of typed actions that is run up to its gates with `halt_before`, on `SQLitePersister`."""

SPECS: tuple[PlaneSpec, ...] = (APPLICATION,)
"""Every plane of this family."""
