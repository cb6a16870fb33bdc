"""EO: on one branch, each effect of a task fires at most once.

Three facets, reported apart. *Recorded* (the cell): the first fire was on durable record before the second began, so
the plane had everything that it needs to tell that the effect is done. *Window*: it was not, because the process died
or raised in between. *Race*: the two fires are of operations that were under way at once, as where two processes
recover one crashed run; a record is of no use then to whoever has read before it was made. It is judged where an effect
fired after both were asked for.

What counts as the record is `Branch.record_of`. An effect in front of an interrupt is on record once the run has
parked there: nothing crashed, and the plane stored how far the run got. So a plane that runs a gate's code again from
its first line after the answer breaches the cell, not the window; whether it documents that is for the label to say.
An effect that fired on the parent behind the forked interrupt is another branch's effect; one in front of it is part
of the fork's own prefix, and a fork that fires it again breaches.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations

from resumption.contract.judges.branches import Branch, branches
from resumption.contract.judges.operations import cut_off, operation_of
from resumption.contract.judges.program import EffectStep, Firing
from resumption.contract.judges.stories import finding, judgement
from resumption.contract.properties import Property
from resumption.contract.verdicts import Facet, Finding, Judgement
from resumption.history.events import Deliver, Recover, Start
from resumption.history.history import History, Operation

__all__ = ["judge_effect_exactly_once"]


def judge_effect_exactly_once(history: History) -> tuple[Judgement, ...]:
    """Judge EO: one judgement for the cell, one for the window, and one for the race if there was any."""
    findings: dict[Facet, list[Finding]] = {Facet.CELL: [], Facet.WINDOW: [], Facet.RACE: []}
    witnesses: dict[Facet, list[int]] = {Facet.CELL: [], Facet.WINDOW: []}
    for branch in branches(history):
        for fires in _by_step(branch).values():
            for place in range(1, len(fires)):
                if fires[place].fire.branch == branch.name:
                    facet, found = _duplicate(history, branch, fires[: place + 1])
                    findings[facet].append(found)
            for facet, seen in _held(history, branch, fires[-1]):
                witnesses[facet] += seen
    races = [seen for branch in branches(history) for seen in _raced(history, branch)]
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
        *([_race(findings[Facet.RACE], races)] if races else ()),
    )


def _race(findings: list[Finding], witnesses: list[int]) -> Judgement:
    otherwise = "no two operations on one run were under way at once"
    return judgement(Property.EFFECT_EXACTLY_ONCE, findings, witnesses, otherwise=otherwise, facet=Facet.RACE)


def _raced(history: History, branch: Branch) -> Iterator[int]:
    """The pairs of operations on a branch that were under way at once, with what fired when both were asked for."""
    for first, second in _overlaps(history, branch):
        for firing in branch.firings:
            if firing.fire.operation in (first.operation, second.operation) and firing.fire.begin > second.number:
                yield from (first.number, second.number, firing.fire.begin)


def _overlaps(history: History, branch: Branch) -> Iterator[tuple[Operation, Operation]]:
    """The pairs of operations on a branch that were under way at once, the earlier one first."""
    asked = [e for e in branch.events if isinstance(e, Start | Deliver | Recover) and branch.is_own(e)]
    return (pair for pair in combinations(asked, 2) if pair[1].number < history.ended(pair[0]))


def _rivals(history: History, branch: Branch, first: Firing, again: Firing) -> tuple[Operation, Operation] | None:
    """The two operations that were under way at once and account for both fires.

    A plane may have one of them done by the process of the other, so that both fires are of one.
    """
    fires = {first.fire.operation, again.fire.operation}
    for pair in _overlaps(history, branch):
        if fires <= {operation.operation for operation in pair} and pair[1].number < again.fire.begin:
            return pair
    return None


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
        if rivals := _rivals(history, branch, first, again):
            summary = f"{what}, by two operations that were under way at once"
            return Facet.RACE, finding(history, summary, *rivals, first.fire.begin, begin)
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
