"""Programs with gates and effects, and the file that says which effects fired."""

from __future__ import annotations

import operator
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from resumption.langgraph import guard

THREAD = {"configurable": {"thread_id": "t"}}


class State(TypedDict):
    trail: Annotated[list[str], operator.add]


class Bench:
    """One database, and what was fired by whoever used it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database = folder / "graph.db"
        self._record = folder / "fired"
        self._connections: list[sqlite3.Connection] = []

    def saver(self) -> SqliteSaver:
        """A saver on a connection of its own, as another process has."""
        connection = sqlite3.connect(self.database, check_same_thread=False)
        self._connections.append(connection)
        return SqliteSaver(connection)

    def fire(self, what: str) -> None:
        """An effect: one line, written at once."""
        descriptor = os.open(self._record, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(descriptor, f"{what}\n".encode())
        os.close(descriptor)

    def fired(self) -> list[str]:
        return self._record.read_text().split("\n")[:-1] if self._record.exists() else []

    def close(self) -> None:
        for connection in self._connections:
            connection.close()

    # Nodes

    def step(self, name: str) -> Callable[[State], Any]:
        def node(state: State) -> Any:
            self.fire(name)
            return {"trail": [name]}

        return node

    def gate(self, name: str, *questions: str, before: Callable[[], None] = lambda: None) -> Callable[[State], Any]:
        """A node that asks each question in turn, and then fires."""

        def node(state: State) -> Any:
            answers = ",".join(str(interrupt(question)) for question in questions or ("sure?",))
            before()
            self.fire(f"{name}={answers}")
            return {"trail": [f"{name}={answers}"]}

        return node

    # Programs

    def builder(self, **nodes: Callable[..., Any]) -> StateGraph[Any]:
        """The nodes in sequence."""
        builder: StateGraph[Any] = StateGraph(State)
        names = list(nodes)
        for name, node in nodes.items():
            builder.add_node(name, node)
        for before, after in zip([START, *names], [*names, END], strict=True):
            builder.add_edge(before, after)
        return builder

    def approval(self, **options: Any) -> Any:
        """Draft, gate, notify: guarded."""
        return self.guarded(
            self.builder(draft=self.step("draft"), pay=self.gate("pay"), notify=self.step("notify")), **options
        )

    def guarded(self, builder: StateGraph[Any], **options: Any) -> Any:
        return guard(builder.compile(checkpointer=self.saver()), **options)

    def functional(self) -> Any:
        @task
        def draft() -> str:
            self.fire("draft")
            return "draft"

        @task
        def pay() -> str:
            answer = interrupt("sure?")
            self.fire(f"pay={answer}")
            return f"pay={answer}"

        @entrypoint(checkpointer=self.saver())
        def program(_: Any) -> list[str]:
            return [draft().result(), pay().result()]

        return guard(program)


def answer(value: Any) -> Command[Any]:
    return Command(resume=value)


def pending(app: Any, config: Any = None) -> list[str]:
    """The ids of the questions that the state shows."""
    return [one.id for one in app.get_state(config or THREAD).interrupts]
