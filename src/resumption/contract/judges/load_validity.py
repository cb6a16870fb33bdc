"""VL: durable state that breaks its schema is refused with an error when it is loaded.

Looked at is what was asked for after the state was altered from outside. The altered state was *refused* if an
operation raised before any effect fired in it. It was *handed on* if an inspection, a task or the run's end showed it;
and also if one of them showed a sound trail without the tasks that had been on it, for then it was replaced in silence.
Where every trail shown is what it was before, the plane never read what was altered, and there is nothing to say.
"""

from __future__ import annotations

from collections.abc import Iterator

from resumption.contract.judges.operations import outcome
from resumption.contract.judges.program import is_mark, is_valid
from resumption.contract.judges.stories import finding, judgement, shown
from resumption.contract.properties import Property
from resumption.contract.verdicts import Finding, Judgement
from resumption.history.events import (
    Deliver,
    EffectBegin,
    Event,
    Inspect,
    Raise,
    Recover,
    Return,
    State,
    Tamper,
    TaskEnd,
    TaskStart,
)
from resumption.history.history import History, Operation

__all__ = ["judge_load_validity"]


_BROKEN = "state that breaks its schema was loaded"


def judge_load_validity(history: History) -> tuple[Judgement, ...]:
    """Judge VL."""
    findings: list[Finding] = []
    witnesses: list[int] = []
    for tamper in history.of(Tamper):
        for operation in history.operations():
            if operation.number < tamper.number or not isinstance(operation, Inspect | Deliver | Recover):
                continue
            handed = _handed_on(history, tamper, operation)
            end = outcome(history, operation)
            fired = next(_fires(history, operation), None)
            told = (tamper, operation, handed, fired, end)
            if handed:
                findings.append(finding(history, f"{_BROKEN} without an error: the run {_how(handed)}", *told))
            elif isinstance(end, Raise) and fired:
                late = f"an operation raised only after effect `{fired.effect}` had fired"
                findings.append(finding(history, f"{_BROKEN}, and {late}", *told))
            elif isinstance(end, Raise):
                witnesses += [tamper.number, operation.number, end.number]
    otherwise = "no state was altered, or the plane never read what was altered"
    return (judgement(Property.LOAD_VALIDITY, findings, witnesses, otherwise=otherwise),)


def _how(handed: State | TaskStart | Return) -> str:
    verb = {State: "showed", TaskStart: "ran on", Return: "ended with"}[type(handed)]
    return f"{verb} {shown(handed.trail)}"


def _handed_on(history: History, tamper: Tamper, operation: Operation) -> State | TaskStart | Return | None:
    """The first thing in an operation that shows the altered state, or a sound one that it was replaced with."""
    for event in history.during(operation.operation, Event):
        if isinstance(event, State | TaskStart | Return) and not _is_as_before(history, tamper, event):
            return event
    return None


def _is_as_before(history: History, tamper: Tamper, event: State | TaskStart | Return) -> bool:
    """Whether a trail is sound, and has the mark of every task that had ended when the state was altered."""
    if not is_valid(event.trail):
        return False
    ended = {end.task for end in history.of(TaskEnd) if end.number < tamper.number}
    return all(any(is_mark(entry, history.workload.task(task)) for entry in event.trail) for task in ended)


def _fires(history: History, operation: Operation) -> Iterator[EffectBegin]:
    fired = {fire.begin for fire in history.fires()}
    return (begin for begin in history.during(operation.operation, EffectBegin) if begin.number in fired)
