"""The workload as a Swarm: an agent for each part of a task, which hands the trail on in a message.

AutoGen's typed state is its messages: the class of one is a pydantic model, known to the team by name, and read back
through it. What else an agent keeps, it keeps by its own `save_state`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.conditions import HandoffTermination
from autogen_agentchat.messages import BaseChatMessage, HandoffMessage
from autogen_agentchat.state import BaseState
from autogen_agentchat.teams import Swarm
from autogen_core import CancellationToken
from pydantic import Field

from resumption.history.events import Json
from resumption.history.workload import Interrupt, Task, Workload
from resumption.planes.interface import Instruments
from resumption.planes.tasks import Ended, appended, perform_part

__all__ = ["END", "PERSON", "TrailMessage", "answer", "behind_question", "build", "parts_of"]

PERSON = "user"
"""Whom an agent hands over to when it asks."""
END = "end"
"""Whom the last agent hands over to."""


class TrailMessage(HandoffMessage):
    """A handoff that carries the program's state."""

    trail: list[str]
    asks: str = ""
    """The name of the question, where a person is handed over to."""
    type: Literal["TrailMessage"] = "TrailMessage"


class Memory(BaseState):
    """What an agent knows: the trail that it was told of last, and what a person answered."""

    trail: list[str] = Field(default_factory=list)
    answers: dict[str, Any] = Field(default_factory=dict)
    type: str = "Memory"


def parts_of(task: Task) -> list[str]:
    """The names of the agents that a task is cut into at its questions: its own, and one behind each question."""
    return [task.name, *(f"{task.name}_{place}" for place, _ in enumerate(task.interrupts, 1))]


def behind_question(workload: Workload, name: str) -> str:
    """The agent that takes the answer to a question."""
    task = next(task for task in workload.tasks if Interrupt(name) in task.interrupts)
    return parts_of(task)[task.interrupts.index(Interrupt(name)) + 1]


def answer(agent: str, value: Json) -> HandoffMessage:
    """A person's answer to an agent. A message's content is text."""
    return HandoffMessage(source=PERSON, target=agent, content=json.dumps(value))


class PartAgent(BaseChatAgent):
    """The agent that performs one part of a task."""

    def __init__(self, task: Task, place: int, following: str, instruments: Instruments) -> None:
        super().__init__(parts_of(task)[place], f"performs part {place} of {task.name}")
        self._task = task
        self._place = place
        self._following = following
        self._instruments = instruments
        self._memory = Memory()

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        """The types of the messages that this agent sends."""
        return (HandoffMessage, TrailMessage)

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        """Perform the part, and hand over to the next agent, to a person, or to nobody."""
        for message in messages:
            self._hear(message)
        trail = self._memory.trail
        names = parts_of(self._task)[1 : self._place + 1]
        came_to = perform_part(self._task, trail, self._instruments, [self._memory.answers[name] for name in names])
        if isinstance(came_to, Ended):
            return self._handing_over(self._following, appended(trail, came_to.write))
        return self._handing_over(PERSON, trail, came_to.name)

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        """Forget everything."""
        self._memory = Memory()

    async def save_state(self) -> Mapping[str, Any]:
        """What this agent knows, for the team's `save_state`."""
        known: Mapping[str, Any] = self._memory.model_dump()
        return known

    async def load_state(self, state: Mapping[str, Any]) -> None:
        """Know what was saved."""
        self._memory = Memory.model_validate(state)

    def _hear(self, message: BaseChatMessage) -> None:
        if isinstance(message, TrailMessage):
            self._memory.trail = message.trail
        elif isinstance(message, HandoffMessage) and message.source == PERSON:
            self._memory.answers[message.target] = json.loads(message.content)

    def _handing_over(self, target: str, trail: Any, asks: str = "") -> Response:
        content = f"over to {target}"
        message = TrailMessage(source=self.name, target=target, content=content, trail=trail, asks=asks)
        return Response(chat_message=message)


def build(workload: Workload, instruments: Instruments) -> Swarm:
    """Make the workload's team, which stops behind each turn."""
    following = [*(task.name for task in workload.tasks[1:]), END]
    agents = [
        PartAgent(task, place, behind, instruments)
        for task, behind in zip(workload.tasks, following, strict=True)
        for place, _ in enumerate(parts_of(task))
    ]
    stops = HandoffTermination(PERSON) | HandoffTermination(END)
    return Swarm(agents, termination_condition=stops, max_turns=1, custom_message_types=[TrailMessage])
