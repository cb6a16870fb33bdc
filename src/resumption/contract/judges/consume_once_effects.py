"""CO-e: a resume without fork intent at a consumed interrupt, or at a finished run, fires nothing again.

Looked at are the operations that carry no fork intent: strays, deliveries made again, the deliveries of a race, and
recoveries. After the consumption, an effect that fired on the branch must not fire in them again: any effect in a stray
or a repeated delivery; in a race those behind the interrupt (the first to fire is the winner's, and each loser repeats
it); in a recovery those of the gate. A run that is under way when a stray or a repeated delivery comes acts on it from
within, so what it fires again after that is laid to the resume too. Recoveries that run what never fired are fine. And
so is, here, a recovery or a repeated delivery that fires again what was cut off before its record was durable: that is
EO's window. At a finished run, nothing at all may fire.
"""

from __future__ import annotations

from resumption.contract.judges.branches import Branch, branches
from resumption.contract.judges.operations import cut_off, intent_of, operation_of
from resumption.contract.judges.program import Firing, interrupt_position, is_complete
from resumption.contract.judges.stories import finding, judgement
from resumption.contract.properties import Property
from resumption.contract.verdicts import Finding, Judgement
from resumption.history.events import Consume, Deliver, Intent, Recover, Return
from resumption.history.history import History

__all__ = ["judge_consume_once_effects", "repeats"]

_INTENTS = {Intent.STRAY, Intent.RETRY, Intent.RACE, None}


def judge_consume_once_effects(history: History) -> tuple[Judgement, ...]:
    """Judge CO-e."""
    findings: list[Finding] = []
    witnesses: list[int] = []
    for branch in branches(history):
        for resume in branch.resumes():
            if intent_of(resume) not in _INTENTS:
                continue
            findings += repeats(history, branch, resume)
            witnesses += _exercised(history, branch, resume)
    otherwise = "no resume without fork intent came to a consumed interrupt or a finished run"
    return (judgement(Property.CONSUME_ONCE_EFFECTS, findings, witnesses, otherwise=otherwise),)


def repeats(history: History, branch: Branch, resume: Deliver | Recover) -> list[Finding]:
    """The effects that a resume without fork intent should not have fired, one finding for each fire."""
    finished = _finished(history, branch, resume)
    found = []
    for firing in branch.firings:
        beside = _is_beside(history, resume, firing)
        if firing.fire.operation != resume.operation and not beside:
            continue
        what = f"effect `{firing.step.effect}` on branch {branch.name}"
        if finished and not beside:
            summary = f"a resume at a finished run fired {what}"
            found.append(finding(history, summary, finished, resume, firing.fire.begin))
        elif repeated := _repeated(history, branch, resume, firing, beside=beside):
            consume, first = repeated
            summary = (
                f"a resume without fork intent fired {what} again, after interrupt `{consume.interrupt}` was consumed"
            )
            if beside:
                summary = (
                    f"the run that was under way when a resume without fork intent came fired {what} again after it"
                )
            found.append(finding(history, summary, consume, first.fire.begin, resume, firing.fire.begin))
    return found


def _is_beside(history: History, resume: Deliver | Recover, firing: Firing) -> bool:
    """Whether a fire is of an operation that was under way when a stray or a repeated delivery came, and came later."""
    if intent_of(resume) not in {Intent.STRAY, Intent.RETRY} or firing.fire.operation == resume.operation:
        return False
    under_way = operation_of(history, firing.fire.operation)
    if under_way is None:
        return False
    return under_way.number < resume.number < firing.fire.begin and resume.number < history.ended(under_way)


def _finished(history: History, branch: Branch, resume: Deliver | Recover) -> Return | None:
    """The event by which the run was finished before a resume, if it was."""
    returns = (end for end in branch.of(Return) if end.number < resume.number)
    return next((end for end in returns if is_complete(history.workload, end.trail)), None)


def _repeated(
    history: History, branch: Branch, resume: Deliver | Recover, firing: Firing, *, beside: bool
) -> tuple[Consume, Firing] | None:
    """The consumption and the earlier fire that a fire repeats, if it is one that its resume must not repeat.

    Of what fires beside a resume, the earlier fire may be the resume's own: then both ran what only one may run.
    """
    consumes = [c for c in branch.of(Consume) if c.number < firing.fire.begin and _in_scope(history, resume, c, firing)]
    earlier = [
        other
        for other in branch.firings
        if other.step == firing.step
        and other.fire.begin < firing.fire.begin
        and (beside or other.fire.operation != resume.operation)
        and not _is_window(history, branch, resume, other, firing)
    ]
    return (consumes[0], earlier[0]) if consumes and earlier else None


def _in_scope(history: History, resume: Deliver | Recover, consume: Consume, firing: Firing) -> bool:
    intent = intent_of(resume)
    if intent in {Intent.STRAY, Intent.RETRY}:
        return True
    place = interrupt_position(history.workload, consume.interrupt)
    if place is None or firing.step.position < place:
        return False
    return intent is Intent.RACE or firing.step.task == consume.task


def _is_window(history: History, branch: Branch, resume: Deliver | Recover, first: Firing, again: Firing) -> bool:
    """Whether a fire repeats one that was cut off before its record, by a resume that carries the run on."""
    if intent_of(resume) not in {Intent.RETRY, None} or branch.record_of(first, again.fire.begin):
        return False
    end = cut_off(history, first.fire.operation)
    return end is not None and end.number < again.fire.begin


def _exercised(history: History, branch: Branch, resume: Deliver | Recover) -> list[int]:
    finished = _finished(history, branch, resume)
    if finished:
        return [finished.number, resume.number]
    until = history.ended(resume)
    consumes = [c for c in branch.of(Consume) if c.number < until and c.operation != resume.operation]
    return [consumes[0].number, resume.number] if consumes else []
