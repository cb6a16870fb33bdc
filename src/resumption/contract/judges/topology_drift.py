"""TD: a parked run whose program changed is refused, or resumed by a defined rule; no task is skipped in silence.

Looked at is every resume after the program was exchanged. An error refuses it. A return claims that the program is
done: each task of the program as it is now must then have run, before the exchange or after it.
"""

from __future__ import annotations

from resumption.contract.judges.branches import lineage
from resumption.contract.judges.operations import outcome
from resumption.contract.judges.stories import finding, judgement
from resumption.contract.properties import Property
from resumption.contract.verdicts import Finding, Judgement
from resumption.history.events import Deliver, Drift, Raise, Recover, Return, TaskEnd
from resumption.history.history import History

__all__ = ["judge_topology_drift"]


def judge_topology_drift(history: History) -> tuple[Judgement, ...]:
    """Judge TD."""
    findings: list[Finding] = []
    witnesses: list[int] = []
    for resume in history.operations():
        drifts = [drift for drift in history.of(Drift) if drift.number < resume.number]
        if not drifts or not isinstance(resume, Deliver | Recover):
            continue
        end = outcome(history, resume)
        if isinstance(end, Raise | Return):
            witnesses += [drifts[-1].number, resume.number, end.number]
        if isinstance(end, Return) and (lost := _lost(history, drifts[-1], end)):
            what = ", ".join(f"`{task}`" for task in lost)
            summary = f"the program changed under the parked run, which then read as finished and never ran {what}"
            findings.append(finding(history, summary, drifts[-1], resume, end))
    otherwise = "no run was resumed after its program had changed"
    return (judgement(Property.TOPOLOGY_DRIFT, findings, witnesses, otherwise=otherwise),)


def _lost(history: History, drift: Drift, end: Return) -> list[str]:
    line = lineage(end.branch)
    ran = {event.task for event in history.of(TaskEnd) if event.number < end.number and event.branch in line}
    return [task.name for task in drift.workload.tasks if task.name not in ran]
