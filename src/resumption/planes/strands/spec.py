"""What the harness has to know of Strands Agents, without importing it: its planes and their resume forms."""

from __future__ import annotations

from resumption.planes.interface import Backend, Capability, Form, Operation, PlaneSpec

__all__ = ["SESSION", "SESSION_PER_MESSAGE", "SPECS"]


def _plane(path: str) -> PlaneSpec:
    return PlaneSpec(
        name="strands",
        package="strands-agents",
        path=path,
        adapter=f"resumption.planes.strands.{path.replace('-', '_')}",
        preload=("strands", "strands.session", "strands.storage", "strands.models.model"),
        backends=(Backend("files"),),
        forms=(
            Form(
                "interrupt-response",
                Operation.DELIVER,
                "agent([{interruptResponse: {interruptId: …, response: value}}]) with a new agent of the session.",
                statement="deliver-interrupt-response",
                names_interrupt=True,
            ),
            Form(
                "no-prompt",
                Operation.RECOVER,
                "agent() on a new agent with the session's manager, unless its latest snapshot waits for a response.",
                statement="recover-no-prompt",
            ),
            Form(
                "new-message",
                Operation.RECOVER,
                'agent("continue"), as a user does who finds the conversation stopped, unless it waits for a response.',
            ),
            Form(
                "restore-snapshot",
                Operation.FORK,
                "restore_snapshot(agent, snapshot_id=…), then agent([{interruptResponse: …}]).",
                statement="fork-restore-snapshot",
                names_interrupt=True,
            ),
        ),
        fork_discriminator="restore_snapshot, with the id of an immutable snapshot",
        lacks={
            Capability.SCHEMA: "A tool's result is any JSON: neither messages nor the agent's state have a schema.",
            Capability.TAMPER: "Messages have no schema that an altered one could break.",
            Capability.LIVE_DELIVERY: "An agent takes responses when it is called, and none while it runs.",
        },
        environment={"OTEL_SDK_DISABLED": "true"},
    )


SESSION = _plane("session")
"""An agent whose latest snapshot is saved after each invocation, which is the default of `SnapshotSessionManager`.

The model is a script: it asks for each task's tool once, in their order, whatever the tools answered.
"""

SESSION_PER_MESSAGE = _plane("session-per-message")
"""The same agent with `save_latest_on="message"`."""

SPECS: tuple[PlaneSpec, ...] = (SESSION, SESSION_PER_MESSAGE)
"""Every plane of this family."""
