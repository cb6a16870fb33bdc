"""Four public reports about LangGraph as protocols that run on any release: `python tests/cases/sentinels.py`.

Each returns what it saw. Nothing but LangGraph is imported, so that the file runs in an environment of any release.
"""

from __future__ import annotations

import json
import operator
import sys
from importlib.metadata import version
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

_THREAD: Any = {"configurable": {"thread_id": "sentinel"}}


class _State(TypedDict):
    trail: Annotated[list[str], operator.add]


def resume_at_the_head_of_a_subgraph() -> list[str]:
    """#7361: the nodes of a subgraph that run when its interrupt is answered with the head's checkpoint id."""
    ran: list[str] = []

    def before(state: _State) -> dict[str, list[str]]:
        ran.append("before")
        return {"trail": ["before"]}

    def gate(state: _State) -> dict[str, list[str]]:
        ran.append("gate")
        return {"trail": [interrupt("sure?")]}

    inner = StateGraph(_State)
    inner.add_sequence([before, gate])
    inner.add_edge(START, "before")
    outer = StateGraph(_State)
    outer.add_node("inner", inner.compile())
    outer.add_edge(START, "inner")
    graph = outer.compile(checkpointer=InMemorySaver())
    graph.invoke({"trail": []}, _THREAD)
    ran.clear()
    graph.invoke(Command(resume="yes"), graph.get_state(_THREAD).config)
    return ran


def resume_of_a_nested_entrypoint() -> int:
    """#6792: how often a task runs that ended before the interrupt of a nested entrypoint was answered."""
    ran: list[str] = []

    @task
    def work() -> str:
        ran.append("work")
        return "done"

    @entrypoint()
    def child(value: str) -> str:
        done = work().result()
        return f"{done} {interrupt('sure?')}"

    @entrypoint(checkpointer=InMemorySaver())
    def parent(value: str) -> str:
        return str(child.invoke(value))

    parent.invoke("go", _THREAD)
    parent.invoke(Command(resume="yes"), _THREAD)
    return len(ran)


def one_answer_to_two_interrupts_of_a_subgraph() -> str:
    """#8579: what becomes of a bare answer while two interrupts of one subgraph are pending."""

    def left(state: _State) -> dict[str, list[str]]:
        return {"trail": [f"left {interrupt('left?')}"]}

    def right(state: _State) -> dict[str, list[str]]:
        return {"trail": [f"right {interrupt('right?')}"]}

    inner = StateGraph(_State)
    for node in (left, right):
        inner.add_node(node.__name__, node)
        inner.add_edge(START, node.__name__)
    outer = StateGraph(_State)
    outer.add_node("inner", inner.compile())
    outer.add_edge(START, "inner")
    graph = outer.compile(checkpointer=InMemorySaver())
    graph.invoke({"trail": []}, _THREAD)
    try:
        graph.invoke(Command(resume="yes"), _THREAD)
    except RuntimeError:
        return "refused"
    return "accepted"


def next_after_a_second_interrupt() -> list[str]:
    """#6956: what `get_state().next` names while a node waits at its second interrupt."""

    def ask(state: _State) -> dict[str, list[str]]:
        return {"trail": [interrupt("first?"), interrupt("second?")]}

    builder = StateGraph(_State)
    builder.add_node("ask", ask)
    builder.add_edge(START, "ask")
    graph = builder.compile(checkpointer=InMemorySaver())
    graph.invoke({"trail": []}, _THREAD)
    graph.invoke(Command(resume="yes"), _THREAD)
    return list(graph.get_state(_THREAD).next)


def main() -> None:
    """Say what the installed release does."""
    saw = {
        "langgraph": version("langgraph"),
        "#7361": resume_at_the_head_of_a_subgraph(),
        "#6792": resume_of_a_nested_entrypoint(),
        "#8579": one_answer_to_two_interrupts_of_a_subgraph(),
        "#6956": next_after_a_second_interrupt(),
    }
    sys.stdout.write(f"{json.dumps(saw)}\n")


if __name__ == "__main__":
    main()
