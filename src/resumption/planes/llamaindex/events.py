"""The events of a workload's workflow: a type for the start of each task, and one for the answer to each question.

LlamaIndex restores an event by importing its type, so that each type is an attribute of this module, made when it is
first asked for.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from workflows.events import Event, HumanResponseEvent, InputRequiredEvent

from resumption.history.events import Json

__all__ = ["Answer", "Asked", "Ended", "StepStarted", "answer_to", "begin", "typed_answer"]

_BEGIN = "Begin_"
_ANSWER = "AnswerTo_"


class Asked(InputRequiredEvent):
    """A task asks: the identity of the question, and its name in the workload."""

    question: str
    name: str


class Answer(HumanResponseEvent):
    """A decision for the question of an identity."""

    question: str
    response: Any


class StepStarted(Event):
    """A step started, and waits until the caller has saved a snapshot."""

    step: str


class Ended(Event):
    """A task of a fan-out ended."""

    task: str


def begin(task: str) -> type[Event]:
    """The type of the event that starts a task."""
    return _made(f"{_BEGIN}{task}", Event)


def answer_to(question: str) -> type[Answer]:
    """The type of the event that answers a question, where each has a step of its own behind it."""
    return _made(f"{_ANSWER}{question}", Answer)


def typed_answer(question: str, value: Json) -> Answer:
    """The answer to a question, as an event of that question's own type."""
    return answer_to(question)(question=question, response=value)


@cache
def _made(name: str, base: type[Any]) -> type[Any]:
    return type(name, (base,), {"__module__": __name__, "__doc__": "An event of a workload."})


def __getattr__(name: str) -> type[Event]:
    if name.startswith(_BEGIN):
        return _made(name, Event)
    if name.startswith(_ANSWER):
        return _made(name, Answer)
    raise AttributeError(name)
