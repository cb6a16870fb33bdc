"""RI: inspection changes no durable state and fires nothing.

No task runs, no effect fires and nothing is stored while the state is inspected, looking twice shows the same, and the
content of the store before and after is the same. Two looks are compared only if no other operation, on any branch, was
served between them: branches share a store, and a fork may move the head that a look at its parent shows.
"""

from __future__ import annotations

from resumption.contract.judges.operations import outcome, same
from resumption.contract.judges.stories import finding, judgement
from resumption.contract.properties import Property
from resumption.contract.verdicts import Finding, Judgement
from resumption.history.events import Durable, EffectBegin, Event, Inspect, Persist, Phase, State, TaskStart
from resumption.history.history import History, Operation

__all__ = ["judge_read_inertness"]

_STORE = "store"


def judge_read_inertness(history: History) -> tuple[Judgement, ...]:
    """Judge RI."""
    findings: list[Finding] = []
    witnesses: list[int] = []
    previous: dict[str, State] = {}
    served = 0
    for operation in history.operations():
        if not isinstance(operation, Inspect):
            served = max(served, history.ended(operation))
            continue
        act = next((event for event in history.during(operation.operation, Event) if _changes(event)), None)
        if act:
            findings.append(finding(history, "inspecting the state was not inert", operation, act))
        state = outcome(history, operation)
        if not isinstance(state, State):
            continue
        witnesses += [operation.number, state.number]
        before = previous.get(operation.branch)
        if before and before.number > served and not _shows_the_same(before, state):
            findings.append(finding(history, "looking twice showed two states", before, operation, state))
        previous[operation.branch] = state
    findings += _stores_changed(history)
    otherwise = "nobody inspected the state"
    return (judgement(Property.READ_INERTNESS, findings, witnesses, otherwise=otherwise),)


def _stores_changed(history: History) -> list[Finding]:
    """The pairs of contents, one before and one after nothing but inspections, that differ."""
    found = []
    before: Durable | None = None
    for event in history.events:
        if isinstance(event, Operation) and not isinstance(event, Inspect):
            before = None
        elif isinstance(event, Durable) and event.of == _STORE:
            if before and before.sha256 != event.sha256:
                found.append(finding(history, "inspecting the state changed what is stored", before, event))
            before = event
    return found


def _changes(event: Event) -> bool:
    if isinstance(event, Persist):
        return event.phase is Phase.END
    return isinstance(event, TaskStart | EffectBegin)


def _shows_the_same(left: State, right: State) -> bool:
    return same(left.trail, right.trail) and left.pending == right.pending and left.finished == right.finished
