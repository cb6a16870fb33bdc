"""The adapter for AutoGen AgentChat: a Swarm, run turn by turn by a caller who saves and loads its state."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autogen_agentchat.messages import BaseChatMessage, HandoffMessage
from autogen_agentchat.teams import Swarm

from resumption.history.events import Json, Pending
from resumption.history.workload import Workload
from resumption.planes.autogen.team import END, PERSON, TrailMessage, answer, behind_question, build
from resumption.planes.files import NothingSaved, altered, file_of, read, replace
from resumption.planes.forms import by_form
from resumption.planes.interface import (
    Address,
    Call,
    Completed,
    Decision,
    Handle,
    Instruments,
    Outcome,
    Parked,
    Snapshot,
    Store,
)
from resumption.planes.tasks import marked

__all__ = ["SwarmRun", "open_run", "tamper"]

_MANAGER = "SwarmGroupChatManager"
"""The name under which a Swarm's state holds its message thread."""
_TRAIL = TrailMessage.__name__
_BEGIN = "begin"
"""The task that a team is given at the start of a run."""


@dataclass(frozen=True, slots=True)
class _Live:
    """A team that runs in this process, and the loop that it is in."""

    team: Swarm
    loop: asyncio.AbstractEventLoop


def open_run(workload: Workload, store: Store, instruments: Instruments) -> SwarmRun:
    """Open the workload's run in `store`; nothing is executed."""
    return SwarmRun(workload, store, instruments)


def tamper(store: Store) -> None:
    """Make the trail of the newest state a number, in the last message that carries it."""
    with altered(file_of(store)) as state:
        _last(state)["trail"] = 7


class SwarmRun:
    """A run of a workload's team, from saved state to saved state."""

    def __init__(self, workload: Workload, store: Store, instruments: Instruments) -> None:
        self._workload = workload
        self._store = store
        self._instruments = instruments
        self._live: _Live | None = None

    def start(self, value: Json) -> Handle:
        """Start the run; the first agent has heard of no trail, which is an empty one."""
        return Call(lambda: asyncio.run(self._start()))

    def deliver(self, decision: Decision) -> Handle:
        """Hand a decision over: to the team that is live here, else to one that loads a saved state."""
        deliver = by_form({"handoff": self._hand_over, "saved-state": self._fork}, decision.form)
        return Call(lambda: deliver(decision))

    def recover(self, form: str) -> Handle:
        """Load the newest state, and let the team go on; one that waits for a person is left waiting."""
        return Call(by_form({"load-and-run": self._recover}, form))

    def inspect(self) -> Snapshot:
        """Return what the newest state says once a team has loaded it, by its last message that carries the trail."""
        state = self._load()
        if state is None:
            return Snapshot([], (), False)
        asyncio.run(build(self._workload, self._instruments).load_state(state))
        last = _last(state)
        return Snapshot(last.get("trail", []), self._waiting(last), last.get("target") == END)

    def address(self) -> Address:
        """Return the newest state, and the agents that wait for an answer."""
        state = self._load()
        if state is None:
            return Address()
        return Address(state, {question.name: question.identity for question in self._waiting(_last(state))})

    def close(self) -> None:
        """Nothing is held: state is in a file, and a team is made for each operation."""

    def _load(self) -> dict[str, Any] | None:
        state: dict[str, Any] | None = read(file_of(self._store))
        return state

    def _saved(self) -> dict[str, Any]:
        state = self._load()
        if state is None:
            raise NothingSaved("the run has no saved state: start it again")
        return state

    def _hand_over(self, decision: Decision) -> Outcome:
        live = self._live
        if live is None:
            return asyncio.run(self._run(file_of(self._store), self._saved(), _message(decision)))
        asyncio.run_coroutine_threadsafe(live.team.run(task=_message(decision)), live.loop).result()
        return self._outcome(_last(self._saved()))

    def _fork(self, decision: Decision) -> Outcome:
        path = file_of(self._store, f"-{decision.delivery}")
        return asyncio.run(self._run(path, decision.address.checkpoint, _message(decision)))

    def _recover(self) -> Outcome:
        state = self._saved()
        last = _last(state)
        if last.get("target") in (PERSON, END):
            return self._outcome(last)
        return asyncio.run(self._run(file_of(self._store), state, None if last else _BEGIN))

    async def _start(self) -> Outcome:
        path = file_of(self._store)
        fresh = dict(await build(self._workload, self._instruments).save_state())
        self._save(path, fresh)
        return await self._run(path, fresh, _BEGIN)

    async def _run(self, path: Path, state: Mapping[str, Any], task: str | BaseChatMessage | None) -> Outcome:
        """Let a team run turn by turn, from a state, and save behind each turn."""
        team = build(self._workload, self._instruments)
        await team.load_state(state)
        self._live = _Live(team, asyncio.get_running_loop())
        try:
            while True:
                await team.run(task=task)
                task = None
                held = dict(await team.save_state())
                self._save(path, held)
                if _last(held)["target"] in (PERSON, END):
                    return self._outcome(_last(held))
        finally:
            self._live = None

    def _outcome(self, last: Mapping[str, Any]) -> Outcome:
        return Completed(last["trail"]) if last["target"] == END else Parked(self._waiting(last))

    def _waiting(self, last: Mapping[str, Any]) -> tuple[Pending, ...]:
        """The question that an agent asked with its last message, if it did."""
        if last.get("target") != PERSON:
            return ()
        return (Pending(identity=behind_question(self._workload, last["asks"]), name=last["asks"]),)

    def _save(self, path: Path, state: Mapping[str, Any]) -> None:
        """Replace the newest state, in its bracket. The tasks on its trail are durable then."""
        last = _last(state)
        text = json.dumps(state)
        with self._instruments.persist(
            f"save({last.get('source', _BEGIN)})", marked(self._workload, last.get("trail"))
        ):
            replace(path, text)


def _last(state: Mapping[str, Any]) -> dict[str, Any]:
    """The last message of a team's thread that carries the trail; nothing before an agent has spoken."""
    thread = state["agent_states"][_MANAGER]["message_thread"]
    last: dict[str, Any] = next((message for message in reversed(thread) if message["type"] == _TRAIL), {})
    return last


def _message(decision: Decision) -> HandoffMessage:
    """The answer, to the agent that asked. To a question that nobody asked it is addressed as it is named."""
    return answer(str(decision.address.requests.get(decision.target, decision.target)), decision.value)
