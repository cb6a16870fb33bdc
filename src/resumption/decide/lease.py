"""Who may execute this thread.

A lease has a holder, a fence (a number that grows with every grant) and, where nothing frees it at the holder's death,
an expiry. The fence travels with every write of its holder (`resumption.decide.commit`): a holder that was paused past
its expiry and wakes up still believes that it holds the lease, and only its old fence tells otherwise.
"""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Lease", "fence_after", "holds", "lease"]


class Lease(StrEnum):
    """What became of a request for a thread's lease."""

    FREE = "lease-free"
    """Granted: nobody held it."""
    KEPT = "lease-kept"
    """Granted: the caller holds it, and nobody took it over."""
    TAKEN_FROM_DEAD = "lease-taken-from-dead"
    """Granted: the holder is proven dead, so nothing of it can still be running."""
    TAKEN_AFTER_EXPIRY = "lease-taken-after-expiry"
    """Granted, but the former holder may be alive: its writes are fenced, its effects are in doubt."""
    BUSY = "lease-busy"
    """Refused: another holder executes this thread."""
    LOST = "lease-lost"
    """Refused: the caller asks to keep a lease that is no longer its own. It must stop."""


def lease(
    *,
    holder: str | None,
    fence: int,
    expires: int | None,
    dead: bool,
    caller: str,
    held_fence: int | None,
    now: int,
) -> Lease:
    """Decide a request for a thread's lease.

    Args:
        holder: who holds it on record, or None.
        fence: the fence of the last grant of this thread; 0 before the first.
        expires: when the holder's lease runs out, on the clock of `now`; None if it lasts until the holder dies.
        dead: whether the holder's death is *proven* (the operating system or the server freed its lock).
        caller: who asks. An identity is never used for two requests that may overlap.
        held_fence: the fence of the lease that the caller asks to keep; None if it asks for a new one.
        now: the time of the decision.
    """
    if held_fence is not None:
        # An expired lease that nobody took over is still the caller's: no other fence was handed out since.
        if holder == caller and held_fence == fence:
            return Lease.KEPT
        return Lease.LOST
    if holder is None:
        return Lease.FREE
    if dead:
        return Lease.TAKEN_FROM_DEAD
    if expires is not None and expires <= now:
        return Lease.TAKEN_AFTER_EXPIRY
    return Lease.BUSY


def holds(outcome: Lease) -> bool:
    """Whether the caller may execute the thread after this outcome."""
    return outcome is not Lease.BUSY and outcome is not Lease.LOST


def fence_after(outcome: Lease, *, fence: int) -> int:
    """The thread's fence after this outcome: a new one for each new holder, so that older writes can be told apart."""
    if outcome is Lease.KEPT or not holds(outcome):
        return fence
    return fence + 1
