"""The executors that a workload becomes: one for each task, and those that begin and end a workflow."""

from typing import Any

from agent_framework import Executor, WorkflowContext, handler, response_handler

from resumption.history.events import Json
from resumption.history.workload import Interrupt, Task
from resumption.planes.interface import Instruments
from resumption.planes.tasks import appended, perform_part

__all__ = ["RESULT", "Begin", "End", "Gather", "TaskExecutor"]

# Annotations are evaluated here on purpose: the framework reads its message types from them.

RESULT = "result"
"""The key of the workflow's shared state under which its result is kept."""


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
        came_to = perform_part(self._task, trail, self._instruments, answers)
        if isinstance(came_to, Interrupt):
            await context.request_info({"name": came_to.name, "trail": trail, "answers": answers}, str)
            return
        self._ended.append(self._task.name)
        await context.send_message(appended(trail, came_to.write))


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
