"""What the harness has to know of DBOS, without importing it."""

from __future__ import annotations

from resumption.planes.interface import Backend, Capability, Form, Operation, PlaneSpec

__all__ = ["SPECS", "WORKFLOW"]

WORKFLOW = PlaneSpec(
    name="dbos",
    package="dbos",
    path="workflow",
    adapter="resumption.planes.dbos.workflow",
    preload=("resumption.planes.dbos.modern_sqlite", "dbos"),
    backends=(Backend("sqlite"),),
    forms=(
        Form(
            "send",
            Operation.DELIVER,
            "send(workflow id, value, topic), where an executor has been launched that runs the workflow.",
            statement="deliver-send",
            names_interrupt=True,
        ),
        Form(
            "send-key",
            Operation.DELIVER,
            "send(…, idempotency_key=…), with the name of the delivery as the key.",
            statement="deliver-send-key",
            names_interrupt=True,
        ),
        Form(
            "launch",
            Operation.RECOVER,
            "DBOS.launch(): an executor recovers the pending workflows of its id and application version.",
            statement="recover-launch",
        ),
        Form(
            "resume",
            Operation.RECOVER,
            "DBOS.launch() and, if the workflow has ended in an error, resume_workflow(workflow id).",
            statement="recover-resume",
        ),
        Form(
            "fork-failed",
            Operation.RECOVER,
            "DBOS.launch() and, if the workflow has ended in an error, fork_workflow(workflow id, the failed step).",
            statement="fork-from-step",
        ),
        Form(
            "fork",
            Operation.FORK,
            "fork_workflow(workflow id, the step that receives), then send(the new workflow id, value, topic).",
            statement="fork-from-step",
            names_interrupt=True,
        ),
    ),
    fork_discriminator="fork_workflow, a call of its own",
    lacks={
        Capability.SCHEMA: "A workflow declares no state schema: a step's result is whatever it returns.",
        Capability.FAN_OUT: "Steps of one workflow run one after the other; what runs at once are workflows of their"
        " own, each with a record of its own.",
        Capability.PARALLEL_GATES: "One workflow waits for one message at a time.",
    },
)
"""A workflow with one step for each task, and `DBOS.recv` for each interrupt."""

SPECS: tuple[PlaneSpec, ...] = (WORKFLOW,)
"""Every plane of this family."""
