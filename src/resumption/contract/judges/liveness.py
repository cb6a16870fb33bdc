"""LV: a crashed or parked run can be brought to completion.

Each branch is looked at: completion is a return with the mark of every task on the trail. A branch on which nobody
tried to go on after its last crash, error or park shows nothing. Strays are no attempt to go on. A program that hands
over an invalid write can't be completed by a plane that refuses such writes, so it shows nothing either. Nor does a
run that died before any of its tasks began: its caller knows that the start failed, and can start it again.
"""

from __future__ import annotations

import math

from resumption.contract.judges.branches import Branch, branches
from resumption.contract.judges.operations import intent_of, outcome
from resumption.contract.judges.program import is_complete, missing_tasks
from resumption.contract.judges.stories import finding, judgement
from resumption.contract.properties import Property
from resumption.contract.verdicts import Finding, Judgement
from resumption.history.events import (
    Deliver,
    Event,
    Exit,
    Intent,
    Park,
    Raise,
    Recover,
    Return,
    Start,
    TaskStart,
)
from resumption.history.history import History

__all__ = ["judge_liveness"]


def judge_liveness(history: History) -> tuple[Judgement, ...]:
    """Judge LV."""
    findings: list[Finding] = []
    witnesses: list[int] = []
    otherwise = "nobody tried to bring a crashed or parked run to completion"
    if any(task.corrupts for task in history.workload.tasks):
        otherwise = "the program hands over an invalid write, so no conforming plane completes it"
        return (judgement(Property.LIVENESS, findings, witnesses, otherwise=otherwise),)
    for branch in branches(history):
        halt = _halt(history, branch)
        resumes = [resume for resume in branch.resumes() if intent_of(resume) is not Intent.STRAY]
        if halt is None or not resumes:
            continue
        ends = [outcome(history, resume) for resume in resumes]
        done = next((end for end in ends if _completes(history, end)), None)
        if done:
            witnesses += [halt.number, done.number]
        else:
            findings += _stuck(history, branch, halt, resumes[-1], ends[-1])
    return (judgement(Property.LIVENESS, findings, witnesses, otherwise=otherwise),)


def _halt(history: History, branch: Branch) -> Event | None:
    """The first event by which the run stood still before its end: a park, an error, or the death of its process."""
    parks = list(branch.of(Park))
    ends = [outcome(history, e) for e in branch.events if isinstance(e, Start | Deliver | Recover)]
    halts = [*parks, *(end for end in ends if isinstance(end, Raise | Exit))]
    begun = _begun(branch)
    return min((halt for halt in halts if halt.number > begun), key=lambda halt: halt.number, default=None)


def _begun(branch: Branch) -> float:
    """Number of the event with which there was a run to be resumed: the start of its first task."""
    return next((start.number for start in branch.of(TaskStart)), math.inf)


def _completes(history: History, end: Event | None) -> bool:
    return isinstance(end, Return) and is_complete(history.workload, end.trail)


def _stuck(history: History, branch: Branch, halt: Event, last: Deliver | Recover, end: Event | None) -> list[Finding]:
    """Tell how the last attempt failed. One that died, or left a question that nobody answered, has not failed yet."""
    if isinstance(end, Return):
        lost = ", ".join(f"`{task}`" for task in missing_tasks(history.workload, end.trail))
        how = f"returned as finished without {lost}"
    elif isinstance(end, Raise):
        how = f"raised {end.error}"
    elif isinstance(end, Park) and isinstance(last, Deliver) and last.target in {p.name for p in end.pending}:
        how = f"parked again at `{last.target}`, which it was answering"
    else:
        return []
    summary = f"the last attempt to bring the run on branch {branch.name} to its end {how}"
    return [finding(history, summary, halt, last, end)]
