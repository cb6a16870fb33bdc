"""The steps that a call's course is made of, and two ways to take them: blocking, and on an event loop.

A course (`resumption.guard.course`) is a generator of steps, so that the order of begin, call and commit is written
once. What differs is how to wait, and what a cancellation may interrupt: never a conversation with the store, since a
begin that nobody waited for would leave a record that says "running" and a call that never came.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Generator
from concurrent.futures import Executor, wait
from dataclasses import dataclass
from typing import Any, TypeVar

__all__ = ["Consult", "Course", "Invoke", "Pause", "aperform", "perform"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Consult:
    """Talk to the store: a blocking function that must run to its end."""

    work: Callable[[], Any]


@dataclass(slots=True)
class Invoke:
    """Call the program's function. `started` tells afterwards whether it was called at all."""

    function: Callable[[], Any]
    started: bool = False


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait before asking the store again."""

    seconds: float


Step = Consult | Invoke | Pause
Course = Generator[Step, Any, T]


def perform(course: Course[T]) -> T:
    """Take the steps of a course one after another, in this thread."""
    try:
        step = next(course)
        while True:
            try:
                outcome = _take(step)
            except BaseException as error:
                step = course.throw(error)
            else:
                step = course.send(outcome)
    except StopIteration as end:
        result: T = end.value
        return result


def _take(step: Step) -> object:
    match step:
        case Consult(work):
            return work()
        case Pause(seconds):
            time.sleep(seconds)
            return None
        case Invoke(function):
            step.started = True
            return function()


async def aperform(course: Course[T], executor: Callable[[], Executor]) -> T:
    """Take the steps of a course on the running event loop; the store is consulted in threads of `executor`.

    A cancellation that arrives while the store is consulted takes effect before the next step that can be interrupted,
    or at the end.
    """
    cancelled: asyncio.CancelledError | None = None
    try:
        step = next(course)
        while True:
            try:
                if isinstance(step, Consult):
                    outcome, late = await _uninterrupted(step, executor())
                    cancelled = cancelled or late
                elif cancelled is not None:
                    pending, cancelled = cancelled, None
                    raise pending
                else:
                    outcome = await _take_async(step)
            except BaseException as error:
                step = course.throw(error)
            else:
                step = course.send(outcome)
    except StopIteration as end:
        if cancelled is not None:
            raise cancelled from None
        result: T = end.value
        return result


async def _take_async(step: Invoke | Pause) -> object:
    if isinstance(step, Pause):
        await asyncio.sleep(step.seconds)
        return None
    step.started = True
    outcome = step.function()
    return await outcome if inspect.isawaitable(outcome) else outcome


async def _uninterrupted(step: Consult, executor: Executor) -> tuple[object, asyncio.CancelledError | None]:
    """The outcome of a consultation, and the cancellation that arrived meanwhile, if any."""
    cancelled: asyncio.CancelledError | None = None
    job = executor.submit(step.work)
    while not job.done():
        try:
            await asyncio.wait([asyncio.wrap_future(job)])
        except asyncio.CancelledError as error:
            cancelled = error
        except GeneratorExit:
            wait([job])
            raise
    return job.result(), cancelled
