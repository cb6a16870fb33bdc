"""What an admission has to wait for, as steps: so that it is written once, for blocking calls and for event loops."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.types import StateSnapshot

from resumption.guard.langgraph.tenure import Tenure
from resumption.guard.stores.protocol import Work

__all__ = ["Copy", "Course", "Inspect", "Pause", "Read", "Step", "Write", "aperform", "perform"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Read:
    """Read from the saver's database, outside a transaction."""

    make: Callable[[], Work[Any]]


@dataclass(frozen=True, slots=True)
class Write:
    """Write to the saver's database, in one transaction. It carries the tenure's fence, if there is a tenure."""

    tenure: Tenure | None
    make: Callable[[], Work[Any]]


@dataclass(frozen=True, slots=True)
class Inspect:
    """Ask LangGraph for the state."""

    config: RunnableConfig


@dataclass(frozen=True, slots=True)
class Copy:
    """Have LangGraph copy a checkpoint, to be the newest."""

    tenure: Tenure
    config: RunnableConfig


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait before trying again."""

    seconds: float


Step = Read | Write | Inspect | Copy | Pause
Course = Generator[Step, Any, T]


class Ground(Protocol):
    """What steps are taken on."""

    def read(self, make: Callable[[], Work[T]]) -> T:
        """Take a `Read`."""

    def write(self, tenure: Tenure | None, make: Callable[[], Work[T]]) -> T:
        """Take a `Write`."""

    def inspect(self, config: RunnableConfig) -> StateSnapshot:
        """Take an `Inspect`."""

    def copy(self, tenure: Tenure, config: RunnableConfig) -> RunnableConfig:
        """Take a `Copy`."""

    async def aread(self, make: Callable[[], Work[T]]) -> T:
        """Take a `Read` on the event loop."""

    async def awrite(self, tenure: Tenure | None, make: Callable[[], Work[T]]) -> T:
        """Take a `Write` on the event loop."""

    async def ainspect(self, config: RunnableConfig) -> StateSnapshot:
        """Take an `Inspect` on the event loop."""

    async def acopy(self, tenure: Tenure, config: RunnableConfig) -> RunnableConfig:
        """Take a `Copy` on the event loop."""


def perform(course: Course[T], ground: Ground) -> T:
    """Take the steps of a course, in this thread."""
    try:
        step = next(course)
        while True:
            try:
                outcome = _take(step, ground)
            except BaseException as error:
                step = course.throw(error)
            else:
                step = course.send(outcome)
    except StopIteration as end:
        result: T = end.value
        return result


def _take(step: Step, ground: Ground) -> Any:
    match step:
        case Read(make):
            return ground.read(make)
        case Write(tenure, make):
            return ground.write(tenure, make)
        case Inspect(config):
            return ground.inspect(config)
        case Copy(tenure, config):
            return ground.copy(tenure, config)
        case Pause(seconds):
            time.sleep(seconds)
            return None


async def aperform(course: Course[T], ground: Ground) -> T:
    """Take the steps of a course, on the running event loop."""
    try:
        step = next(course)
        while True:
            try:
                outcome = await _atake(step, ground)
            except BaseException as error:
                step = course.throw(error)
            else:
                step = course.send(outcome)
    except StopIteration as end:
        result: T = end.value
        return result


async def _atake(step: Step, ground: Ground) -> Any:
    match step:
        case Read(make):
            return await ground.aread(make)
        case Write(tenure, make):
            return await ground.awrite(tenure, make)
        case Inspect(config):
            return await ground.ainspect(config)
        case Copy(tenure, config):
            return await ground.acopy(tenure, config)
        case Pause(seconds):
            await asyncio.sleep(seconds)
            return None
