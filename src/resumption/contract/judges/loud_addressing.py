"""LA: a decision for an unknown, stale or consumed address is refused with a signal.

A stray is such a decision. The signal is an error: a return or a park looks to the sender as if it had been taken.
"""

from __future__ import annotations

from resumption.contract.judges.operations import outcome
from resumption.contract.judges.stories import finding, judgement
from resumption.contract.properties import Property
from resumption.contract.verdicts import Finding, Judgement
from resumption.history.events import Deliver, Intent, Park, Raise, Return
from resumption.history.history import History

__all__ = ["judge_loud_addressing"]


def judge_loud_addressing(history: History) -> tuple[Judgement, ...]:
    """Judge LA."""
    findings: list[Finding] = []
    witnesses: list[int] = []
    for delivery in history.of(Deliver):
        end = outcome(history, delivery)
        if delivery.intent is not Intent.STRAY:
            continue
        if isinstance(end, Raise):
            witnesses += [delivery.number, end.number]
        elif isinstance(end, Return | Park):
            summary = f"the stray decision {delivery.delivery} was accepted without a signal"
            findings.append(finding(history, summary, delivery, end))
    otherwise = "no stray decision was answered"
    return (judgement(Property.LOUD_ADDRESSING, findings, witnesses, otherwise=otherwise),)
