"""CV: a write that breaks the state schema is refused with an error and is not stored.

The schema of every workload is "the trail is a list of strings"; a task with a `Corrupt` step hands over a write that
breaks it. The write was *stored* if a broken trail was seen later, or one with a text that no task wrote (what a codec
made of an object that it doesn't know), or if the run can't be read or resumed any more;
and, where its operation raised, also if the end of a storage operation in it that made its task durable is on record,
whatever a later look shows: the look may not reach it, but every judge takes such a record for durable. It was
*refused* if its operation raised, nothing stored it, and inspection then showed a valid trail. Neither is a breach,
too: it vanished in silence. A breach is *silent corruption* if no error stood between the write and its place in the
store.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from resumption.contract.judges.branches import lineage
from resumption.contract.judges.operations import operation_of, outcome
from resumption.contract.judges.program import is_valid, strangers
from resumption.contract.judges.stories import finding, judgement
from resumption.contract.properties import Property
from resumption.contract.verdicts import Finding, Judgement, Measured
from resumption.history.events import (
    Event,
    Exit,
    Inspect,
    Json,
    Persist,
    Phase,
    Raise,
    Recover,
    Return,
    State,
    TaskEnd,
    TaskStart,
)
from resumption.history.history import History

__all__ = ["judge_checkpoint_validity"]


@dataclass(frozen=True, slots=True)
class _Write:
    """A write that breaks the schema, and the first event of each kind that says what became of it."""

    end: TaskEnd
    answer: Event | None
    """How the operation ended in which it was handed over."""
    stored: Persist | None
    """The end of the storage operation by which the task's result was durable."""
    seen: Event | None
    """What showed the broken state, or showed that the run can't be read or resumed any more."""
    looked: State | None
    """A valid state that inspection showed."""

    @property
    def refused(self) -> Raise | None:
        """The error of its operation, if there was one."""
        return self.answer if isinstance(self.answer, Raise) else None

    @property
    def is_silent(self) -> bool:
        """Whether the write took effect with no error before."""
        marks = [event.number for event in (self.stored, self.seen) if event]
        return self.refused is None or any(mark < self.refused.number for mark in marks)

    @property
    def is_open(self) -> bool:
        """Whether the process died before the write could be answered, so that it shows nothing."""
        return self.seen is None and (self.answer is None or isinstance(self.answer, Exit))


def judge_checkpoint_validity(history: History) -> tuple[Judgement, ...]:
    """Judge CV."""
    corrupt = {task.name for task in history.workload.tasks if task.corrupts}
    writes = [_write(history, end) for end in history.of(TaskEnd) if end.task in corrupt]
    writes = [write for write in writes if not write.is_open]
    findings = [found for write in writes for found in _breach(history, write)]
    if not findings and any(write.looked is None for write in writes):
        reason = "a task handed over an invalid write, and no inspection showed the state that it left"
        return (Judgement(Property.CHECKPOINT_VALIDITY, Measured.UNDETERMINED, reason=reason),)
    witnesses = [event.number for write in writes for event in (write.end, write.refused, write.looked) if event]
    otherwise = "no task handed an invalid write to a process that lived to answer it"
    return (judgement(Property.CHECKPOINT_VALIDITY, findings, witnesses, otherwise=otherwise),)


def _breach(history: History, write: _Write) -> list[Finding]:
    task = write.end.task
    if write.seen:
        how = "can't be read or resumed any more" if isinstance(write.seen, Raise) else "holds it"
        late = " before any error was raised" if write.is_silent and write.refused else ""
        summary = f"the invalid write of task `{task}` was stored{late}: the run {how}"
        told = (write.end, write.stored, write.refused, write.seen)
        return [finding(history, summary, *told, silent_corruption=write.is_silent)]
    if write.refused and write.stored and write.stored.operation == write.end.operation:
        late = " before any error was raised" if write.is_silent else " despite its error"
        summary = f"the invalid write of task `{task}` was stored{late}: its storage operation is on record"
        story = (write.end, write.stored, write.refused, write.looked)
        return [finding(history, summary, *story, silent_corruption=write.is_silent)]
    if write.refused is None and write.looked:
        summary = f"the invalid write of task `{task}` was neither refused nor stored: it vanished in silence"
        return [finding(history, summary, write.end, write.answer, write.looked)]
    return []


def _write(history: History, end: TaskEnd) -> _Write:
    operation = operation_of(history, end.operation)
    after = [e for e in history.events if e.number > end.number and end.branch in lineage(e.branch)]
    stored = (e for e in after if isinstance(e, Persist) and e.phase is Phase.END and end.task in e.covers)
    first_stored = next(stored, None)
    return _Write(
        end=end,
        answer=outcome(history, operation) if operation else None,
        stored=first_stored,
        seen=next(_sightings(history, after, first_stored), None),
        looked=next((e for e in after if isinstance(e, State) and _is_sound(history, e.trail)), None),
    )


def _is_sound(history: History, trail: Json) -> bool:
    return is_valid(trail) and not strangers(history.workload, trail)


def _sightings(history: History, after: list[Event], stored: Persist | None) -> Iterator[Event]:
    for event in after:
        if isinstance(event, State | Return | TaskStart) and not _is_sound(history, event.trail):
            yield event
        elif isinstance(event, Inspect | Recover) and stored and stored.number < event.number:
            answer = outcome(history, event)
            if isinstance(answer, Raise) and not any(history.during(event.operation, TaskStart)):
                yield answer
