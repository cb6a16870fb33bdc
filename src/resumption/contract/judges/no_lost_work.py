"""LW: a run that reads as finished has run every task of its program.

Looked at is what follows a resume: a return, or an inspection that shows a finished run. Each task must have ended on
the branch before, or in the prefix that a fork inherits.
"""

from __future__ import annotations

from resumption.contract.judges.branches import Branch, branches
from resumption.contract.judges.stories import finding, judgement
from resumption.contract.properties import Property
from resumption.contract.verdicts import Finding, Judgement
from resumption.history.events import Return, State, TaskEnd
from resumption.history.history import History

__all__ = ["judge_no_lost_work"]


def judge_no_lost_work(history: History) -> tuple[Judgement, ...]:
    """Judge LW."""
    findings: list[Finding] = []
    witnesses: list[int] = []
    for branch in branches(history):
        for end in (event for event in branch.events if isinstance(event, Return | State) and branch.is_own(event)):
            resumes = [resume for resume in branch.resumes() if resume.number < end.number]
            if not resumes or (isinstance(end, State) and not end.finished):
                continue
            witnesses += [resumes[-1].number, end.number]
            if lost := _lost(history, branch, end.number):
                what = ", ".join(f"`{task}`" for task in lost)
                summary = f"the run on branch {branch.name} reads as finished, and never ran {what}"
                findings.append(finding(history, summary, resumes[-1], end))
    otherwise = "no resumed run read as finished"
    return (judgement(Property.NO_LOST_WORK, findings, witnesses, otherwise=otherwise),)


def _lost(history: History, branch: Branch, before: int) -> list[str]:
    ran = {end.task for end in branch.of(TaskEnd) if end.number < before}
    return [task.name for task in history.workload.tasks if task.name not in ran]
