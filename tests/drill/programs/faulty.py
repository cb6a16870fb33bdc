"""Programs with one fault each, that a drill must find and name."""

from __future__ import annotations

import operator
import time
from pathlib import Path
from typing import Annotated, Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from pydantic import BaseModel
from typing_extensions import TypedDict


class State(TypedDict, total=False):
    items: list[str]
    done: Annotated[list[str], operator.add]


def charge(item: str) -> str:
    """Charge for an item."""
    raise AssertionError("a drill must not call it")


def _loop(node: Any) -> StateGraph[State]:
    """Run a node once for each item."""
    builder = StateGraph(State)
    builder.add_node("pay", node)
    builder.add_edge(START, "pay")
    builder.add_conditional_edges("pay", lambda state: END if len(state["done"]) == len(state["items"]) else "pay")
    return builder


def _next(state: State) -> str:
    return state["items"][len(state.get("done", []))]


def duplicate_in_a_loop() -> StateGraph[State]:
    """Charges for each item of a loop, and keeps no record of it."""

    def pay(state: State) -> State:
        charge(_next(state))
        return {"done": [_next(state)]}

    return _loop(pay)


def lost_branch() -> StateGraph[State]:
    """Two branches at once; each says that it has charged before it does."""

    def branch(name: str) -> Any:
        def node(state: State) -> State:
            said = Path(f"said-{name}")
            if not said.exists():
                said.touch()
                charge(name)
            return {"done": [name]}

        return node

    builder = StateGraph(State)
    for name in ("left", "right"):
        builder.add_node(name, branch(name))
        builder.add_edge(START, name)
    return builder


def key_of_thread_and_node() -> StateGraph[State]:
    """Asks for each item of a loop; its own ledger has one record for a thread and node."""

    def pay(state: State, config: RunnableConfig) -> State:
        approved = interrupt(f"Charge for {_next(state)}?")
        record = Path(f"{config['configurable']['thread_id']}-pay")
        if approved == "yes" and not record.exists():
            charge(_next(state))
            record.touch()
        return {"done": [f"{_next(state)}={approved}"]}

    return _loop(pay)


def effect_before_the_interrupt() -> StateGraph[State]:
    """Charges first, and asks then."""

    def pay(state: State) -> State:
        charge("the item")
        return {"done": [interrupt("Was that right?")]}

    builder = StateGraph(State)
    builder.add_node("pay", pay)
    builder.add_edge(START, "pay")
    return builder


@task
def _draft() -> str:
    return charge("the draft")


@task
def _send() -> str:
    return charge("the item")


@entrypoint(checkpointer=InMemorySaver())
def functional(_: Any) -> list[str]:
    """The functional API, without a record of its effects."""
    return [_draft().result(), interrupt("Sure?"), _send().result()]


def _breakpoint() -> Any:
    builder = StateGraph(State)
    builder.add_node("pay", lambda state: {"done": [charge("the item")]})
    builder.add_edge(START, "pay")
    return builder.compile(interrupt_before=["pay"])


breakpoint_before = _breakpoint()
"""A compiled graph that stops at a breakpoint, and asks nothing."""


class Checked(BaseModel):
    names: list[str] = []


def invalid_state() -> StateGraph[Checked]:
    """Its last node writes what its schema excludes."""

    def pay(state: Checked) -> dict[str, Any]:
        charge("the item")
        return {"names": [None]}

    builder = StateGraph(Checked)
    builder.add_node("pay", pay)
    builder.add_edge(START, "pay")
    return builder


def swallowed_second_answer() -> StateGraph[State]:
    """Remembers the first answer of a thread outside its state, and gives it for every later one."""

    def ask(state: State) -> State:
        answer = interrupt("Sure?")
        remembered = Path("answer")
        if not remembered.exists():
            remembered.write_text(answer)
        return {"done": [remembered.read_text()]}

    def pay(state: State) -> State:
        charge(state["done"][-1])
        return {}

    builder = StateGraph(State)
    builder.add_node("ask", ask)
    builder.add_node("pay", pay)
    builder.add_edge(START, "ask")
    builder.add_edge("ask", "pay")
    return builder


def looks_and_then_acts() -> StateGraph[State]:
    """Looks whether it has charged, and charges after a while: two workers both see that it hasn't."""

    def pay(state: State) -> State:
        answer = interrupt("Sure?")
        charged = Path("charged")
        if not charged.exists():
            time.sleep(0.5)  # the time that a provider takes
            charge("the item")
            charged.touch()
        return {"done": [answer]}

    builder = StateGraph(State)
    builder.add_node("pay", pay)
    builder.add_edge(START, "pay")
    return builder


_seen: list[str] = []


def state_in_memory() -> StateGraph[State]:
    """Keeps what it did before the question in a variable of its process."""

    def first(state: State) -> State:
        _seen.append("first")
        return {}

    def ask(state: State) -> State:
        answer = interrupt("Sure?")
        charge("the item")
        return {"done": [*_seen, answer]}

    builder = StateGraph(State)
    builder.add_node("first", first)
    builder.add_node("ask", ask)
    builder.add_edge(START, "first")
    builder.add_edge("first", "ask")
    return builder


def cannot_run_twice() -> StateGraph[State]:
    """A node that fails if it was begun before."""

    def pay(state: State) -> State:
        Path("begun").touch(exist_ok=False)
        charge("the item")
        return {"done": ["the item"]}

    builder = StateGraph(State)
    builder.add_node("pay", pay)
    builder.add_edge(START, "pay")
    return builder
