"""What the harness has to know of AutoGen AgentChat, without importing it: its plane, backend and resume forms."""

from __future__ import annotations

from resumption.planes.interface import Backend, Capability, Durability, Form, Operation, PlaneSpec

__all__ = ["SPECS", "SWARM"]

_ONE_SPEAKER = "A Swarm lets one agent speak at a time."

SWARM = PlaneSpec(
    name="autogen",
    package="autogen-agentchat",
    path="swarm",
    adapter="resumption.planes.autogen.swarm",
    preload=("autogen_agentchat.teams", "autogen_agentchat.conditions", "autogen_agentchat.agents"),
    backends=(Backend("json-file"),),
    forms=(
        Form(
            "handoff",
            Operation.DELIVER,
            "load_state(the newest state) into a new team, then run(task=HandoffMessage(…)) with the answer, to the "
            "agent that asked; where the team is live in this process, that run() alone.",
            statement="deliver-handoff",
            names_interrupt=True,
        ),
        Form(
            "load-and-run",
            Operation.RECOVER,
            "load_state(the newest state) into a new team, then run() without a task, unless the caller saved it "
            "waiting for a person or at its end.",
            statement="recover-run",
        ),
        Form(
            "saved-state",
            Operation.FORK,
            "load_state(the state saved where the run waited) into a new team, then run(task=HandoffMessage(…)); what "
            "it saves goes to a file of its own.",
            names_interrupt=True,
        ),
    ),
    durability=Durability.CALLER,
    snapshots=(
        "The team runs one turn at a time (max_turns=1), and the caller saves save_state() before the first and behind "
        "each, when the team isn't running: to a file beside, which then takes the old one's place."
    ),
    framework_snapshots=True,
    lacks={Capability.FAN_OUT: _ONE_SPEAKER, Capability.PARALLEL_GATES: _ONE_SPEAKER},
    environment={"AUTOGEN_DISABLE_RUNTIME_TRACING": "true"},
)
"""A `Swarm` of one agent for each task, cut at its questions, which hand the trail on in messages of their own type."""

SPECS: tuple[PlaneSpec, ...] = (SWARM,)
"""Every plane of this family."""
