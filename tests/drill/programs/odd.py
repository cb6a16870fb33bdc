"""Programs that can't be drilled, and why."""

from __future__ import annotations

import random
from typing import Any

from langgraph.graph import START, StateGraph
from pydantic import BaseModel
from typing_extensions import TypedDict


class State(TypedDict, total=False):
    number: float


class Receipt(BaseModel):
    number: int


def charge(amount: float) -> None:
    """Charge."""
    raise AssertionError("a drill must not call it")


def receipt() -> Receipt:
    """Charge, and return a receipt."""
    raise AssertionError("a drill must not call it")


def rate() -> float:
    """Ask somebody outside, without doing anything to them."""
    raise AssertionError("a drill must not call it")


def generator() -> Any:
    """No effect: nothing has happened when it returns."""
    yield 1


NOT_A_GRAPH = 7


def _builder(node: Any) -> StateGraph[State]:
    builder = StateGraph(State)
    builder.add_node("pay", node)
    builder.add_edge(START, "pay")
    return builder


def unsteady() -> StateGraph[State]:
    """Charges another amount each time."""

    def pay(state: State) -> State:
        number = random.random()
        charge(number)
        return {"number": number}

    return _builder(pay)


def without_effects() -> StateGraph[State]:
    """Does nothing to the outside."""
    return _builder(lambda state: {"number": 1})


def failing() -> StateGraph[State]:
    """Fails without any fault."""

    def pay(state: State) -> State:
        raise RuntimeError("out of order")

    return _builder(pay)


def without_an_end() -> StateGraph[State]:
    """A builder that nothing leads into."""
    builder = StateGraph(State)
    builder.add_node("pay", lambda state: {"number": 1})
    return builder


def broken_factory() -> StateGraph[State]:
    """A factory that fails."""
    raise RuntimeError("no such database")


def with_a_receipt() -> StateGraph[State]:
    """Uses what its effect returns."""

    def pay(state: State) -> State:
        return {"number": receipt().number * rate()}

    return _builder(pay)
