"""The rules that a run goes by: those of `resumption.decide`, and what a control may exchange.

The reference plane has `REFERENCE`. A faulty plane has these with one rule replaced, so a control differs from the
reference in exactly one decision and in nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from resumption.decide.commit import Commit, commit
from resumption.decide.recover import Recovery, recover
from resumption.decide.view import View, view
from resumption.history.events import Json
from resumption.history.workload import Task, Workload
from resumption.planes.interface import Decision, Instruments, Snapshot
from resumption.planes.reference.refusals import Refused

__all__ = ["REFERENCE", "CommitRule", "RecoverRule", "Refusal", "Rules", "ViewRule", "is_trail"]


class CommitRule(Protocol):
    """`resumption.decide.commit.commit`, or a replacement."""

    def __call__(self, *, fence: int, current_fence: int, recorded: bool, valid: bool, missing: int) -> Commit: ...


class RecoverRule(Protocol):
    """`resumption.decide.recover.recover`, or a replacement."""

    def __call__(self, *, recorded: bool, missing: int, gates: int, asked: int, answered: int) -> Recovery: ...


class ViewRule(Protocol):
    """`resumption.decide.view.view`, or a replacement."""

    def __call__(
        self,
        *,
        interrupt: str,
        attempt: int,
        position: int,
        recorded_for: str | None,
        recorded_on: int,
        shared_before: int | None,
    ) -> View: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A delivery that is about to be refused."""

    error: Refused
    decision: Decision
    gate: Task | None
    """The task whose interrupt it was meant for; None if the program has no such interrupt."""
    raced: bool
    """Whether it arrived while the interrupt was pending or another delivery was being executed: it lost a race."""
    instruments: Instruments


def _raise(refusal: Refusal) -> None:
    raise refusal.error


def _forget_nothing(workload: Workload, location: Path) -> frozenset[str]:
    return frozenset()


def _rewind_nothing(workload: Workload) -> frozenset[str]:
    return frozenset()


def _only_read(location: Path, instruments: Instruments) -> None:
    pass


def _as_it_is(snapshot: Snapshot) -> Snapshot:
    return snapshot


def is_trail(write: Json) -> bool:
    """The state schema: a list of strings."""
    return isinstance(write, list) and all(isinstance(item, str) for item in write)


def _as_given(write: Json) -> Json:
    return write


def _ask_anonymously() -> Json:
    return None


def _keep(question: Json) -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a run decides by."""

    commit: CommitRule = commit
    """Whether a task's completion is stored."""
    stores: Callable[[Json], Json] = _as_given
    """What is stored of a task's write."""
    trusts: Callable[[Json], bool] = is_trail
    """Whether a recorded write is taken for sound when it is loaded."""
    recover: RecoverRule = recover
    """What happens to a task."""
    view: ViewRule = view
    """Whether a recorded decision is served."""
    splits: bool = False
    """Whether a task's write is stored on its own, before the record that the task is done."""
    forgets: Callable[[Workload, Path], frozenset[str]] = _forget_nothing
    """The tasks whose records an explicit recovery of the store at a location leaves out of account."""
    rewinds: Callable[[Workload], frozenset[str]] = _rewind_nothing
    """The tasks whose records an accepted decision leaves out of account."""
    refuse: Callable[[Refusal], None] = _raise
    """What happens to a delivery that has to be refused. If it returns, the run's outcome is reported to the caller."""
    recovers: bool = True
    """Whether a crashed run goes on when it is asked to."""
    excludes: bool = True
    """Whether a recovery waits until nobody else executes the thread."""
    drops: bool = False
    """Whether a recovery takes the tasks that didn't run, gates apart, for done, and for having written nothing."""
    inspects: Callable[[Path, Instruments], None] = _only_read
    """What an inspection does besides reading."""
    shows: Callable[[Snapshot], Snapshot] = _as_it_is
    """What an inspection shows of what it read."""
    asks: Callable[[], Json] = _ask_anonymously
    """What is recorded with a question."""
    keeps: Callable[[Json], bool] = _keep
    """Whether a question still waits for its answer, by what was recorded with it."""
    spreads: bool = False
    """Whether a decision is recorded for every interrupt that is pending, in place of what was meant for the others."""
    lends: bool = False
    """Whether an interrupt without a decision is served the one that was recorded before it in its task."""


REFERENCE = Rules()
"""The rules of the contract."""
