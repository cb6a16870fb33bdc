"""May an execution see a recorded decision.

A decision is recorded for one interrupt on one attempt. It is served to that interrupt only (never to the next one of
the same task), on that attempt and on the attempts that fork off *after* it: what a branch was told before a fork is
history to both sides, what one side was told since is nothing to the other.
"""

from __future__ import annotations

from enum import StrEnum

__all__ = ["View", "view", "visible"]


class View(StrEnum):
    """Whether a recorded decision is served to the interrupt that asks."""

    OWN = "view-own"
    """Served: recorded for this interrupt on this attempt."""
    INHERITED = "view-inherited"
    """Served: recorded for this interrupt on an earlier attempt, before this one forked off."""
    OTHER_BRANCH = "view-other-branch"
    """Hidden: recorded for this interrupt on another branch, or after this attempt forked off."""
    OTHER_INTERRUPT = "view-other-interrupt"
    """Hidden: recorded for another interrupt. One decision answers one interrupt."""
    NONE = "view-none"
    """There is no record."""


def view(
    *,
    interrupt: str,
    attempt: int,
    position: int,
    recorded_for: str | None,
    recorded_on: int,
    shared_before: int | None,
) -> View:
    """Decide whether an execution may see a recorded decision.

    Args:
        interrupt: the key of the interrupt that asks, the same on every attempt.
        attempt: the attempt that the execution is part of.
        position: where in the run the interrupt stands.
        recorded_for: the key of the interrupt that the decision answers; None if there is no record.
        recorded_on: the attempt on which it was recorded.
        shared_before: the position before which both attempts have one history (the lowest fork point on the way from
            `attempt` up to `recorded_on`); None if `recorded_on` is not an ancestor.
    """
    if recorded_for is None:
        return View.NONE
    if recorded_for != interrupt:
        return View.OTHER_INTERRUPT
    if recorded_on == attempt:
        return View.OWN
    if shared_before is not None and position < shared_before:
        return View.INHERITED
    return View.OTHER_BRANCH


def visible(outcome: View) -> bool:
    """Whether the decision is served."""
    return outcome is View.OWN or outcome is View.INHERITED
