"""What the harness has to know of the Agent Development Kit, without importing it: its plane and its resume forms."""

from __future__ import annotations

from resumption.planes.interface import Backend, Capability, Form, Operation, PlaneSpec

__all__ = ["SPECS", "WORKFLOW"]

WORKFLOW = PlaneSpec(
    name="google-adk",
    package="google-adk",
    path="workflow",
    adapter="resumption.planes.google_adk.workflow",
    preload=(
        "google.adk.apps",
        "google.adk.runners",
        "google.adk.sessions.sqlite_session_service",
        "google.adk.workflow._workflow",  # the package imports its members no earlier than they are used
    ),
    backends=(Backend("sqlite"),),
    forms=(
        Form(
            "function-response",
            Operation.DELIVER,
            "run_async(invocation_id=…, new_message=the function response to the request).",
            statement="deliver-function-response",
            names_interrupt=True,
        ),
        Form(
            "invocation-id",
            Operation.RECOVER,
            "run_async(invocation_id=…) with the id that the session's first event has.",
            statement="recover-invocation-id",
        ),
        Form(
            "second-response",
            Operation.FORK,
            "run_async(invocation_id=…, new_message=another function response to the same request).",
            names_interrupt=True,
        ),
    ),
    # A second response to a request is the same call as the first: nothing in it says whether it is a retry or a fork.
    fork_discriminator="",
    lacks={
        Capability.LIVE_DELIVERY: "A response is a new run of the invocation, in any process, and no message to the run"
        " that is under way.",
    },
    environment={"OTEL_SDK_DISABLED": "true"},
)
"""A `Workflow` of function nodes in a resumable app, on `SqliteSessionService`; no model takes part."""

SPECS: tuple[PlaneSpec, ...] = (WORKFLOW,)
"""Every plane of this family."""
