"""Does a delivery continue a branch, or does it open a new one.

Fork intent has to be said. An address alone says *where*, never *that a second outcome is wanted*: clients that always
send the checkpoint they last saw would otherwise fork each time they retry.
"""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Branch", "attempt_after", "branch"]


class Branch(StrEnum):
    """Where a delivery goes."""

    CONTINUE = "branch-continue"
    """To the branch it addresses: a first delivery, or a retry of one."""
    FORK = "branch-fork"
    """To a new attempt at the addressed interrupt, with a decision and effects of its own."""
    NOTHING_TO_FORK = "branch-nothing-to-fork"
    """Refused: fork intent at a place where no interrupt was raised, so the decision has no receiver."""
    SUPERSEDED = "branch-superseded"
    """Refused: an old place of the branch, without fork intent. The branch has moved on; the advice is to fork."""
    UNKNOWN = "branch-unknown"
    """Refused: the address was never issued for this thread."""


def branch(*, known: bool, head: bool, interrupted: bool, fork: bool) -> Branch:
    """Decide where a delivery goes.

    Args:
        known: whether its address was issued for this thread. A delivery without one means the head, which is known.
        head: whether the address is the newest place of its branch.
        interrupted: whether an interrupt was raised at the address.
        fork: whether the delivery carries fork intent.
    """
    if not known:
        return Branch.UNKNOWN
    if fork:
        if interrupted:
            return Branch.FORK
        return Branch.NOTHING_TO_FORK
    if head:
        return Branch.CONTINUE
    return Branch.SUPERSEDED


def attempt_after(outcome: Branch, *, attempt: int, highest: int) -> int | None:
    """The attempt that a delivery acts on; None if it was refused.

    Args:
        outcome: where the delivery goes.
        attempt: the attempt that it addresses.
        highest: the highest attempt of the thread so far. A new one is numbered past it, so no two are alike.
    """
    if outcome is Branch.FORK:
        return highest + 1
    if outcome is Branch.CONTINUE:
        return attempt
    return None
