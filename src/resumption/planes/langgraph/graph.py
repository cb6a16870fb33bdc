"""The adapter for LangGraph's graph API, synchronous: each task of the workload is a node of a `StateGraph`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Interrupt, StateSnapshot, interrupt
from pydantic import BaseModel

from resumption.history.events import Json, Pending
from resumption.history.workload import Interrupt as Question
from resumption.history.workload import Task, Workload
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
    unknown_form,
)
from resumption.planes.langgraph.savers import SqliteFileSaver, open_saver
from resumption.planes.tasks import perform

__all__ = ["GraphRun", "open_run"]

_INPUT: dict[str, Json] = {}
"""The input of every workload: the trail begins empty. A recovering process can therefore give it again."""

_COPY = "__copy__"
"""LangGraph's word, as `as_node` of `update_state`, for a copy of a checkpoint."""


class State(BaseModel):
    """The program's state, with a schema that LangGraph is asked to validate."""

    trail: Annotated[list[str], operator.add] = []


class GraphRun:
    """A run of the workload as a compiled graph, on one thread of one saver."""

    def __init__(self, workload: Workload, store: Store, instruments: Instruments) -> None:
        self._saver = open_saver(workload, store, instruments)
        self._graph = _build(workload, instruments).compile(checkpointer=self._saver)
        self._thread = store.thread

    def start(self, value: Json) -> Handle:
        """Start the run; the input of every workload is `{}`."""
        return Call(lambda: self._invoke(value))

    def deliver(self, decision: Decision) -> Handle:
        """Hand a decision over, in one of the forms of delivering and of forking."""
        deliver = self._ways_to_deliver().get(decision.form)
        if deliver is None:
            raise unknown_form(decision.form)
        return Call(lambda: deliver(decision))

    def recover(self, form: str) -> Handle:
        """Ask a crashed run to go on."""
        recover = self._ways_to_recover().get(form)
        if recover is None:
            raise unknown_form(form)
        return Call(recover)

    def inspect(self) -> Snapshot:
        """Return what `get_state` says."""
        state = self._state()
        started = state.created_at is not None
        return Snapshot(state.values.get("trail"), _pending(state.interrupts), started and not state.next)

    def address(self) -> Address:
        """Return the config of the thread's head checkpoint, and the ids of its pending interrupts."""
        state = self._state()
        requests = {pending.name: pending.identity for pending in _pending(state.interrupts)}
        return Address(state.config["configurable"], requests)

    def close(self) -> None:
        """Close the database file; an in-memory saver stays for the next run of this process."""
        if isinstance(self._saver, SqliteFileSaver):
            self._saver.conn.close()

    # The forms: each is one or two calls, as a user of LangGraph makes them

    def _ways_to_deliver(self) -> dict[str, Callable[[Decision], Outcome]]:
        return {
            "bare": lambda decision: self._invoke(Command(resume=decision.value)),
            "map": lambda decision: self._invoke(Command(resume=_answer_by_id(decision))),
            "direct": lambda decision: self._invoke(Command(resume=decision.value), decision.address.checkpoint),
            "two-call": self._copy_and_deliver,
            "replay": self._replay_and_deliver,
            "update-state": self._update_and_deliver,
        }

    def _ways_to_recover(self) -> dict[str, Callable[[], Outcome]]:
        return {
            "no-input": lambda: self._invoke(None),
            "input": lambda: self._invoke(_INPUT),
            "command": lambda: self._invoke(Command(resume=True)),
            "checkpoint": lambda: self._invoke(None, self.address().checkpoint),
            "command-checkpoint": lambda: self._invoke(Command(resume=True), self.address().checkpoint),
        }

    def _copy_and_deliver(self, decision: Decision) -> Outcome:
        self._graph.update_state(self._config(decision.address.checkpoint), None, as_node=_COPY)
        return self._invoke(Command(resume=decision.value))

    def _replay_and_deliver(self, decision: Decision) -> Outcome:
        self._invoke(None, decision.address.checkpoint)
        return self._invoke(Command(resume=decision.value))

    def _update_and_deliver(self, decision: Decision) -> Outcome:
        fork = self._graph.update_state(self._config(decision.address.checkpoint), {"trail": []})
        self._invoke(None, fork["configurable"])
        return self._invoke(Command(resume=decision.value), fork["configurable"])

    def _invoke(self, value: Any, checkpoint: Json = None) -> Outcome:
        result = self._graph.invoke(value, self._config(checkpoint), durability="sync")
        return _outcome(result)

    def _state(self) -> StateSnapshot:
        return self._graph.get_state(self._config())

    def _config(self, checkpoint: Json = None) -> RunnableConfig:
        return {"configurable": checkpoint or {"thread_id": self._thread}}


def open_run(workload: Workload, store: Store, instruments: Instruments) -> GraphRun:
    """Open the workload's run in `store`, as a graph; nothing is executed."""
    return GraphRun(workload, store, instruments)


def _build(workload: Workload, instruments: Instruments) -> StateGraph[State]:
    builder = StateGraph(State)
    names = [task.name for task in workload.tasks]
    for task in workload.tasks:
        _add_node(builder, task, instruments)
    for before, after in zip([START, *names], [*names, END], strict=True):
        builder.add_edge(before, after)
    return builder


def _add_node(builder: StateGraph[State], task: Task, instruments: Instruments) -> None:
    def node(state: State) -> dict[str, Any]:
        return {"trail": perform(task, state.trail, instruments, _ask)}

    builder.add_node(task.name, node)


def _ask(question: Question) -> Json:
    return interrupt({"name": question.name})


def _answer_by_id(decision: Decision) -> dict[str, Json]:
    return {decision.address.requests[decision.target]: decision.value}


def _outcome(result: Mapping[str, Any]) -> Outcome:
    if interrupts := result.get("__interrupt__"):
        return Parked(_pending(interrupts))
    return Completed(result["trail"])


def _pending(interrupts: Sequence[Interrupt]) -> tuple[Pending, ...]:
    return tuple(Pending(identity=asked.id, name=asked.value["name"]) for asked in interrupts)
