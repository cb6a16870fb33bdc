"""May this write become durable, and where is the frontier after it."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Answers", "Commit", "answers", "commit", "frontier_after"]


class Commit(StrEnum):
    """What became of a request to make a task's completion durable."""

    STORED = "commit-stored"
    """The record becomes durable."""
    FENCED = "commit-fenced"
    """Refused: another executor took this thread over. The writer must stop."""
    ALREADY_DURABLE = "commit-already-durable"
    """The task has a record; it stands, and this one is dropped."""
    INVALID = "commit-invalid"
    """Refused with an error: the value breaks the state schema. Nothing is stored."""
    OUT_OF_ORDER = "commit-out-of-order"
    """Refused: a task that comes before this one has no record, so storing this would leave a hole in the log."""


def commit(*, fence: int, current_fence: int, recorded: bool, valid: bool, missing: int) -> Commit:
    """Decide whether a task's completion is stored.

    Args:
        fence: the fence of the lease under which the task ran.
        current_fence: the thread's fence now.
        recorded: whether the task has a durable record on this branch.
        valid: whether the state after the write satisfies the state schema.
        missing: how many of the tasks that come before this one have no durable record on this branch.
    """
    if fence != current_fence:
        return Commit.FENCED
    if recorded:
        return Commit.ALREADY_DURABLE
    if not valid:
        return Commit.INVALID
    if missing > 0:
        return Commit.OUT_OF_ORDER
    return Commit.STORED


def frontier_after(outcome: Commit, *, frontier: int, position: int) -> int:
    """The last durable position of a sequence after this outcome; 0 when nothing is durable."""
    if outcome is Commit.STORED:
        return position
    return frontier


class Answers(StrEnum):
    """What became of a list of answers that an execution hands back for its task."""

    STORED = "answers-stored"
    """The list replaces the stored one, which it extends or repeats."""
    KEPT = "answers-kept"
    """The stored list stands: the offered one is shorter, and an answer once given is never stripped."""
    FENCED = "answers-fenced"
    """Refused: another executor took this thread over."""


def answers(*, fence: int, current_fence: int, stored: int, offered: int) -> Answers:
    """Decide whether a task's answers are replaced by the `offered` ones, given the number of each.

    A framework that re-runs a task may hand back only the answers which that run got to ask for.
    """
    if fence != current_fence:
        return Answers.FENCED
    if offered < stored:
        return Answers.KEPT
    return Answers.STORED
