"""Which interrupt is a delivery for, and may it consume it.

Three decisions, in the order in which a delivery meets them: is this delivery a repetition of one that was seen
(`redelivery`), which interrupt does it answer (`binding`), and may it consume that interrupt (`claim`). A claim is kept
per interrupt *and attempt*, so a fork never meets the claim of the attempt it forks from.
"""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Binding", "Claim", "Redelivery", "binding", "claim", "consumes", "redelivery"]


class Redelivery(StrEnum):
    """What a delivery id says about a delivery."""

    FIRST = "delivery-first"
    """The id is new, or there is none: decide by the interrupt."""
    REPEATED = "delivery-repeated"
    """The id has a recorded outcome for this payload: return it, run nothing."""
    IN_PROGRESS = "delivery-in-progress"
    """The delivery with this id and payload is being executed: join it."""
    RETRIED = "delivery-retried"
    """It was accepted and came to no outcome (its executor died or failed): this delivery is its recovery."""
    MISMATCH = "delivery-mismatch"
    """Refused: the id was used for another payload."""


def redelivery(*, recorded_digest: str | None, digest: str, finished: bool, executing: bool) -> Redelivery:
    """Decide whether a delivery repeats an earlier one with the same delivery id.

    Args:
        recorded_digest: the digest of the payload that first came with this id; None if the id is new or absent.
        digest: the digest of this payload.
        finished: whether a parked or completed outcome is recorded under the id. Failures are not recorded.
        executing: whether another live executor holds the thread's lease.
    """
    if recorded_digest is None:
        return Redelivery.FIRST
    if recorded_digest != digest:
        return Redelivery.MISMATCH
    if finished:
        return Redelivery.REPEATED
    if executing:
        return Redelivery.IN_PROGRESS
    return Redelivery.RETRIED


class Binding(StrEnum):
    """Which interrupt a delivery answers."""

    NAMED = "binding-named"
    """The one that it names."""
    SOLE = "binding-sole"
    """It names none, and exactly one was pending when it arrived."""
    BREAKPOINT = "binding-breakpoint"
    """It names none and none is pending, but the run stands at a breakpoint: it is for the next interrupt."""
    NOTHING_PENDING = "binding-nothing-pending"
    """Refused: it names none and none is pending (a stray: the run is finished, or the interrupt consumed)."""
    AMBIGUOUS = "binding-ambiguous"
    """Refused: it names none and several are pending."""
    UNKNOWN = "binding-unknown"
    """Refused: it names one that this thread never raised."""


def binding(*, named: bool, known: bool, pending: int, at_breakpoint: bool) -> Binding:
    """Decide which interrupt a delivery answers.

    Args:
        named: whether the delivery names an interrupt.
        known: whether the named interrupt was raised by this thread.
        pending: how many interrupts were pending when the delivery *arrived*. Counting them only once the lease is held
            would let a delivery that waited behind another answer whatever interrupt came next.
        at_breakpoint: whether the run was stopped before a task by its operator, who may answer ahead. Such an answer
            is claimed by the checkpoint that the run stands at, since there is no interrupt to claim.
    """
    if named:
        if known:
            return Binding.NAMED
        return Binding.UNKNOWN
    if pending >= 2:
        return Binding.AMBIGUOUS
    if pending == 1:
        return Binding.SOLE
    if at_breakpoint:
        return Binding.BREAKPOINT
    return Binding.NOTHING_PENDING


class Claim(StrEnum):
    """What became of a delivery to one interrupt on one attempt."""

    CONSUMED = "claim-consumed"
    """This delivery consumes the interrupt: claim and decision are written, the gate runs with its value."""
    RECOVERED = "claim-recovered"
    """The same decision was claimed by an executor that is gone: this delivery is its recovery."""
    JOINED = "claim-joined"
    """The same decision is being executed: wait for it and return its outcome."""
    REPEATED = "claim-repeated"
    """The interrupt was consumed with the same decision: return the recorded outcome, run nothing."""
    WAITS = "claim-waits"
    """Unclaimed, but another executor has the thread: wait for the lease. Nothing is recorded."""
    CLAIMED = "claim-claimed"
    """Refused: another decision is being executed for this interrupt."""
    PENDING = "claim-pending"
    """Refused: another decision was claimed by an executor that is gone. Recover that one, or fork."""
    ALREADY_CONSUMED = "claim-already-consumed"
    """Refused: the interrupt was consumed with another decision, or with one that isn't on record."""
    WITHDRAWN = "claim-withdrawn"
    """Refused: nobody answered the interrupt, and the run no longer waits for it."""


def claim(*, leased: bool, pending: bool, consumed: bool, claimed_digest: str | None, digest: str) -> Claim:
    """Decide what a delivery may do to the interrupt that it is bound to.

    Args:
        leased: whether this caller holds the thread's lease; if not, another live executor does.
        pending: whether the run still waits at the interrupt.
        consumed: whether the gate received a decision *and* its task is durable.
        claimed_digest: the digest of the decision that claimed the interrupt; None if there is no claim.
        digest: the digest of this delivery's decision.
    """
    if consumed:
        if claimed_digest == digest:
            return Claim.REPEATED
        return Claim.ALREADY_CONSUMED
    if claimed_digest is None:
        if not pending:
            return Claim.WITHDRAWN
        if not leased:
            return Claim.WAITS
        return Claim.CONSUMED
    if claimed_digest == digest:
        # The holder of a lease knows that no executor of the earlier claim is left.
        if leased:
            return Claim.RECOVERED
        return Claim.JOINED
    if leased:
        return Claim.PENDING
    return Claim.CLAIMED


def consumes(outcome: Claim) -> bool:
    """Whether the gate may run on behalf of this delivery."""
    return outcome is Claim.CONSUMED or outcome is Claim.RECOVERED
