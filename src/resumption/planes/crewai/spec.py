"""What the harness has to know of CrewAI, without importing it: its planes and resume forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from resumption.planes.interface import Backend, Capability, Form, Operation, PlaneSpec

__all__ = ["CHECKPOINT", "CHECKPOINT_BESIDE_A_FLOW", "HUMAN_FEEDBACK", "PERSIST", "SPECS"]

_NO_FORK = "Feedback that was given is gone from the table, and no call brings the question back."

_RESUME = Form(
    "resume",
    Operation.DELIVER,
    "from_pending(flow id), then resume(value).",
    statement="deliver-resume",
    names_interrupt=True,
)

_REKICK = Form(
    "rekick",
    Operation.RECOVER,
    'kickoff(inputs={"id": flow id}), which loads the latest state stored under that id.',
    statement="recover-rekick",
)


def _plane(
    path: str,
    forms: Sequence[Form],
    *,
    lacks: Mapping[Capability, str] | None = None,
    fork_discriminator: str = "",
    by_default: bool = True,
) -> PlaneSpec:
    return PlaneSpec(
        name="crewai",
        package="crewai",
        path=path,
        adapter=f"resumption.planes.crewai.{path.replace('-', '_')}",
        preload=(
            "crewai",
            "crewai.flow.flow",
            "crewai.flow.human_feedback",
            "crewai.flow.async_feedback",
            "crewai.flow.persistence",
            "crewai.state.checkpoint_config",
            "crewai.state.checkpoint_listener",  # CrewAI imports it no earlier than with the first checkpoint
        ),
        backends=(Backend("sqlite"),),
        forms=forms,
        fork_discriminator=fork_discriminator,
        by_default=by_default,
        lacks={
            Capability.PARALLEL_GATES: "A flow has one pending question at a time: its table has one row for a flow.",
            **(lacks or {}),
        },
        environment={
            "CREWAI_DISABLE_TELEMETRY": "true",
            "CREWAI_DISABLE_TRACKING": "true",
            "CREWAI_TRACING_ENABLED": "false",
            "OTEL_SDK_DISABLED": "true",
            "RUST_BACKTRACE": "0",  # telling a panic of a checkpoint's serializer takes longer than any run
            "OPENBLAS_NUM_THREADS": "1",  # CrewAI imports numpy, whose threads nothing could be forked with
        },
    )


PERSIST = _plane(
    "persist",
    (
        _RESUME,
        _REKICK,
        Form(
            "restore-state",
            Operation.RECOVER,
            "kickoff(restore_from_state_id=flow id), which loads that state and goes on under a new id.",
            statement="run-on-restored-state",
        ),
        Form(
            "restore-state",
            Operation.FORK,
            "kickoff(restore_from_state_id=flow id), which comes to the question again, then resume(value) there.",
            statement="run-on-restored-state",
        ),
    ),
    fork_discriminator="kickoff(restore_from_state_id=…)",
)
"""A flow decorated with `@persist`."""

CHECKPOINT = _plane(
    "checkpoint",
    (
        _RESUME,
        Form(
            "from-checkpoint",
            Operation.RECOVER,
            "from_checkpoint(the newest checkpoint), then kickoff().",
            statement="recover-from-checkpoint",
        ),
        Form(
            "fork",
            Operation.FORK,
            "fork(the checkpoint), kickoff(), which comes to the question again, then resume(value) there.",
            statement="fork-checkpoint",
        ),
    ),
    fork_discriminator="Flow.fork, a call of its own",
)
"""A flow with a `CheckpointConfig`, written after each method by a thread beside the flow."""

CHECKPOINT_BESIDE_A_FLOW = _plane(
    "checkpoint-beside-a-flow",
    CHECKPOINT.forms,
    fork_discriminator=CHECKPOINT.fork_discriminator,
    by_default=False,
)
"""The same, where another `Flow` object was made in the same context before, and never run."""

HUMAN_FEEDBACK = _plane("human-feedback", (_RESUME, _REKICK), lacks={Capability.FORK: _NO_FORK})
"""A flow that stores its state when it parks for a human, and not otherwise."""

SPECS: tuple[PlaneSpec, ...] = (PERSIST, CHECKPOINT, HUMAN_FEEDBACK, CHECKPOINT_BESIDE_A_FLOW)
"""Every plane of this family."""
