"""The workload as a workflow: steps that pass an event on to the next, or that a first step fans out to.

The paths differ in how a task asks. In one it is cut at its questions, a step for each part; in the others it is one
step, which runs again from its beginning when the answer is there. Tasks run in threads, so that the event loop is
free while one takes its time, as it is where steps await what they do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel
from workflows import Context, Workflow, step
from workflows.events import Event, StartEvent, StopEvent

from resumption.history.workload import Interrupt, Shape, Task, Workload
from resumption.planes.interface import Instruments
from resumption.planes.llamaindex.events import Answer, Asked, Ended, StepStarted, answer_to, begin
from resumption.planes.tasks import Ended as TaskEnded
from resumption.planes.tasks import appended, perform, perform_part

__all__ = [
    "Build",
    "Saved",
    "State",
    "build_two_step",
    "build_wait_for_event",
    "build_wait_with_requirements",
    "question_of",
    "steps_of",
]

T = TypeVar("T")

_FAN_OUT, _JOIN = "fan-out", "join"
_RUN_SECONDS = 20.0
"""The timeout of a run: without one, a run that waits for an event which was lost would never tell."""


class State(BaseModel):
    """The program's state, with the model that LlamaIndex is asked to keep it in."""

    trail: list[str] = []
    asked: dict[str, str] = {}
    """The questions that steps have returned and nobody has answered, by their identity, with their names."""
    decisions: dict[str, list[Any]] = {}
    """What each task that is cut at its questions was answered."""
    writes: dict[str, Any] = {}
    """What each task of a fan-out wrote."""
    ended: list[str] = []
    """The tasks that have handed over what they write."""


Saved = Callable[[str], Awaitable[None]]
"""Returns once the caller has saved a snapshot, at the start of a step."""


Wait = Callable[[Context[State], Task, Interrupt], Coroutine[Any, Any, Answer]]
"""How a step waits for the answer to one of its questions."""


class Build(Protocol):
    """Makes the workflow of a workload."""

    def __call__(self, workload: Workload, instruments: Instruments, saved: Saved) -> Workflow:
        """`saved` is awaited at the start of each step."""


def question_of(task: Task, interrupt: Interrupt) -> str:
    """The identity of a question: its task, and which of the task's questions it is."""
    return f"{task.name}-{task.interrupts.index(interrupt) + 1}"


def steps_of(task: Task) -> list[str]:
    """The names of the steps that a task can be cut into; the first is its own."""
    return [task.name, *(question_of(task, interrupt) for interrupt in task.interrupts)]


def build_two_step(workload: Workload, instruments: Instruments, saved: Saved) -> Workflow:
    """Cut each task at its questions: a step returns an input request, and another takes the answer."""
    program = _program(workload, saved)

    def add_part(task: Task, place: int, accepts: type[Event]) -> None:
        asks = place < len(task.interrupts)
        returns = [Asked] if asks else [_behind(workload, task)]

        async def part(ctx: Context[State], ev: Any) -> Event:
            if isinstance(ev, Answer):
                async with ctx.store.edit_state() as state:
                    earlier = state.decisions.get(task.name, [])[: place - 1]
                    state.decisions = {**state.decisions, task.name: [*earlier, ev.response]}
                    state.asked = {asked: name for asked, name in state.asked.items() if asked != ev.question}
            state = await ctx.store.get_state()
            decisions = state.decisions[task.name] if place else []
            came_to = await asyncio.to_thread(perform_part, task, state.trail, instruments, decisions)
            if not isinstance(came_to, Interrupt):
                return await _end(workload, ctx, task, came_to)
            async with ctx.store.edit_state() as state:
                state.asked = {**state.asked, question_of(task, came_to): came_to.name}
            return _request(task, came_to)

        _add(program, steps_of(task)[place], part, accepts, returns, saved)

    for task in workload.tasks:
        add_part(task, 0, _accepted(workload, task))
        for place, interrupt in enumerate(task.interrupts, 1):
            add_part(task, place, answer_to(question_of(task, interrupt)))
    return program(timeout=_RUN_SECONDS)


def build_wait_for_event(workload: Workload, instruments: Instruments, saved: Saved) -> Workflow:
    """Make each task one step, which asks by `ctx.wait_for_event`, for an answer of a type of its own."""

    def wait(ctx: Context[State], task: Task, interrupt: Interrupt) -> Coroutine[Any, Any, Answer]:
        question = question_of(task, interrupt)
        return ctx.wait_for_event(
            answer_to(question), waiter_event=_request(task, interrupt), waiter_id=question, timeout=None
        )

    return _build_waiting(workload, instruments, saved, wait)


def build_wait_with_requirements(workload: Workload, instruments: Instruments, saved: Saved) -> Workflow:
    """Make each task one step, which asks by `ctx.wait_for_event`, for an answer that says which question it is for."""

    def wait(ctx: Context[State], task: Task, interrupt: Interrupt) -> Coroutine[Any, Any, Answer]:
        question = question_of(task, interrupt)
        return ctx.wait_for_event(
            Answer,
            waiter_event=_request(task, interrupt),
            waiter_id=question,
            requirements={"question": question},
            timeout=None,
        )

    return _build_waiting(workload, instruments, saved, wait)


def _build_waiting(workload: Workload, instruments: Instruments, saved: Saved, wait: Wait) -> Workflow:
    program = _program(workload, saved)

    def add_task(task: Task) -> None:
        async def whole(ctx: Context[State], ev: Any) -> Event:
            def ask(interrupt: Interrupt) -> Any:
                return _at_once(wait(ctx, task, interrupt)).response

            state = await ctx.store.get_state()
            write = await asyncio.to_thread(perform, task, state.trail, instruments, ask)
            return await _end(workload, ctx, task, TaskEnded(write))

        _add(program, task.name, whole, _accepted(workload, task), [_behind(workload, task)], saved)

    for task in workload.tasks:
        add_task(task)
    return program(timeout=_RUN_SECONDS)


def _at_once(waiting: Coroutine[Any, Any, T]) -> T:
    """What `wait_for_event` returns: it never suspends, since a step that has to wait is left and run again."""
    try:
        waiting.send(None)
    except StopIteration as done:
        answer: T = done.value
        return answer
    raise RuntimeError("wait_for_event suspended its step")


def _program(workload: Workload, saved: Saved) -> type[Workflow]:
    """The class of the workload's workflow, with the steps that a fan-out has beside its tasks."""

    class Program(Workflow):
        pass

    if workload.shape is Shape.FAN_OUT:
        starts = [begin(task.name) for task in workload.tasks]

        async def fan_out(ctx: Context[State], ev: Any) -> None:
            for start in starts:
                ctx.send_event(start())

        async def join(ctx: Context[State], ev: Any) -> StopEvent | None:
            if ctx.collect_events(ev, [Ended] * len(workload.tasks)) is None:
                return None
            async with ctx.store.edit_state() as state:
                for task in workload.tasks:
                    state.trail = appended(state.trail, state.writes[task.name])
            return StopEvent(result=state.trail)

        _add(Program, _FAN_OUT, fan_out, StartEvent, [*starts, type(None)], saved)
        _add(Program, _JOIN, join, Ended, [StopEvent, type(None)], saved, workers=1)
    return Program


def _add(
    program: type[Workflow],
    name: str,
    body: Callable[..., Coroutine[Any, Any, Any]],
    accepts: type[Event],
    returns: Sequence[type[Any]],
    saved: Saved,
    *,
    workers: int = 4,
) -> None:
    """Add a step, with the signature by which LlamaIndex routes events to it; four workers are its default."""

    async def run(ctx: Context[State], ev: Any) -> Any:
        ctx.write_event_to_stream(StepStarted(step=name))
        await saved(name)
        return await body(ctx, ev)

    produced: Any = returns[0]
    for other in returns[1:]:
        produced = produced | other
    run.__name__ = run.__qualname__ = name
    run.__annotations__ = {"ctx": Context[State], "ev": accepts, "return": produced}
    step(workflow=program, num_workers=workers)(run)


def _accepted(workload: Workload, task: Task) -> type[Event]:
    if workload.shape is Shape.SEQUENCE and task == workload.tasks[0]:
        return StartEvent
    return begin(task.name)


def _behind(workload: Workload, task: Task) -> type[Event]:
    """The type of the event with which a task passes on."""
    if workload.shape is Shape.FAN_OUT:
        return Ended
    following = workload.tasks[workload.index(task.name) + 1 :]
    return begin(following[0].name) if following else StopEvent


def _request(task: Task, interrupt: Interrupt) -> Asked:
    return Asked(question=question_of(task, interrupt), name=interrupt.name)


async def _end(workload: Workload, ctx: Context[State], task: Task, ended: TaskEnded) -> Event:
    """Do to the state what a task wrote, and pass on."""
    event = _behind(workload, task)
    async with ctx.store.edit_state() as state:
        state.ended = [*state.ended, task.name]
        if event is Ended:
            state.writes = {**state.writes, task.name: ended.write}
        else:
            state.trail = appended(state.trail, ended.write)
    if event is Ended:
        return Ended(task=task.name)
    return StopEvent(result=state.trail) if event is StopEvent else event()
