"""What the harness has to know of LlamaIndex Workflows, without importing them: planes, backend and resume forms."""

from __future__ import annotations

from resumption.planes.interface import Backend, Capability, Durability, Form, Operation, PlaneSpec

__all__ = ["SPECS", "TWO_STEP", "WAIT_FOR_EVENT", "WAIT_WITH_REQUIREMENTS"]

_POLICY = (
    "The caller saves ctx.to_dict() at the start of each step, which waits for it, where the run waits for a person, "
    "and at its end: to a file beside, which then takes the old one's place."
)

_FORMS = (
    Form(
        "send-event",
        Operation.DELIVER,
        "run(ctx=Context.from_dict(the newest snapshot)), then send_event() with the answer; where the run is live in "
        "this process, send_event() alone.",
        statement="deliver-send-event",
        names_interrupt=True,
    ),
    Form(
        "run-context",
        Operation.RECOVER,
        "run(ctx=Context.from_dict(the newest snapshot)), unless the caller saved it where the run waits or ended.",
        statement="recover-last-snapshot",
    ),
    Form(
        "snapshot",
        Operation.FORK,
        "run(ctx=Context.from_dict(the snapshot saved where the run waited)), then send_event() with the answer; what "
        "it saves goes to a file of its own.",
        names_interrupt=True,
    ),
)


def _plane(path: str) -> PlaneSpec:
    return PlaneSpec(
        name="llamaindex",
        package="llama-index-workflows",
        path=path,
        adapter=f"resumption.planes.llamaindex.{path.replace('-', '_')}",
        preload=("workflows", "workflows.events", "workflows.context"),
        backends=(Backend("json-file"),),
        forms=_FORMS,
        durability=Durability.CALLER,
        snapshots=_POLICY,
        framework_snapshots=True,
        lacks={Capability.SEVERAL_ANSWERS: "An event carries the answer to one question."},
        environment={"DO_NOT_TRACK": "1"},
    )


TWO_STEP = _plane("two-step")
"""A step in front of each question returns an `InputRequiredEvent`, and one behind it takes the answer."""

WAIT_FOR_EVENT = _plane("wait-for-event")
"""One step for each task, which asks by `ctx.wait_for_event`, for an answer of a type of its own."""

WAIT_WITH_REQUIREMENTS = _plane("wait-with-requirements")
"""The same, where answers are of one type, and `requirements` say which question each is for."""

SPECS: tuple[PlaneSpec, ...] = (TWO_STEP, WAIT_FOR_EVENT, WAIT_WITH_REQUIREMENTS)
"""Every plane of this family."""
