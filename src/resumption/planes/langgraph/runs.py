"""What the adapters share: one run on one LangGraph thread, and every resume form as a user would call it.

An adapter builds a program (a compiled graph, or an entrypoint) from the workload; everything else is the same, because
LangGraph's calls are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command, Interrupt, StateSnapshot, interrupt

from resumption.history.events import Json, Pending
from resumption.history.workload import Interrupt as Question
from resumption.planes.interface import (
    Address,
    Call,
    Completed,
    Decision,
    Handle,
    Outcome,
    Parked,
    PlaneSpec,
    Snapshot,
    unknown_form,
)
from resumption.planes.langgraph.apps import App

__all__ = ["ThreadRun", "ask"]

_T = TypeVar("_T")

_INPUT: dict[str, Json] = {}
"""The input of every workload: the trail begins empty. A recovering process can therefore give it again."""

_COPY = "__copy__"
"""LangGraph's word, as `as_node` of `update_state`, for a copy of a checkpoint."""


def ask(question: Question) -> Json:
    """Park for a decision, or return the one that was delivered."""
    return interrupt({"name": question.name})


class ThreadRun:
    """A run of a program on one thread of one saver."""

    def __init__(self, spec: PlaneSpec, app: App, thread: str, trail_of: Callable[[Any], Json]) -> None:
        """`trail_of` reads the trail from what the program returns, and from the values of its state."""
        self._forms = {form.name for form in spec.forms}
        self._app = app
        self._thread = thread
        self._trail_of = trail_of

    def start(self, value: Json) -> Handle:
        """Start the run; the input of every workload is `{}`."""
        return Call(lambda: self._invoke(value))

    def deliver(self, decision: Decision) -> Handle:
        """Hand a decision over, in one of the forms of delivering and of forking."""
        deliver = self._way(self._ways_to_deliver(), decision.form)
        return Call(lambda: deliver(decision))

    def recover(self, form: str) -> Handle:
        """Ask a crashed run to go on."""
        return Call(self._way(self._ways_to_recover(), form))

    def inspect(self) -> Snapshot:
        """Return what `get_state` says; the trail is that of the innermost graph under way."""
        states = self._states()
        root, innermost = states[0], states[-1]
        finished = root.created_at is not None and not root.next
        return Snapshot(self._trail_of(innermost.values), _pending(root.interrupts), finished)

    def address(self) -> Address:
        """Return the configs of the head checkpoints, root graph first, and the ids of the pending interrupts."""
        states = self._states()
        requests = {pending.name: pending.identity for pending in _pending(states[0].interrupts)}
        return Address([state.config["configurable"] for state in states], requests)

    def close(self) -> None:
        """Close the database file; an in-memory saver stays for the next run of this process."""
        self._app.close()

    # The forms: each is one to three calls, as a user of LangGraph makes them

    def _way(self, ways: Mapping[str, _T], form: str) -> _T:
        if form not in self._forms or form not in ways:
            raise unknown_form(form)
        return ways[form]

    def _ways_to_deliver(self) -> dict[str, Callable[[Decision], Outcome]]:
        return {
            "bare": lambda decision: self._invoke(Command(resume=decision.value)),
            "map": lambda decision: self._invoke(Command(resume=_answer_by_id(decision))),
            "direct": lambda decision: self._invoke(Command(resume=decision.value), _root(decision)),
            "direct-inner": lambda decision: self._invoke(Command(resume=decision.value), _innermost(decision)),
            "two-call": self._copy_and_deliver,
            "replay": self._replay_and_deliver,
            "update-state": self._update_and_deliver,
        }

    def _ways_to_recover(self) -> dict[str, Callable[[], Outcome]]:
        return {
            "no-input": lambda: self._invoke(None),
            "input": lambda: self._invoke(_INPUT),
            "command": lambda: self._invoke(Command(resume=True)),
            "checkpoint": lambda: self._invoke(None, self._states()[0].config),
            "command-checkpoint": lambda: self._invoke(Command(resume=True), self._states()[0].config),
        }

    def _copy_and_deliver(self, decision: Decision) -> Outcome:
        self._app.update_state(_root(decision), None, as_node=_COPY)
        return self._invoke(Command(resume=decision.value))

    def _replay_and_deliver(self, decision: Decision) -> Outcome:
        self._invoke(None, _root(decision))
        return self._invoke(Command(resume=decision.value))

    def _update_and_deliver(self, decision: Decision) -> Outcome:
        fork = self._app.update_state(_root(decision), {"trail": []})
        self._invoke(None, fork)
        return self._invoke(Command(resume=decision.value), fork)

    def _invoke(self, value: Any, config: RunnableConfig | None = None) -> Outcome:
        result = self._app.invoke(value, config or self._head())
        if isinstance(result, dict) and (interrupts := result.get("__interrupt__")):
            return Parked(_pending(interrupts))
        return Completed(self._trail_of(result))

    def _states(self) -> list[StateSnapshot]:
        """The state of the root graph, and of each subgraph under way inside it."""
        states = [self._app.get_state(self._head())]
        while inner := [task.state for task in states[-1].tasks if isinstance(task.state, StateSnapshot)]:
            states += inner
        return states

    def _head(self) -> RunnableConfig:
        return {"configurable": {"thread_id": self._thread}}


def _root(decision: Decision) -> RunnableConfig:
    return {"configurable": decision.address.checkpoint[0]}


def _innermost(decision: Decision) -> RunnableConfig:
    return {"configurable": decision.address.checkpoint[-1]}


def _answer_by_id(decision: Decision) -> dict[str, Json]:
    return {decision.address.requests[decision.target]: decision.value}


def _pending(interrupts: Sequence[Interrupt]) -> tuple[Pending, ...]:
    return tuple(Pending(identity=asked.id, name=asked.value["name"]) for asked in interrupts)
