"""What the harness has to know of Agent Framework, without importing it: its plane and its resume forms."""

from __future__ import annotations

from resumption.planes.interface import Backend, Capability, Form, Operation, PlaneSpec

__all__ = ["SPECS", "WORKFLOW"]

WORKFLOW = PlaneSpec(
    name="agent-framework",
    package="agent-framework-core",
    path="workflow",
    adapter="resumption.planes.agent_framework.workflow",
    preload=("agent_framework",),
    backends=(Backend("files"),),
    forms=(
        Form(
            "responses",
            Operation.DELIVER,
            "run(checkpoint_id=the latest, responses={request id: value}) on a new workflow.",
            statement="deliver-responses",
            names_interrupt=True,
        ),
        Form(
            "responses-at-checkpoint",
            Operation.DELIVER,
            "run(checkpoint_id=the one at which the request was pending, responses={request id: value}), as a client"
            " does that was handed both.",
            statement="deliver-at-checkpoint",
            names_interrupt=True,
        ),
        Form(
            "latest-checkpoint",
            Operation.RECOVER,
            "run(checkpoint_id=the latest) on a new workflow; run(message) if there is none.",
            statement="recover-checkpoint",
        ),
        Form(
            "fork-at-checkpoint",
            Operation.FORK,
            "run(checkpoint_id=the one at which the request was pending, responses={request id: another value}).",
            statement="deliver-at-checkpoint",
            names_interrupt=True,
        ),
    ),
    # A checkpoint id is an address, which a retry may carry as well as a fork; nothing else in the call says which.
    fork_discriminator="",
    lacks={
        Capability.LIVE_DELIVERY: "A workflow refuses a second call of run() while it runs. Another workflow that is"
        " restored from the same checkpoint can be in any process.",
    },
)
"""A `Workflow` of executors on `FileCheckpointStorage`, asked through `request_info`."""

SPECS: tuple[PlaneSpec, ...] = (WORKFLOW,)
"""Every plane of this family."""
