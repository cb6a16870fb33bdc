"""RL: state read back by another process equals the state that the running process saw.

What the running process saw is the trail that it returned or, if it parked, the trail with which its last task started:
the gate's, or, where a plane parks in front of a gate that has not started, that of the task before it with its write.
"""

from __future__ import annotations

from resumption.contract.judges.operations import outcome, same
from resumption.contract.judges.program import is_valid
from resumption.contract.judges.stories import finding, judgement, shown
from resumption.contract.properties import Property
from resumption.contract.verdicts import Finding, Judgement
from resumption.history.events import Inspect, Json, Park, Raise, Return, State, TaskEnd, TaskStart
from resumption.history.history import History, Operation

__all__ = ["judge_reload_equals_live"]


def judge_reload_equals_live(history: History) -> tuple[Judgement, ...]:
    """Judge RL."""
    findings: list[Finding] = []
    witnesses: list[int] = []
    latest: dict[str, Operation] = {}
    for operation in history.operations():
        if not isinstance(operation, Inspect):
            latest[operation.branch] = operation
            continue
        ran = latest.get(operation.branch)
        live = _live(history, ran) if ran and ran.process != operation.process else None
        read = outcome(history, operation)
        if live is None or not isinstance(read, State | Raise):
            continue
        seen, trail = live
        witnesses += [seen.number, read.number]
        if isinstance(read, Raise) or not same(read.trail, trail):
            what = "an error" if isinstance(read, Raise) else shown(read.trail)
            summary = f"the running process saw {shown(trail)}, and another process read back {what}"
            findings.append(finding(history, summary, seen, operation, read))
    otherwise = "no other process read the state that a run had returned or parked with"
    return (judgement(Property.RELOAD_EQUALS_LIVE, findings, witnesses, otherwise=otherwise),)


def _live(history: History, operation: Operation) -> tuple[Return | TaskStart, Json] | None:
    """The last state that the process which served an operation saw, and where it saw it."""
    end = outcome(history, operation)
    if isinstance(end, Return):
        return end, end.trail
    starts = list(history.during(operation.operation, TaskStart))
    if not isinstance(end, Park) or not starts:
        return None
    last = starts[-1]
    ends = (done for done in history.during(operation.operation, TaskEnd) if done.number > last.number)
    wrote: Json = next((done.write for done in ends if done.task == last.task), [])
    return (last, [*last.trail, *wrote]) if is_valid(last.trail) and is_valid(wrote) else None
