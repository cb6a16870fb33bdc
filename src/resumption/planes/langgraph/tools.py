"""A workload as a LangChain agent: each task is a tool, and a scripted model calls the tools in the workload's order.

A gate that asks before it does anything is a tool behind `HumanInTheLoopMiddleware`: a person edits the model's call,
and the decision is an argument of the edited one. Other questions are asked by the tool itself, with `interrupt`, and
take the same answer, since a client that sends one doesn't know who asked.

The middleware asks in one of two modes: about all calls of a message at once, or about each call as it starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, Literal

from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain.tools import ToolRuntime, tool
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool
from langgraph.checkpoint.base import BaseCheckpointSaver, Checkpoint
from langgraph.types import Command, interrupt

from resumption.history.events import Json
from resumption.history.workload import Interrupt, Shape, Task, Workload
from resumption.planes.interface import Instruments
from resumption.planes.langgraph.apps import Program
from resumption.planes.langgraph.graph import appended, trail_of
from resumption.planes.langgraph.runs import Dialect
from resumption.planes.langgraph.savers import Seam
from resumption.planes.tasks import perform

__all__ = ["Mode", "build", "dialect", "ended_in"]

Mode = Literal["batched", "per_call"]
"""How the middleware asks, in its words."""

_DECISION = "decision"
"""The argument of a gated tool that a person fills in."""


class _State(AgentState[Any]):
    """The agent's state: its messages, and the trail of the workload."""

    trail: Annotated[list[str], appended]


class _Script(BaseChatModel):
    """A chat model that calls the tools it was given, in order, or all at once, and then says that it is done.

    It goes by the messages alone, as a real one does: each call is made once for each input of the user's.
    """

    order: list[str]
    at_once: bool

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Any:
        """Know the tools already."""
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        turn = sum(isinstance(message, HumanMessage) for message in messages)
        latest = max(place for place, message in enumerate(messages) if isinstance(message, HumanMessage))
        done = {message.name for message in messages[latest:] if isinstance(message, ToolMessage)}
        left = [name for name in self.order if name not in done]
        calls = [ToolCall(name=name, args={}, id=f"{turn}-{name}") for name in (left if self.at_once else left[:1])]
        said = AIMessage("" if calls else "done", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=said)])


def build(
    workload: Workload, mode: Mode, instruments: Instruments, seam: Seam, saver: BaseCheckpointSaver[Any]
) -> Program:
    """Return the workload as an agent on a saver."""
    model = _Script(order=[task.name for task in workload.tasks], at_once=workload.shape is Shape.FAN_OUT)
    return create_agent(
        model,
        [_tool(task, instruments, seam) for task in workload.tasks],
        state_schema=_State,
        middleware=[_reviewing([task.name for task in workload.tasks if _asks_first(task)], mode)],
        checkpointer=saver,
    )


def _reviewing(gated: Sequence[str], mode: Mode) -> HumanInTheLoopMiddleware[Any, Any, Any]:
    if mode == "batched":  # the only mode until langchain 1.5, and the usual one since
        return HumanInTheLoopMiddleware(dict.fromkeys(gated, True))
    return HumanInTheLoopMiddleware(dict.fromkeys(gated, True), interrupt_mode=mode)


def _asks_first(task: Task) -> bool:
    return bool(task.steps) and isinstance(task.steps[0], Interrupt)


def _tool(task: Task, instruments: Instruments, seam: Seam) -> BaseTool:
    @tool(task.name, description=f"Do the task {task.name}.")
    def body(runtime: ToolRuntime, decision: Any = None) -> Command[Any]:
        # LangGraph stores a tool's writes under a task id alone, whose task is called "tools" for every tool.
        seam.identify(runtime.config["configurable"]["checkpoint_ns"], task.name)

        def ask(question: Interrupt) -> Json:
            reviewed = _asks_first(task) and question is task.steps[0]
            return decision if reviewed else _decision_in(interrupt({"name": question.name}))

        write = perform(task, runtime.state["trail"], instruments, ask)
        done = ToolMessage("done", name=task.name, tool_call_id=runtime.tool_call_id)
        return Command(update={"trail": write, "messages": [done]})

    return body


def dialect(workload: Workload, mode: Mode) -> Dialect:
    """How the agent is spoken to."""
    gates = [asked for task in workload.gates() for asked in task.interrupts]
    answer = partial(_answer_to, workload, mode)
    return Dialect(
        trail_of,
        _input_of,
        answer,
        partial(_question_of, workload),
        approval=answer(gates[0].name, True) if gates else True,
    )


def _input_of(value: Json) -> dict[str, Any]:
    """What a person asks of the agent; the trail begins empty, whatever the workload's input says."""
    return {"messages": [HumanMessage("Do all tasks.")]}


def _answer_to(workload: Workload, mode: Mode, target: str, value: Json) -> Any:
    """A person's review of one tool call, with a decision; an empty decision is sent as it is, in no review."""
    if not value:
        return value
    tools = [task.name for task in workload.tasks if any(asked.name == target for asked in task.interrupts)]
    review = {"type": "edit", "edited_action": {"name": next(iter(tools), target), "args": {_DECISION: value}}}
    return review if mode == "per_call" else {"decisions": [review]}


def _decision_in(answer: Any) -> Json:
    review = answer["decisions"][0] if "decisions" in answer else answer
    return review["edited_action"]["args"][_DECISION]


def _question_of(workload: Workload, asked: Any) -> str:
    """The name of an interrupt: a tool's own says it, and a review of a call is that of the tool's first question."""
    if "action_requests" in asked:
        asked = asked["action_requests"][0]
    elif "tool_call_id" not in asked:
        return str(asked["name"])
    questions = [task.interrupts[0].name for task in workload.tasks if task.name == asked["name"] and task.interrupts]
    return next(iter(questions), str(asked["name"]))


def ended_in(checkpoint: Checkpoint) -> set[str]:
    """The tools whose results a checkpoint holds."""
    messages = checkpoint["channel_values"].get("messages", [])
    return {str(message.name) for message in messages if isinstance(message, ToolMessage)}
