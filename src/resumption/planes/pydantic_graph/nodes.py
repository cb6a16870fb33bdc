"""The workload as a graph: nodes for the parts of each task, and one for each question between them.

A node can't park: the caller stops in front of one that waits for an answer, and goes on at the node behind it. So a
task is cut at its questions. The node of a question is never run, as that of pydantic-graph's own example for a human
in the loop isn't where answers come from elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pydantic_graph import BaseNode, End, GraphRunContext
from pydantic_graph.graph import Graph

from resumption.history.workload import Interrupt, Task, Workload
from resumption.planes.interface import Instruments
from resumption.planes.tasks import Ended, appended, perform_part

__all__ = ["Program", "Question", "State", "ended_before"]


@dataclass
class State:
    """The program's state, with the type that pydantic-graph validates it by when it is read."""

    trail: list[str] = field(default_factory=list)


Node = BaseNode[State, None, list[str]]


@dataclass
class Question(Node):
    """Where a run waits for the answer to `interrupt`, with the decisions that its task has received so far."""

    task: str
    interrupt: str
    decisions: list[Any]

    async def run(self, ctx: GraphRunContext[State]) -> Node:
        """Never called: the caller stops in front of this node."""
        raise NotImplementedError(f"nobody answered {self.interrupt!r}")


@dataclass
class Part(Node):
    """The part of a task behind its latest decision. Each task has a subclass of its own."""

    decisions: list[Any] = field(default_factory=list)


class Program:
    """A workload's graph, its first node, and the nodes behind its questions."""

    def __init__(self, workload: Workload, instruments: Instruments) -> None:
        self._workload = workload
        self._parts = {task.name: self._part_of(task, instruments) for task in workload.tasks}
        self.graph: Graph[State, None, list[str]] = Graph(
            nodes=[Question, *self._parts.values()],
            name="workload",
            state_type=State,
            run_end_type=list[str],
        )

    def first(self) -> Node:
        """The node that a run begins with."""
        return self._beginning_of(self._workload.tasks[0])

    def behind(self, question: Question, answer: Any) -> Node:
        """The node behind a question, made with its answer."""
        return self._parts[question.task](decisions=[*question.decisions, answer])

    def _beginning_of(self, task: Task) -> Node:
        if task.steps and isinstance(task.steps[0], Interrupt):
            return Question(task.name, task.steps[0].name, [])
        return self._parts[task.name]()

    def _behind(self, task: Task) -> Node | None:
        """The node behind a task; None behind the last."""
        tasks = self._workload.tasks
        following = tasks[tasks.index(task) + 1 :]
        return self._beginning_of(following[0]) if following else None

    def _part_of(self, task: Task, instruments: Instruments) -> type[Part]:
        program = self

        @dataclass
        class TaskPart(Part):
            async def run(self, ctx: GraphRunContext[State]) -> Node | End[list[str]]:
                came_to = perform_part(task, ctx.state.trail, instruments, self.decisions)
                if not isinstance(came_to, Ended):
                    return Question(task.name, came_to.name, self.decisions)
                ctx.state.trail = appended(ctx.state.trail, came_to.write)
                return program._behind(task) or End(ctx.state.trail)

        TaskPart.__name__ = task.name
        return TaskPart


def ended_before(workload: Workload, node: Any) -> list[str]:
    """The tasks that have ended when `node` is the next to run; all of them at the end of the run."""
    names = [task.name for task in workload.tasks]
    if isinstance(node, End):
        return names
    return names[: names.index(node.task if isinstance(node, Question) else node.get_node_id())]
