"""The workload as a CrewAI Flow: one method for each task; a gate has one more for each question that it asks.

A method that asks is decorated with `@human_feedback`. CrewAI asks once the method has returned, and hands the answer
to the method that listens to it; so a gate's code is cut at its interrupts, and each piece is a method.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from crewai.flow.async_feedback import HumanFeedbackPending
from crewai.flow.flow import Flow, FlowState, listen, start
from crewai.flow.human_feedback import human_feedback
from pydantic import Field

from resumption.history.events import Json
from resumption.history.workload import Interrupt, Shape, Step, Task, Workload
from resumption.planes.interface import Instruments
from resumption.planes.tasks import Asked, perform

__all__ = ["State", "build"]


class State(FlowState):  # type: ignore[misc]  # not installed beside the harness
    """The flow's state, with a schema that CrewAI is asked to validate."""

    trail: list[str] = Field(default_factory=list)
    answers: dict[str, str] = Field(default_factory=dict)
    """The decisions that a gate under way has received, by interrupt."""


class _Desk:
    """Takes every question to a human who answers later, by another call."""

    def request_feedback(self, context: Any, flow: Any) -> str:
        """Park."""
        raise HumanFeedbackPending(context=context)


def build(workload: Workload, instruments: Instruments) -> type[Any]:
    """Return the workload as a subclass of `Flow`: its methods in sequence, or each task from the start."""
    methods: dict[str, Any] = {"__module__": __name__}
    # A flow's memory is a vector database that CrewAI opens for each flow, and that no method here uses.
    methods["_skip_auto_memory"] = True
    behind = ""
    for task in workload.tasks:
        if workload.shape is Shape.FAN_OUT:
            behind = ""
        for piece in _pieces(task):
            method = _method(piece, workload.shape, instruments)
            if piece.asks:
                method = human_feedback(message=piece.asks, provider=_Desk(), llm=None)(method)
            methods[piece.name] = listen(behind)(method) if behind else start()(method)
            behind = piece.name
    return types.new_class("Program", (Flow[State],), {}, lambda namespace: namespace.update(methods))


@dataclass(frozen=True, slots=True)
class _Piece:
    """The code of a task from one of its interrupts, or its beginning, to the next one, or its end."""

    name: str
    task: Task
    """What of the task is to be run: interrupts that have their answers, then the piece itself."""
    answered: tuple[str, ...]
    """The interrupts that have their answers, the latest last."""
    asks: str
    """The interrupt with which the piece ends; empty for the last one."""


def _pieces(task: Task) -> Iterator[_Piece]:
    received: list[Interrupt] = []
    steps: list[Step] = []
    for step in task.steps:
        steps.append(step)
        if isinstance(step, Interrupt):
            name = f"{task.name}_{len(received) + 1}"
            yield _Piece(name, Task(task.name, tuple(steps)), tuple(one.name for one in received), step.name)
            received.append(step)
            steps = [*received]
    yield _Piece(task.name, Task(task.name, tuple(steps)), tuple(one.name for one in received), "")


def _method(piece: _Piece, shape: Shape, instruments: Instruments) -> Callable[..., Any]:
    def method(self: Any, result: Any = None) -> Any:
        if piece.answered:
            self.state.answers[piece.answered[-1]] = result.feedback

        def ask(question: Interrupt) -> Json:
            if question.name not in piece.answered:
                raise Asked(question)
            return self.state.answers[question.name]

        try:
            _write(self.state, perform(piece.task, _seen(self.state.trail, shape), instruments, ask))
        except Asked:
            return piece.asks
        return None

    method.__name__ = piece.name
    return method


def _seen(trail: Any, shape: Shape) -> Json:
    """The trail that a task goes by: none where all run at once, else a copy, which later tasks don't add to."""
    if shape is Shape.FAN_OUT:
        return []
    return list(trail) if isinstance(trail, list) else trail


def _write(state: Any, write: Any) -> None:
    """Append what a task wrote; a task that corrupts the state puts its write in the trail's place."""
    if isinstance(write, list):
        state.trail.extend(write)
    else:
        state.trail = write
