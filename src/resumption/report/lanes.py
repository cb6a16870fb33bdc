"""A history as lanes: one for each process, time downwards, and a row for what each did next.

The two ends of a storage operation, or of an effect's call, share a row where nothing came between them. Whether an
effect fired is the effect record's word, as everywhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from resumption.contract.judges.stories import sentence
from resumption.contract.verdicts import Finding
from resumption.errors import HistoryUnreadable, ReceiptUnreadable
from resumption.harness.receipts import Receipt
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
    Oracle,
    Park,
    Persist,
    Phase,
    Raise,
    Recover,
    Return,
    Start,
    State,
    TaskEnd,
    TaskStart,
)
from resumption.history.history import History
from resumption.history.ndjson import decode_history
from resumption.history.workload import Corrupt, Effect, Interrupt, Step, Work, Workload
from resumption.report.legible import brief

__all__ = ["Kind", "Lanes", "Row", "excerpt", "histories_of", "lanes", "teller"]

_LONGEST = 300  # characters of a value that a row shows
_WHOLE, _AROUND = 120, 8  # rows of a history that is shown whole, and on each side of a row that a story is about


class Kind(StrEnum):
    """What sort of thing a row is about, for its symbol and colour."""

    REQUEST = "request"
    DELIVERY = "delivery"
    TASK = "task"
    EFFECT = "effect"
    UNFIRED = "unfired"
    """An effect's call that left no row in the effect record."""
    STORAGE = "storage"
    CONSUMPTION = "consumption"
    CRASH = "crash"
    ANSWER = "answer"
    ERROR = "error"
    HARNESS = "harness"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One thing that happened. `first` and `last` are the numbers of the events that it is made of."""

    first: int
    last: int
    process: int
    branch: str
    kind: Kind
    text: str
    detail: str = ""
    turn: bool = False
    """Whether the process turns to another branch with this row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lanes:
    """A history as lanes. Process 0 is the harness, whose lane is the last."""

    processes: tuple[int, ...]
    program: str
    rows: tuple[Row, ...]

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Numbers of the first and the last event in each lane."""
        own = ([row for row in self.rows if row.process == process] for process in self.processes)
        return tuple((rows[0].first, rows[-1].last) if rows else (0, 0) for rows in own)


def lanes(history: History) -> Lanes:
    """Lay a history out."""
    rows = tuple(_rows(history))
    return Lanes(
        processes=tuple(sorted({row.process for row in rows}, key=lambda process: (process == 0, process))),
        program=_program(history.workload),
        rows=rows,
    )


def excerpt(drawn: Lanes, story: tuple[int, ...]) -> Lanes:
    """The rows of a long history that its story is about, and those around them; a short history whole."""
    if len(drawn.rows) <= _WHOLE:
        return drawn
    near = [at for at, row in enumerate(drawn.rows) if any(row.first <= number <= row.last for number in story)]
    kept = (row for at, row in enumerate(drawn.rows) if any(abs(at - told) <= _AROUND for told in near))
    return replace(drawn, rows=tuple(kept))


def histories_of(receipt: Receipt) -> dict[str, History]:
    """The histories of a receipt by name. Raises `ReceiptUnreadable` if one of them is no history."""
    found = {}
    for name, text in receipt.histories.items():
        try:
            found[name] = decode_history(text.encode(), name=name)
        except HistoryUnreadable as error:
            raise ReceiptUnreadable(
                f"The history {name} of the receipt can't be read: {error}", advice="Measure again."
            ) from error
    return found


def teller(finding: Finding, names: tuple[str, ...], histories: dict[str, History]) -> str:
    """The first of these histories in which a finding's story happened; empty if it is in none of them alone."""
    return next((name for name in names if name in histories and _tells(histories[name], finding)), "")


def _tells(history: History, finding: Finding) -> bool:
    return bool(finding.story) and all(
        0 < step.number <= len(history.events) and sentence(history.events[step.number - 1]) == step.text
        for step in finding.story
    )


def _rows(history: History) -> Iterator[Row]:
    fired = {fire.call for fire in history.fires()}
    branches: dict[int, str] = {}
    events = iter(history.events)
    event = next(events, None)
    while event is not None:
        following = next(events, None)
        last = event
        if following is not None and _is_end_of(event, following):
            last, following = following, next(events, None)
        kind, text, detail = _told(event, last, fired)
        process = event.who if isinstance(event, Exit) else event.process
        before = branches.get(process, event.branch)
        branches[process] = event.branch
        yield Row(
            first=event.number,
            last=last.number,
            process=process,
            branch=event.branch,
            kind=kind,
            text=brief(text, _LONGEST),
            detail=brief(detail, _LONGEST),
            turn=event.branch not in ("", before),
        )
        event = following


def _is_end_of(event: Event, following: Event) -> bool:
    match event, following:
        case Persist(phase=Phase.BEGIN, item=item), Persist(phase=Phase.END, item=other):
            return item == other
        case EffectBegin(call=call), EffectEnd(call=other):
            return call == other
    return False


def _told(event: Event, last: Event, fired: set[str]) -> tuple[Kind, str, str]:
    match event:
        case Start() | Deliver() | Recover() | Inspect():
            return _request(event)
        case Park() | Return() | Raise() | State():
            return _answer(event)
        case TaskStart():
            return Kind.TASK, f"task {event.task} starts", f"sees {_json(event.trail)}"
        case TaskEnd():
            return Kind.TASK, f"task {event.task} ends", f"writes {_json(event.write)}"
        case Consume():
            return Kind.CONSUMPTION, f"{event.interrupt} consumes {_json(event.value)}", ""
        case EffectBegin() if event.call in fired:
            return Kind.EFFECT, f"effect {event.effect} fires", _value(event.value)
        case EffectBegin():
            return Kind.UNFIRED, f"effect {event.effect} begins", "the effect record has no row of it"
        case EffectEnd():
            return Kind.TASK, "the effect’s call returns", ""
        case Persist():
            return Kind.STORAGE, *_storage(event, last)
        case Crash():
            return Kind.CRASH, "kills itself", f"at {event.point}"
        case Exit():
            return _exit(event)
        case Drift():
            return Kind.HARNESS, "the program changes", _program(event.workload)
        case Durable():
            return Kind.HARNESS, f"{event.of} on disk", f"SHA-256 {event.sha256[:12]}…"
        case Oracle():
            return Kind.HARNESS, "the effect record is read", ""
    return Kind.HARNESS, sentence(event), ""


def _request(event: Start | Deliver | Recover | Inspect) -> tuple[Kind, str, str]:
    match event:
        case Start():
            return Kind.REQUEST, "starts the run", ""
        case Deliver():
            target = f" to {event.target}" if event.target else ""
            return (
                Kind.DELIVERY,
                f"delivers {_json(event.value)}{target}",
                f"{event.delivery}: {event.intent}, {event.form}",
            )
        case Recover():
            brought = f", and delivers {_json(event.value)}" if event.value is not None else ""
            return Kind.REQUEST, f"recovers the run{brought}", f"form {event.form}"
        case Inspect():
            return Kind.REQUEST, "inspects the state", ""


def _answer(event: Park | Return | Raise | State) -> tuple[Kind, str, str]:
    match event:
        case Park():
            return Kind.ANSWER, f"parked at {', '.join(p.name for p in event.pending) or 'no interrupt'}", ""
        case Return():
            return Kind.ANSWER, "finished", _json(event.trail)
        case Raise():
            return Kind.ERROR, f"raises {event.error}", event.message
        case State():
            return Kind.ANSWER, f"reads {'a finished' if event.finished else 'an open'} run", _json(event.trail)


def _storage(event: Persist, last: Event) -> tuple[str, str]:
    if event.phase is Phase.BEGIN and last is event:
        return f"begins {event.name}", ""
    covers = f"{', '.join(event.covers)} durable" if event.covers else ""
    return (f"stores {event.name}" if last is not event else f"ends {event.name}"), covers


def _exit(event: Exit) -> tuple[Kind, str, str]:
    if event.signal:
        return Kind.CRASH, f"dead, by signal {event.signal}", ""
    return Kind.HARNESS, "exits", f"code {event.code}" if event.code else ""


def _program(workload: Workload) -> str:
    between = {"sequence": " → ", "fan-out": " ∥ "}[workload.shape]
    told = (f"{task.name}({', '.join(map(_step, task.steps))})" for task in workload.tasks)
    return brief(between.join(told), _LONGEST)


def _step(step: Step) -> str:
    match step:
        case Effect():
            return f"fires {step.name}"
        case Interrupt():
            return f"asks {step.name}"
        case Work():
            return f"works {step.seconds:g} s"
        case Corrupt():
            return f"writes {step.fault}"


def _value(value: Json) -> str:
    return "" if value is None else _json(value)


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)
