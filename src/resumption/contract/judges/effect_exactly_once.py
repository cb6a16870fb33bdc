"""EO: on one branch, each effect of a task fires at most once.

Two facets, reported apart. *Recorded* (the cell): the first fire was on durable record before the second began, so the
plane had everything that it needs to tell that the effect is done. *Window*: it was not, because the process died or
raised in between, or because two processes ran the task at once.

What counts as the record is `Branch.record_of`. An effect in front of an interrupt is on record once the run has
parked there: nothing crashed, and the plane stored how far the run got. So a plane that runs a gate's code again from
its first line after the answer breaches the cell, not the window; whether it documents that is for the label to say.
An effect that fired on the parent behind the forked interrupt is another branch's effect; one in front of it is part
of the fork's own prefix, and a fork that fires it again breaches.
"""

from __future__ import annotations

from collections import defaultdict

from resumption.contract.judges.branches import Branch, branches
from resumption.contract.judges.operations import cut_off, operation_of
from resumption.contract.judges.program import EffectStep, Firing
from resumption.contract.judges.stories import finding, judgement
from resumption.contract.properties import Property
from resumption.contract.verdicts import Facet, Finding, Judgement
from resumption.history.history import History

__all__ = ["judge_effect_exactly_once"]


def judge_effect_exactly_once(history: History) -> tuple[Judgement, ...]:
    """Judge EO: one judgement for the cell, one for the window."""
    findings: dict[Facet, list[Finding]] = {Facet.CELL: [], Facet.WINDOW: []}
    witnesses: dict[Facet, list[int]] = {Facet.CELL: [], Facet.WINDOW: []}
    for branch in branches(history):
        for fires in _by_step(branch).values():
            for place in range(1, len(fires)):
                if fires[place].fire.branch == branch.name:
                    facet, found = _duplicate(history, branch, fires[: place + 1])
                    findings[facet].append(found)
            for facet, seen in _held(history, branch, fires[-1]):
                witnesses[facet] += seen
    return (
        judgement(
            Property.EFFECT_EXACTLY_ONCE,
            findings[Facet.CELL],
            witnesses[Facet.CELL],
            otherwise="no resume came after an effect whose task was on durable record",
        ),
        judgement(
            Property.EFFECT_EXACTLY_ONCE,
            findings[Facet.WINDOW],
            witnesses[Facet.WINDOW],
            otherwise="no run was cut off between an effect and its durable record, and then resumed",
            facet=Facet.WINDOW,
        ),
    )


def _by_step(branch: Branch) -> dict[EffectStep, list[Firing]]:
    fires: defaultdict[EffectStep, list[Firing]] = defaultdict(list)
    for firing in branch.firings:
        fires[firing.step].append(firing)
    return fires


def _duplicate(history: History, branch: Branch, fires: list[Firing]) -> tuple[Facet, Finding]:
    """Tell how the last of these fires repeats the others."""
    *earlier, again = fires
    step, begin = again.step, again.fire.begin
    what = f"effect `{step.effect}` of task `{step.task}` fired again on branch {branch.name}"
    cause = operation_of(history, again.fire.operation)
    for first in earlier:
        if record := branch.record_of(first, begin):
            summary = f"{what}, though its first fire was on durable record"
            return Facet.CELL, finding(history, summary, first.fire.begin, record, cause, begin)
    first = earlier[0]
    end = cut_off(history, first.fire.operation)
    if end and end.number < begin:
        summary = f"{what}: the run was cut off between the first fire and its durable record"
        return Facet.WINDOW, finding(history, summary, first.fire.begin, end, cause, begin)
    summary = f"{what}, before the first fire was on durable record"
    return Facet.WINDOW, finding(
        history, summary, operation_of(history, first.fire.operation), first.fire.begin, cause, begin
    )


def _held(history: History, branch: Branch, last: Firing) -> list[tuple[Facet, list[int]]]:
    """The resumes of a branch that could have fired an effect again, after its last fire."""
    held = []
    end = cut_off(history, last.fire.operation)
    for resume in branch.resumes():
        if resume.number < last.fire.end:
            continue
        if record := branch.record_of(last, resume.number):
            held.append((Facet.CELL, [last.fire.begin, record.number, resume.number]))
        elif end and end.number < resume.number:
            held.append((Facet.WINDOW, [last.fire.begin, end.number, resume.number]))
    return held
