"""The one error by which the reference plane refuses something, and the sentence for each reason.

It stands for an error of a framework, not of this package: the harness sees its name and message in an outcome.
"""

from __future__ import annotations

from enum import StrEnum

from resumption.decide.branch import Branch
from resumption.decide.claim import Binding, Claim, Redelivery
from resumption.decide.commit import Commit

__all__ = ["Refused", "RunRefusal"]


class RunRefusal(StrEnum):
    """Reasons that no decision function is needed for."""

    NOT_STARTED = "run-not-started"
    ALREADY_STARTED = "run-already-started"
    BUSY = "run-busy"
    TOPOLOGY_CHANGED = "run-topology-changed"
    NOT_RECOVERED = "run-not-recovered"
    STATE_BROKEN = "run-state-broken"


Reason = RunRefusal | Binding | Branch | Claim | Redelivery | Commit

_SENTENCES: dict[Reason, str] = {
    RunRefusal.NOT_STARTED: "no run was started on this thread",
    RunRefusal.ALREADY_STARTED: "this thread holds a run already",
    RunRefusal.BUSY: "another executor holds this thread, and kept it",
    RunRefusal.TOPOLOGY_CHANGED: "the program is not the one that this run was started with",
    RunRefusal.NOT_RECOVERED: "this run crashed",
    RunRefusal.STATE_BROKEN: "the recorded write of a task breaks the state schema",
    Binding.NOTHING_PENDING: "no interrupt is pending",
    Binding.AMBIGUOUS: "several interrupts are pending, so the answer has to name one",
    Binding.UNKNOWN: "this thread never raised that interrupt",
    Branch.NOTHING_TO_FORK: "there is no interrupt to fork at",
    Branch.SUPERSEDED: "the run has moved past that interrupt; fork to give it another decision",
    Branch.UNKNOWN: "that address was never issued",
    Claim.JOINED: "the same decision is being executed for this interrupt",
    Claim.REPEATED: "the interrupt was consumed with the same decision",
    Claim.CLAIMED: "another decision is being executed for this interrupt",
    Claim.PENDING: "another decision was accepted for this interrupt, and its executor is gone: recover, or fork",
    Claim.ALREADY_CONSUMED: "the interrupt was consumed with another decision",
    Claim.WITHDRAWN: "the run no longer waits at that interrupt",
    Redelivery.MISMATCH: "this delivery id came with another decision before",
    Commit.FENCED: "another executor took this thread over",
    Commit.INVALID: "the write breaks the state schema, so nothing was stored",
    Commit.OUT_OF_ORDER: "a task that comes before this one has no record",
}


class Refused(Exception):
    """Something was refused, and nothing was stored. The message begins with the reason's name."""

    def __init__(self, reason: Reason, what: str = "") -> None:
        super().__init__(f"{reason}: {_SENTENCES[reason]}" + (f" ({what})" if what else ""))
        self.reason = reason
