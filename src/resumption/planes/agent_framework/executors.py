"""The executors that a workload becomes: one for each task, and those that begin and end a workflow."""

from typing import Any

from agent_framework import Executor, WorkflowContext, handler, response_handler

from resumption.history.events import Json
from resumption.history.workload import Interrupt, Task
from resumption.planes.agent_framework.continuation import Continuation
from resumption.planes.interface import Instruments
from resumption.planes.tasks import perform

__all__ = ["RESULT", "Begin", "End", "Gather", "TaskExecutor"]

# Annotations are evaluated here on purpose: the framework reads its message types from them.

RESULT = "result"
"""The key of the workflow's shared state under which its result is kept."""


class _Asked(Exception):
    """The task came to an interrupt that has no answer yet."""

    def __init__(self, name: str) -> None:
        self.name = name


class TaskExecutor(Executor):
    """A task: its handler runs up to the first interrupt and requests a decision; its response handler goes on."""

    def __init__(self, task: Task, instruments: Instruments, ended: list[str]) -> None:
        """`ended` is told the task's name when its write was sent on."""
        super().__init__(id=task.name)
        self._task = task
        self._instruments = instruments
        self._ended = ended

    @handler
    async def run(self, trail: list[str], context: WorkflowContext[list[str]]) -> None:
        """Run the task from its first line."""
        await self._go_on(trail, [], context)

    @response_handler
    async def answered(self, question: dict[str, Any], answer: str, context: WorkflowContext[list[str]]) -> None:
        """Go on behind the interrupt that was answered."""
        await self._go_on(question["trail"], [*question["answers"], answer], context)

    async def _go_on(self, trail: Json, answers: list[str], context: WorkflowContext[list[str]]) -> None:
        remaining = iter(answers)

        def ask(question: Interrupt) -> Json:
            for answer in remaining:
                return answer
            raise _Asked(question.name)

        instruments = Continuation.of(self._task, self._instruments, answers)
        try:
            write = perform(self._task, trail, instruments, ask)
        except _Asked as asked:
            await context.request_info({"name": asked.name, "trail": trail, "answers": answers}, str)
            return
        self._ended.append(self._task.name)
        await context.send_message([*trail, *write] if isinstance(write, list) else write)


class Begin(Executor):
    """Hands the first message to all tasks of a fan-out."""

    def __init__(self) -> None:
        super().__init__(id="(begin)")

    @handler
    async def run(self, trail: list[str], context: WorkflowContext[list[str]]) -> None:
        """Pass the message on."""
        await context.send_message(trail)


class End(Executor):
    """Keeps the trail as the workflow's result, and returns it."""

    def __init__(self) -> None:
        super().__init__(id="(end)")

    @handler
    async def run(self, trail: list[str], context: WorkflowContext[list[str], list[str]]) -> None:
        """End the workflow."""
        context.set_state(RESULT, trail)
        await context.yield_output(trail)


class Gather(Executor):
    """Joins the trails of all tasks of a fan-out, in their order."""

    def __init__(self) -> None:
        super().__init__(id="(end)")

    @handler
    async def run(self, trails: list[list[str]], context: WorkflowContext[list[str], list[str]]) -> None:
        """End the workflow."""
        joined = [entry for trail in trails for entry in trail]
        context.set_state(RESULT, joined)
        await context.yield_output(joined)
