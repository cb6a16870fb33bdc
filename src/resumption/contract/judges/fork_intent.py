"""FI: the resume protocol carries a discriminator between delivering a decision again and opening a branch.

It shows where one interrupt gets both: the fork must have an outcome of its own (as FD asks), and the retry or stray
must fire nothing (as CO-e asks) and decide nothing (as CO-c counts: what a gate receives from its record is not decided
again). That a gate fires no effect is no reason to let its decision be replaced. A copy of the store is not a
discriminator, and no delivery with fork intent.
"""

from __future__ import annotations

from resumption.contract.judges.branches import Branch, branches
from resumption.contract.judges.consume_once_count import Consumption, attributed
from resumption.contract.judges.consume_once_effects import repeats
from resumption.contract.judges.decisions import decided, forked_interrupts
from resumption.contract.judges.operations import intent_of, same
from resumption.contract.judges.stories import finding, judgement
from resumption.contract.properties import Property
from resumption.contract.verdicts import Finding, Judgement
from resumption.history.events import Consume, Deliver, Intent
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
        findings += [found for fork in forks for found in fork.findings]
        for branch, resume in again:
            findings += repeats(history, branch, resume) or _decided_again(history, branch, resume)
        witnesses += [number for fork in forks for number in fork.witnesses]
        witnesses += [resume.number for _, resume in again]
    otherwise = "no interrupt got both a decision with fork intent and one without it, after its answer"
    return (judgement(Property.FORK_INTENT, findings, witnesses, otherwise=otherwise),)


def _decided_again(history: History, branch: Branch, resume: Deliver) -> list[Finding]:
    """The first consumption by which a resume without fork intent decided an interrupt that had been decided."""
    on_branch = {consume.number for consume in branch.of(Consume)}
    held = [consumption for consumption in attributed(history) if consumption.consume.number in on_branch]
    for again in held:
        earlier = [c for c in held if c.consume.number < again.consume.number and _is_replaced(c, again)]
        if again.consume.operation == resume.operation and earlier:
            interrupt = again.consume.interrupt
            summary = f"a resume without fork intent decided interrupt `{interrupt}` again on branch {branch.name}"
            return [finding(history, summary, earlier[0].consume, resume, again.consume)]
    return []


def _is_replaced(earlier: Consumption, again: Consumption) -> bool:
    """Whether the later of two consumptions at one interrupt holds another resume's decision, or another value."""
    if earlier.consume.interrupt != again.consume.interrupt or earlier.consume.operation == again.consume.operation:
        return False
    sources = {c.source for c in (earlier, again) if c.source}
    return len(sources) > 1 or not same(earlier.consume.value, again.consume.value)
