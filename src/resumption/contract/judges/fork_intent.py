"""FI: the resume protocol carries a discriminator between delivering a decision again and opening a branch.

It shows where one interrupt gets both: the fork must have an outcome of its own (as FD asks), and the retry or stray
must fire nothing (as CO-e asks). A copy of the store is not a discriminator, and no delivery with fork intent.
"""

from __future__ import annotations

from resumption.contract.judges.branches import branches
from resumption.contract.judges.consume_once_effects import repeats
from resumption.contract.judges.decisions import decided, forked_interrupts
from resumption.contract.judges.operations import intent_of
from resumption.contract.judges.stories import judgement
from resumption.contract.properties import Property
from resumption.contract.verdicts import Finding, Judgement
from resumption.history.events import Deliver, Intent
from resumption.history.history import History

__all__ = ["judge_fork_intent"]


def judge_fork_intent(history: History) -> tuple[Judgement, ...]:
    """Judge FI."""
    findings: list[Finding] = []
    witnesses: list[int] = []
    for interrupt in forked_interrupts(history):
        forks = [d for d in decided(history, interrupt) if d.delivery.intent is Intent.FORK and d.witnesses]
        again = [
            (branch, resume)
            for branch in branches(history)
            for resume in branch.resumes()
            if isinstance(resume, Deliver)
            and resume.target == interrupt
            and intent_of(resume) in {Intent.RETRY, Intent.STRAY}
        ]
        if not forks or not again:
            continue
        findings += [finding for fork in forks for finding in fork.findings]
        findings += [finding for branch, resume in again for finding in repeats(history, branch, resume)]
        witnesses += [number for fork in forks for number in fork.witnesses]
        witnesses += [resume.number for _, resume in again]
    otherwise = "no interrupt got both a decision with fork intent and one without it, after its answer"
    return (judgement(Property.FORK_INTENT, findings, witnesses, otherwise=otherwise),)
