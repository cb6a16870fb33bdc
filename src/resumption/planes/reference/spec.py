"""What the harness has to know of the reference plane."""

from __future__ import annotations

from resumption.planes.interface import Backend, Form, Operation, PlaneSpec

__all__ = ["ANSWER", "BARE", "FORK", "RECOVER", "REFERENCE", "SPECS"]

ANSWER = Form("answer", Operation.DELIVER, "answer an interrupt by its identity", "forms", names_interrupt=True)
BARE = Form("bare", Operation.DELIVER, "answer whichever interrupt is pending, when exactly one is", "forms")
FORK = Form(
    "fork", Operation.FORK, "open a new attempt at an interrupt, by its identity", "forms", names_interrupt=True
)
RECOVER = Form("recover", Operation.RECOVER, "let a crashed run go on from its durable records", "forms")

REFERENCE = PlaneSpec(
    name="reference",
    package="",
    path="run",
    adapter="resumption.planes.reference.adapter",
    backends=(Backend("sqlite", copies=True, loses_leases=True),),
    forms=(ANSWER, BARE, FORK, RECOVER),
    fork_discriminator="the form `fork`",
)
"""The one plane of this family."""

SPECS: tuple[PlaneSpec, ...] = (REFERENCE,)
"""Every plane of this family."""
