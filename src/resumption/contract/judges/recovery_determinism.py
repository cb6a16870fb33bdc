"""RD: two recoveries of identical durable logs take identical decisions to skip or to execute each task.

The harness copies the store of a crashed run byte for byte, notes the SHA-256 of each copy, and recovers each on a
branch of its own (`copy1`, `copy2`). Copies that turn out to differ show nothing. The tasks that each recovery started,
the effects that it fired, and how it ended must agree.

Order-invariance is a facet of its own. The harness runs the program twice (branches `order1`, `order2`), makes the same
two storage operations durable in the one order and in the other, and kills: both logs are legal, and hold the same.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from resumption.contract.judges.branches import Branch, branches, is_copy, is_order
from resumption.contract.judges.operations import outcome
from resumption.contract.judges.stories import finding, judgement
from resumption.contract.properties import Property
from resumption.contract.verdicts import Facet, Finding, Judgement, Measured
from resumption.history.events import Durable, EffectBegin, Event, Exit, Persist, Phase, Recover, TaskStart
from resumption.history.history import History

__all__ = ["judge_recovery_determinism"]


@dataclass(frozen=True, slots=True)
class _Recovery:
    """One recovery that came to its end: where, and what it did, in order."""

    branch: str
    asked: Recover
    acts: tuple[str, ...]
    told: tuple[int, ...]


def judge_recovery_determinism(history: History) -> tuple[Judgement, ...]:
    """Judge RD."""
    found = [
        recovery for branch in branches(history) if is_copy(branch.name) and (recovery := _recovery(history, branch))
    ]
    if unequal := _unequal_copies(history):
        return (Judgement(Property.RECOVERY_DETERMINISM, Measured.UNDETERMINED, reason=unequal),)
    otherwise = "fewer than two copies of one log were recovered to an end"
    findings, witnesses = _compared(history, found, "identical logs")
    cell = judgement(Property.RECOVERY_DETERMINISM, findings, witnesses, otherwise=otherwise)
    orders = [branch for branch in branches(history) if is_order(branch.name)]
    return (cell, _order_invariance(history, orders)) if orders else (cell,)


def _order_invariance(history: History, orders: Sequence[Branch]) -> Judgement:
    property_, facet = Property.RECOVERY_DETERMINISM, Facet.ORDER
    if any(_has_open_write(history, branch) for branch in orders):
        otherwise = "a write was under way when a process was killed, so that its log isn't known"
        return judgement(property_, [], [], otherwise=otherwise, facet=facet)
    logs = [_log(branch) for branch in orders]
    if any(log != logs[0] for log in logs):
        return judgement(property_, [], [], otherwise="the two logs don't hold the same writes", facet=facet)
    found = [recovery for branch in orders if (recovery := _recovery(history, branch))]
    findings, witnesses = _compared(history, found, "logs that differ in the order of two unordered writes")
    otherwise = "the two orders were not both recovered to an end"
    return judgement(property_, findings, witnesses, otherwise=otherwise, facet=facet)


def _has_open_write(history: History, branch: Branch) -> bool:
    """Whether a process of the branch was killed in front of the recovery while it wrote."""
    killed = {end.who for end in history.of(Exit) if end.signal}
    before = [write for write in branch.of(Persist) if write.process in killed and write.number < _recovered(branch)]
    ended = {write.item for write in before if write.phase is Phase.END}
    return any(write.item not in ended for write in before)


def _recovered(branch: Branch) -> float:
    """When the branch was first recovered."""
    return next((resume.number for resume in branch.resumes() if isinstance(resume, Recover)), math.inf)


def _log(branch: Branch) -> Counter[str]:
    """What was durable on a branch when it was first recovered."""
    ends = (end for end in branch.of(Persist) if end.phase is Phase.END and end.number < _recovered(branch))
    return Counter(end.name for end in ends)


def _compared(history: History, found: Sequence[_Recovery], what: str) -> tuple[list[Finding], list[int]]:
    """The differences between the first recovery and the others, and what was compared."""
    findings: list[Finding] = []
    witnesses: list[int] = []
    for other in found[1:]:
        first = found[0]
        witnesses += [first.asked.number, other.asked.number]
        if other.acts != first.acts:
            summary = (
                f"recoveries of {what} differ: {first.branch} {', '.join(first.acts)}, "
                f"and {other.branch} {', '.join(other.acts)}"
            )
            findings.append(finding(history, summary, *first.told, *other.told))
    return findings, witnesses


def _unequal_copies(history: History) -> str:
    """Why the copies can't stand for one log; empty if they can."""
    digests = {event.of: event.sha256 for event in history.of(Durable) if is_copy(event.of)}
    return "the copies of the log differ in their bytes" if len(set(digests.values())) > 1 else ""


def _recovery(history: History, branch: Branch) -> _Recovery | None:
    """The first recovery of a copy; None if there was none, or if it died."""
    asked = next((resume for resume in branch.resumes() if isinstance(resume, Recover)), None)
    end = outcome(history, asked) if asked else None
    if asked is None or end is None or isinstance(end, Exit):
        return None
    fired = {firing.fire.begin for firing in branch.firings}
    steps = [
        event
        for event in history.events
        if event.operation == asked.operation
        and (isinstance(event, TaskStart) or (isinstance(event, EffectBegin) and event.number in fired))
    ]
    acts = (*(_act(event) for event in steps), f"ended in a {end.kind}")
    told = (asked.number, *(event.number for event in steps), end.number)
    return _Recovery(branch.name, asked, acts, told)


def _act(event: Event) -> str:
    if isinstance(event, EffectBegin):
        return f"fired `{event.effect}`"
    return f"started `{event.task}`" if isinstance(event, TaskStart) else event.kind
