"""PC: a resumed run continues from its durable frontier's state, or from one re-derived from the durable log alone.

Three things are looked at in each recovery and in each delivery that is to bring a run forward. A task that was durable
may start again only if none of its effects fires (memoised replay). A task may start only if each one before it in the
program was durable or ran: between the frontier and the start, none is skipped. And each task that is not durable must
see a trail that the writes before it explain: one of every task in front of it, in program order, and nothing else. A
write whose storage was never seen to end may be there or not; if it is not, its task must have run again.

Where all tasks run at once, none is in front of another: each must see what a run begins with, and what is on record
must not run again, wherever it stands.

A stray, and a delivery made again, are not meant to bring the run forward: what they do is judged by CO.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from resumption.contract.judges.branches import Branch, branches
from resumption.contract.judges.operations import intent_of, outcome, same
from resumption.contract.judges.program import (
    Position,
    after_everything,
    before_everything,
    interrupt_position,
    is_mark,
    is_valid,
    task_end,
    task_start,
)
from resumption.contract.judges.stories import finding, judgement, shown
from resumption.contract.properties import Property
from resumption.contract.verdicts import Finding, Judgement
from resumption.history.events import Deliver, Intent, Json, Recover, Return, TaskEnd, TaskStart
from resumption.history.history import History
from resumption.history.workload import Shape, Workload

__all__ = ["judge_prefix_continuation"]


@dataclass(frozen=True, slots=True)
class _Continued:
    """One place at which a resume went on: by which event, at which place of the program, and with which trail."""

    event: TaskStart | Return
    place: Position
    trail: Json


def judge_prefix_continuation(history: History) -> tuple[Judgement, ...]:
    """Judge PC."""
    findings: list[Finding] = []
    witnesses: list[int] = []
    for branch in branches(history):
        for resume in branch.resumes():
            durable = _prefix(history, branch, resume)
            if not durable or intent_of(resume) in {Intent.STRAY, Intent.RETRY}:
                continue
            reruns = [start for start in history.during(resume.operation, TaskStart) if start.task in durable]
            for start in reruns:
                findings += _fired_again(history, branch, resume, start)
            continued = _continued(history, resume, durable)
            for place in continued:
                if found := _unexplained(history, branch, resume, durable, place):
                    findings += found
                    break  # What comes after it carries the same wrong state on.
            if continued or reruns:
                witnesses += [resume.number, *(start.number for start in reruns)]
                witnesses += [place.event.number for place in continued]
    return (
        judgement(
            Property.PREFIX_CONTINUATION,
            findings,
            witnesses,
            otherwise="no resumed run with a durable prefix ran a task or came to its end",
        ),
    )


def _prefix(history: History, branch: Branch, resume: Deliver | Recover) -> tuple[str, ...]:
    """The tasks that were durable when a resume began, and that it must not run anew.

    For a delivery these are the tasks in front of its interrupt. The gate itself may be durable by then, through
    another delivery of a race; whether it may fire is for CO.
    """
    known = {task.name for task in history.workload.tasks}
    durable = tuple(task for task in branch.durable(resume.number) if task in known)
    place = interrupt_position(history.workload, resume.target) if isinstance(resume, Deliver) else None
    if place is None:
        return durable
    if history.workload.shape is Shape.FAN_OUT:
        gate = history.workload.tasks[place[0]].name
        return tuple(task for task in durable if task != gate)
    return tuple(task for task in durable if task_end(history.workload, task) < place)


def _fired_again(history: History, branch: Branch, resume: Deliver | Recover, start: TaskStart) -> list[Finding]:
    fires = [f.fire for f in branch.firings if f.fire.operation == resume.operation and f.step.task == start.task]
    later = [fire for fire in fires if fire.begin > start.number]
    if not later:
        return []
    summary = f"task `{start.task}` was durable, and ran again with its effects on branch {branch.name}"
    record = branch.durable_by(start.task, resume.number)
    return [finding(history, summary, record, resume, start, later[0].begin)]


def _continued(history: History, resume: Deliver | Recover, durable: tuple[str, ...]) -> list[_Continued]:
    """Where a resume went on: at each task that is not durable or, for a recovery without one, at the end of the run.

    A resume that parked again, was refused or was cut off before it ran a task shows nothing.
    """
    starts = [
        _Continued(start, _start_of(history.workload, start.task), start.trail)
        for start in history.during(resume.operation, TaskStart)
        if start.task not in durable
    ]
    end = outcome(history, resume)
    if not starts and isinstance(resume, Recover) and isinstance(end, Return):
        return [_Continued(end, after_everything(history.workload), end.trail)]
    return starts


def _start_of(workload: Workload, task: str) -> Position:
    return before_everything() if workload.shape is Shape.FAN_OUT else task_start(workload, task)


def _skipped(
    history: History, branch: Branch, resume: Deliver | Recover, durable: tuple[str, ...], place: _Continued
) -> list[str]:
    """The tasks in front of a start that were not durable, did not run, and whose write is not in its trail."""
    if not isinstance(place.event, TaskStart):
        return []  # That a run reads as finished too early is for LW.
    known = {*durable, *branch.durable(place.event.number)}
    known |= {e.task for e in history.during(resume.operation, TaskStart) if e.number < place.event.number}
    entries = place.trail if isinstance(place.trail, list) else []
    return [
        task.name
        for task in history.workload.tasks[: place.place[0]]
        if task.name not in known and not any(is_mark(entry, task) for entry in entries)
    ]


def _unexplained(
    history: History,
    branch: Branch,
    resume: Deliver | Recover,
    durable: tuple[str, ...],
    continued: _Continued,
) -> list[Finding]:
    event, trail = continued.event, continued.trail
    writes: defaultdict[str, list[TaskEnd]] = defaultdict(list)
    for end in branch.of(TaskEnd):
        if end.number < event.number and task_end(history.workload, end.task) < continued.place:
            writes[end.task].append(end)
    if not all(is_valid(end.write) for ends in writes.values() for end in ends):
        return []  # A write that breaks the schema is for CV.
    order = sorted(writes, key=history.workload.index)
    ran = {end.task for end in history.during(resume.operation, TaskEnd) if end.number < event.number}
    choices = [([end.write for end in writes[task]], task in durable or task in ran) for task in order]
    skipped = _skipped(history, branch, resume, durable, continued)
    if isinstance(trail, list) and not skipped and _explains(choices, trail):
        return []
    saw = f"saw {shown(trail)}" if isinstance(event, TaskStart) else f"returned {shown(trail)}"
    frontier = ", ".join(f"`{task}`" for task in durable)
    summary = f"the run resumed on branch {branch.name} {saw}, which the durable writes of {frontier} don't explain"
    if skipped and isinstance(event, TaskStart):
        what = ", ".join(f"`{task}`" for task in skipped)
        summary = f"the run resumed on branch {branch.name} {saw} in `{event.task}`, and skipped {what}, never durable"
    records = [branch.durable_by(task, resume.number) for task in durable]
    return [finding(history, summary, *(ends[-1] for ends in writes.values()), *records, resume, event)]


def _explains(choices: list[tuple[list[Json], bool]], trail: list[Json]) -> bool:
    """Whether a trail is one write of each task that must show and of some others, in order."""
    if not choices:
        return not trail
    (writes, must), rest = choices[0], choices[1:]
    if not must and _explains(rest, trail):
        return True
    return any(same(trail[: len(write)], write) and _explains(rest, trail[len(write) :]) for write in writes)
