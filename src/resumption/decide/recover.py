"""Does a task run, park, wait, or is its record served.

The same question is asked when a run starts, continues after a decision and recovers from a crash, and it is answered
from the *set* of durable records alone. That is what makes a recovery deterministic: there is no other input, neither
the order in which records arrived nor what a lost process had in memory.
"""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Recovery", "recover", "runs"]


class Recovery(StrEnum):
    """What happens to a task now."""

    SERVED = "recover-served"
    """It doesn't run: its durable record is its outcome."""
    WAITS = "recover-waits"
    """It doesn't run yet: a task that comes before it has no durable record."""
    PARKED = "recover-parked"
    """It doesn't run: it asked for a decision that isn't there yet."""
    ASKS = "recover-asks"
    """It runs up to a gate that it hasn't asked at yet, served the decisions on record."""
    RUNS = "recover-runs"
    """It runs, and asks for no decision."""
    RUNS_DECIDED = "recover-runs-decided"
    """It runs, and is served the decisions on record."""


def recover(*, recorded: bool, missing: int, gates: int, asked: int, answered: int) -> Recovery:
    """Decide what happens to a task, given the durable records that its branch may see.

    Args:
        recorded: whether the task has a durable record.
        missing: how many of the tasks that come before it have none.
        gates: how many decisions the task asks for.
        asked: how many of those it has asked for, on record.
        answered: how many of those are on record and visible (`resumption.decide.view`).
    """
    if recorded:
        return Recovery.SERVED
    if missing > 0:
        return Recovery.WAITS
    if gates <= 0:
        return Recovery.RUNS
    if answered < gates:
        if answered < asked:
            return Recovery.PARKED
        return Recovery.ASKS
    return Recovery.RUNS_DECIDED


def runs(outcome: Recovery) -> bool:
    """Whether the task's code runs."""
    return outcome is Recovery.RUNS or outcome is Recovery.RUNS_DECIDED or outcome is Recovery.ASKS
