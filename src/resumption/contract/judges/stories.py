"""Stories: what happened, one sentence an event, in the words of the contract."""

from __future__ import annotations

import json

from resumption.contract.properties import Property
from resumption.contract.verdicts import Facet, Finding, Judgement, Measured, Step
from resumption.history.events import (
    Consume,
    Crash,
    Deliver,
    Drift,
    Durable,
    EffectBegin,
    EffectEnd,
    Event,
    Exit,
    Inspect,
    Json,
    LeaseLoss,
    Oracle,
    Park,
    Past,
    Persist,
    Phase,
    Raise,
    Recover,
    Return,
    Start,
    State,
    Tamper,
    TaskEnd,
    TaskStart,
)
from resumption.history.history import History

__all__ = ["finding", "judgement", "sentence", "shown"]

_LONGEST = 120


def shown(value: Json) -> str:
    """A JSON value as readers see it in a story, cut where it gets long."""
    return _brief(json.dumps(value, ensure_ascii=False))


def _brief(text: str) -> str:
    """One line of printable text: frameworks raise messages of many lines, and programs write what no file can hold."""
    line = " ".join(text.split()).encode(errors="backslashreplace").decode()
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def finding(history: History, summary: str, *told: Event | int | None, silent_corruption: bool = False) -> Finding:
    """Build a finding whose story tells these events (or the events of these numbers) in the order of the history.

    None stands for an event that did not happen, and is left out.
    """
    numbers = {item if isinstance(item, int) else item.number for item in told if item is not None}
    steps = tuple(Step(number, sentence(history.events[number - 1])) for number in sorted(numbers))
    return Finding(summary, steps, silent_corruption)


def judgement(
    property_: Property,
    findings: list[Finding],
    witnesses: list[int],
    *,
    otherwise: str,
    facet: Facet = Facet.CELL,
) -> Judgement:
    """Build a judgement: findings breach; without them, witnesses conform; without either, it is unexercised."""
    if findings:
        return Judgement(property_, Measured.BREACHES, facet, findings=tuple(findings))
    if witnesses:
        return Judgement(property_, Measured.CONFORMS, facet, witnesses=tuple(sorted(set(witnesses))))
    return Judgement(property_, Measured.UNEXERCISED, facet, reason=otherwise)


def sentence(event: Event) -> str:
    """Say what an event was."""
    match event:
        case Start() | Deliver() | Recover() | Inspect():
            return f"{_request(event)} {_place(event)}"
        case Park() | Return() | Raise() | State():
            return _answer(event)
        case Past():
            ended = f", and then raised {event.error}" if event.error else ""
            return f"the history listed {len(event.trails)} states{ended}"
        case EffectBegin():
            return f"effect `{event.effect}` of task `{event.task}` fired {_place(event)}"
        case EffectEnd():
            return f"the call {event.call} returned"
        case TaskStart():
            return f"task `{event.task}` started {_place(event)}, and saw {shown(event.trail)}"
        case TaskEnd():
            return f"task `{event.task}` ended, and wrote {shown(event.write)}"
        case Consume():
            return f"interrupt `{event.interrupt}` consumed {shown(event.value)} {_place(event)}"
        case Persist():
            return _storage(event)
        case Crash():
            return f"process {event.process} reached its kill point {event.point}"
        case Exit():
            return f"process {event.who} {f'died of signal {event.signal}' if event.signal else 'ended'}"
        case Drift():
            return f"the program became {', '.join(f'`{task.name}`' for task in event.workload.tasks)}"
        case Tamper():
            return "the durable trail was made a number, from outside"
        case LeaseLoss():
            return f"{event.leases} leases were taken from executors that live"
        case Durable():
            return f"what was durable ({event.of}) had the SHA-256 {event.sha256[:12]}…"
        case Oracle():
            return "the effect record was read"
    return event.kind


def _place(event: Event) -> str:
    return f"on branch {event.branch}, in process {event.process}"


def _request(event: Start | Deliver | Recover | Inspect) -> str:
    match event:
        case Start():
            return "the run was started"
        case Deliver():
            target = f" for interrupt `{event.target}`" if event.target else ""
            return f"delivery {event.delivery} ({event.intent}, form {event.form}) brought {shown(event.value)}{target}"
        case Recover():
            brought = f", and brought {shown(event.value)}," if event.value is not None else ""
            return f"a recovery (form {event.form}) was asked for{brought}"
        case Inspect():
            return "the state was inspected"


def _answer(event: Park | Return | Raise | State) -> str:
    match event:
        case Park():
            return f"the run parked at {', '.join(f'`{pending.name}`' for pending in event.pending) or 'no interrupt'}"
        case Return():
            return f"the run returned as finished, with {shown(event.trail)}"
        case Raise():
            return f"the operation raised {_brief(f'{event.error}: {event.message}')}"
        case State():
            return f"inspection showed {'a finished' if event.finished else 'an open'} run with {shown(event.trail)}"


def _storage(event: Persist) -> str:
    what = ", ".join(f"task `{task}`" for task in event.covers)
    if event.phase is Phase.BEGIN:
        return f"the storage operation {event.name} began"
    return f"the storage operation {event.name} ended" + (f": {what} durable" if what else "")
