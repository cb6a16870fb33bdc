"""FD: resumes with fork intent and values v1 to vn at one interrupt give g(v1) to g(vn), one effect on each branch.

The first answer counts as one of the n decisions. On its own branch each must be received by the gate as it was given,
fire the effects behind the interrupt once, and show in the state that the run returns. One that was received, and then
ended in an error or at the same interrupt again, has no outcome at all.
"""

from __future__ import annotations

from resumption.contract.judges.decisions import decided, forked_interrupts
from resumption.contract.judges.stories import judgement
from resumption.contract.properties import Property
from resumption.contract.verdicts import Finding, Judgement
from resumption.history.history import History

__all__ = ["judge_fork_determinism"]


def judge_fork_determinism(history: History) -> tuple[Judgement, ...]:
    """Judge FD."""
    findings: list[Finding] = []
    witnesses: list[int] = []
    for interrupt in forked_interrupts(history):
        settled = [decision for decision in decided(history, interrupt) if decision.witnesses]
        findings += [finding for decision in settled for finding in decision.findings]
        if len(settled) > 1:
            witnesses += [number for decision in settled for number in decision.witnesses]
    return (
        judgement(
            Property.FORK_DETERMINISM,
            findings,
            witnesses,
            otherwise="fewer than two decisions at one interrupt, one with fork intent, came to an outcome",
        ),
    )
