"""CO-c: one interrupt is consumed by at most one resume, and one resume is consumed by at most one interrupt.

A gate says which value it received, not which resume brought it: a delivery, or a recovery that hands a decision over
too, to whatever interrupt takes it. So each consumption is attributed: to the resume of its own operation if value and
target agree; else to an earlier one with that value on the branch or an ancestor. Of these, one that this interrupt
consumed before comes first, for that is the record being read again; then one meant for this interrupt; then the
latest. A delivery made again under its name is the same delivery.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from resumption.contract.judges.branches import Branch, branches, lineage
from resumption.contract.judges.operations import same
from resumption.contract.judges.stories import finding, judgement
from resumption.contract.properties import Property
from resumption.contract.verdicts import Finding, Judgement, Measured
from resumption.history.events import Consume, Deliver, Event, Intent, Recover
from resumption.history.history import History

__all__ = ["Consumption", "attributed", "judge_consume_once_count"]


Resume = Deliver | Recover


@dataclass(frozen=True, slots=True)
class Consumption:
    """One time that a gate received a value, and the resume that brought it, if one can be named."""

    consume: Consume
    resume: Resume | None

    @property
    def source(self) -> str:
        """What the resume is called, the same where a delivery is made again; empty without a resume."""
        return _name(self.resume) if self.resume else ""


def judge_consume_once_count(history: History) -> tuple[Judgement, ...]:
    """Judge CO-c."""
    consumptions = attributed(history)
    of = {consumption.consume.number: consumption for consumption in consumptions}
    findings = _shared_resumes(history, consumptions)
    witnesses: list[int] = []
    for branch in branches(history):
        held = [of[event.number] for event in branch.of(Consume)]
        findings += _shared_interrupts(history, branch, held)
        witnesses += _exercised(branch, held)
    unknown = [consumption.consume.number for consumption in consumptions if consumption.resume is None]
    if unknown and not findings:
        reason = f"no resume brought the value that was consumed at #{unknown[0]}"
        return (Judgement(Property.CONSUME_ONCE_COUNT, Measured.UNDETERMINED, reason=reason),)
    otherwise = "no second delivery and no second interrupt came after a consumption"
    return (judgement(Property.CONSUME_ONCE_COUNT, findings, witnesses, otherwise=otherwise),)


def attributed(history: History) -> list[Consumption]:
    """What the gates received, in order, each with the resume that it is attributed to."""
    consumptions: list[Consumption] = []
    for consume in history.of(Consume):
        consumptions.append(Consumption(consume, _source(history, consume, consumptions)))
    return consumptions


def _source(history: History, consume: Consume, earlier: list[Consumption]) -> Resume | None:
    resumes = [
        operation
        for operation in history.operations()
        if isinstance(operation, Deliver | Recover) and operation.number < consume.number and _fits(operation, consume)
    ]
    own = [resume for resume in resumes if resume.operation == consume.operation]
    if own and _target(own[0]) in (consume.interrupt, None):
        return own[0]
    line = lineage(consume.branch)
    known = {consumption.source for consumption in earlier if consumption.consume.interrupt == consume.interrupt}
    ranked = sorted(
        (resume for resume in resumes if resume.branch in line),
        key=lambda resume: (_name(resume) in known, _target(resume) == consume.interrupt, resume.number),
    )
    return ranked[-1] if ranked else None


def _name(resume: Resume) -> str:
    return resume.delivery if isinstance(resume, Deliver) else f"the recovery at #{resume.number}"


def _target(resume: Resume) -> str | None:
    """The interrupt that a decision is meant for; None for a recovery's, which is for whatever takes it."""
    return resume.target if isinstance(resume, Deliver) else None


def _brings_decision(resume: Resume) -> bool:
    return isinstance(resume, Deliver) or resume.value is not None


def _fits(resume: Resume, consume: Consume) -> bool:
    return _brings_decision(resume) and same(resume.value, consume.value)


def _shared_interrupts(history: History, branch: Branch, held: list[Consumption]) -> list[Finding]:
    """The interrupts that several resumes of one branch were consumed by."""
    found = []
    for interrupt in dict.fromkeys(c.consume.interrupt for c in held):
        firsts = {c.source: c for c in reversed(held) if c.resume and c.consume.interrupt == interrupt}
        if len(firsts) > 1 and any(branch.is_own(c.consume) for c in firsts.values()):
            names = ", ".join(sorted(firsts))
            kind = "deliveries" if all(isinstance(c.resume, Deliver) for c in firsts.values()) else "resumes"
            summary = f"interrupt `{interrupt}` on branch {branch.name} consumed {len(firsts)} {kind}: {names}"
            found.append(finding(history, summary, *_told(firsts.values())))
    return found


def _shared_resumes(history: History, consumptions: list[Consumption]) -> list[Finding]:
    """The resumes that several interrupts consumed."""
    found = []
    for name in dict.fromkeys(c.source for c in consumptions if c.resume):
        held = [c for c in reversed(consumptions) if c.source == name]
        firsts = {c.consume.interrupt: c for c in held}
        if len(firsts) > 1:
            what = f"delivery {name}" if isinstance(held[0].resume, Deliver) else name
            interrupts = ", ".join(f"`{interrupt}`" for interrupt in sorted(firsts))
            summary = f"{what} was consumed by {len(firsts)} interrupts: {interrupts}"
            found.append(finding(history, summary, *_told(firsts.values())))
    return found


def _told(consumptions: Iterable[Consumption]) -> list[Event | None]:
    return [event for consumption in consumptions for event in (consumption.resume, consumption.consume)]


def _exercised(branch: Branch, held: list[Consumption]) -> list[int]:
    """Consumptions, with the second resume or the second interrupt that might have shared in them."""
    seen: list[int] = []
    for consumption in held:
        consume = consumption.consume
        others = [c.consume.number for c in held if c.consume.interrupt != consume.interrupt]
        others += [resume.number for resume in branch.resumes() if _could_share(resume, consume)]
        if others:
            seen += [consume.number, *others]
    return seen


def _could_share(resume: Resume, consume: Consume) -> bool:
    if resume.operation == consume.operation:
        return False
    if isinstance(resume, Recover):
        return resume.value is not None
    if resume.intent is Intent.RACE:
        return resume.target == consume.interrupt
    return resume.intent in {Intent.STRAY, Intent.RETRY} and resume.number > consume.number
