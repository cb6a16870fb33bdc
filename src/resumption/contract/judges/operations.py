"""How operations ended, and how values compare."""

from __future__ import annotations

import json

from resumption.history.events import Deliver, Event, Exit, Intent, Json, Park, Raise, Return, State
from resumption.history.history import History, Operation

__all__ = ["cut_off", "intent_of", "operation_of", "outcome", "same"]


def same(left: Json, right: Json) -> bool:
    """Whether two JSON values are the same. Unlike `==`, it tells `true` from `1` and `1` from `1.0`."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


def operation_of(history: History, number: int) -> Operation | None:
    """The operation with a number; None for what no operation caused."""
    return next((operation for operation in history.operations() if operation.operation == number), None)


def intent_of(operation: Operation) -> Intent | None:
    """Why a decision was delivered; None for an operation that delivers none."""
    return operation.intent if isinstance(operation, Deliver) else None


def outcome(history: History, operation: Operation) -> Event | None:
    """How an operation ended: its park, return, raise or state, else the exit of the process that served it."""
    answers = [
        event
        for event in history.events
        if event.operation == operation.operation and isinstance(event, Park | Return | Raise | State)
    ]
    if answers:
        return answers[-1]
    return next((e for e in history.of(Exit) if e.who == operation.process and e.number > operation.number), None)


def cut_off(history: History, number: int) -> Raise | Exit | None:
    """The error, or the death of its process, that ended an operation; None if it ended otherwise."""
    operation = operation_of(history, number)
    end = outcome(history, operation) if operation else None
    return end if isinstance(end, Raise | Exit) else None
