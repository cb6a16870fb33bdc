"""What the adapters share: one run on one LangGraph thread, and every resume form as a user would call it.

An adapter builds a program (a compiled graph, or an entrypoint) from the workload; everything else is the same, because
LangGraph's calls are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command, Interrupt, StateSnapshot, interrupt

from resumption.history.events import Json, Pending
from resumption.history.workload import Interrupt as Question
from resumption.planes.forms import by_form
from resumption.planes.interface import (
    Address,
    Call,
    Completed,
    Decision,
    Handle,
    Outcome,
    Parked,
    PastStates,
    PlaneSpec,
    Snapshot,
)
from resumption.planes.langgraph.apps import App

__all__ = ["Dialect", "ThreadRun", "ask"]

_INPUT: dict[str, Json] = {}
"""The input of every workload: the trail begins empty. A recovering process can therefore give it again."""

_COPY = "__copy__"
"""LangGraph's word, as `as_node` of `update_state`, for a copy of a checkpoint."""


def ask(question: Question) -> Json:
    """Park for a decision, or return the one that was delivered."""
    return interrupt({"name": question.name})


def _name_in(asked: Any) -> str:
    return str(asked["name"])


def _bare(target: str, value: Json) -> Any:
    return value


def _as_it_is(value: Json) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a program is given and gives back, where that isn't the workload's own words."""

    trail_of: Callable[[Any], Json]
    """Reads the trail from what the program returns, and from the values of its state."""
    input_of: Callable[[Json], Any] = _as_it_is
    """Makes the program's input of a workload's."""
    answer_to: Callable[[str, Json], Any] = _bare
    """Makes what the program takes for an answer, of the interrupt that it is for and the decision."""
    question_of: Callable[[Any], str] = _name_in
    """Reads the name of the interrupt from what the program asks with, as `ask` does unless told otherwise."""
    approval: Any = True
    """What a client answers with that takes a crashed run for a parked one."""


class ThreadRun:
    """A run of a program on one thread of one saver."""

    def __init__(self, spec: PlaneSpec, app: App, thread: str, dialect: Dialect) -> None:
        self._forms = {form.name for form in spec.forms}
        self._app = app
        self._thread = thread
        self._dialect = dialect

    def start(self, value: Json) -> Handle:
        """Start the run; the input of every workload is `{}`."""
        return Call(lambda: self._invoke(self._dialect.input_of(value)))

    def deliver(self, decision: Decision) -> Handle:
        """Hand a decision over, in one of the forms of delivering and of forking."""
        deliver = by_form(self._ways_to_deliver(), decision.form, self._forms)
        return Call(lambda: deliver(decision))

    def recover(self, form: str) -> Handle:
        """Ask a crashed run to go on."""
        return Call(by_form(self._ways_to_recover(), form, self._forms))

    def inspect(self) -> Snapshot:
        """Return what `get_state` says; the trail is that of the innermost graph under way."""
        states = self._states()
        root, innermost = states[0], states[-1]
        finished = root.created_at is not None and not root.next
        return Snapshot(self._dialect.trail_of(innermost.values), self._pending(root.interrupts), finished)

    def past_states(self) -> PastStates:
        """Return what `get_state_history` lists of the root graph."""
        found: list[StateSnapshot] = []
        error = ""
        try:
            self._app.list_states(self._head(), found)
        except Exception as raised:  # a history that can't be read is a finding, not a failure of the adapter
            error = type(raised).__name__
        return PastStates(tuple(self._dialect.trail_of(state.values) for state in found), error)

    def copy_store(self, location: Path) -> str:
        """Copy what an in-memory saver holds."""
        return self._app.copy_store(location)

    def address(self) -> Address:
        """Return the configs of the head checkpoints, root graph first, and the ids of the pending interrupts."""
        states = self._states()
        requests = {pending.name: pending.identity for pending in self._pending(states[0].interrupts)}
        return Address([state.config["configurable"] for state in states], requests)

    def close(self) -> None:
        """Close the database file; an in-memory saver stays for the next run of this process."""
        self._app.close()

    # The forms: each is one to three calls, as a user of LangGraph makes them

    def _ways_to_deliver(self) -> dict[str, Callable[[Decision], Outcome]]:
        return {
            "bare": lambda decision: self._invoke(self._answer(decision)),
            "map": lambda decision: self._invoke(Command(resume=self._answers_by_id(decision))),
            "direct": lambda decision: self._invoke(self._answer(decision), _root(decision)),
            "direct-inner": lambda decision: self._invoke(self._answer(decision), _innermost(decision)),
            "two-call": self._copy_and_deliver,
            "replay": self._replay_and_deliver,
            "update-state": self._update_and_deliver,
        }

    def _ways_to_recover(self) -> dict[str, Callable[[], Outcome]]:
        return {
            "no-input": lambda: self._invoke(None),
            "input": lambda: self._invoke(self._dialect.input_of(_INPUT)),
            "command": lambda: self._invoke(Command(resume=self._dialect.approval)),
            "checkpoint": lambda: self._invoke(None, self._states()[0].config),
            "command-checkpoint": lambda: self._invoke(
                Command(resume=self._dialect.approval), self._states()[0].config
            ),
        }

    def _copy_and_deliver(self, decision: Decision) -> Outcome:
        self._app.update_state(_root(decision), None, as_node=_COPY)
        return self._invoke(self._answer(decision))

    def _replay_and_deliver(self, decision: Decision) -> Outcome:
        self._invoke(None, _root(decision))
        return self._invoke(self._answer(decision))

    def _update_and_deliver(self, decision: Decision) -> Outcome:
        fork = self._app.update_state(_root(decision), {"trail": []})
        self._invoke(None, fork)
        return self._invoke(self._answer(decision), fork)

    def _invoke(self, value: Any, config: RunnableConfig | None = None) -> Outcome:
        result = self._app.invoke(value, config or self._head())
        if isinstance(result, dict) and (interrupts := result.get("__interrupt__")):
            return Parked(self._pending(interrupts))
        return Completed(self._dialect.trail_of(result))

    def _answer(self, decision: Decision) -> Command[Any]:
        return Command(resume=self._dialect.answer_to(decision.target, decision.value))

    def _answers_by_id(self, decision: Decision) -> dict[str, Any]:
        answers = {decision.target: decision.value, **decision.answers}
        return {
            decision.address.requests[target]: self._dialect.answer_to(target, value)
            for target, value in answers.items()
        }

    def _pending(self, interrupts: Sequence[Interrupt]) -> tuple[Pending, ...]:
        question_of = self._dialect.question_of
        return tuple(Pending(identity=asked.id, name=question_of(asked.value)) for asked in interrupts)

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
