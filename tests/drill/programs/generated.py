"""Programs drawn from a seed, whose effects carry keys of their own: a drill must find nothing in them."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send, interrupt
from typing_extensions import TypedDict


class State(TypedDict, total=False):
    done: Annotated[list[str], operator.add]
    turns: Annotated[int, operator.add]


class Item(TypedDict):
    name: str


def send(what: str, idempotency_key: str) -> str:
    """Charge, at a provider that deduplicates by the key."""
    raise AssertionError("a drill must not call it")


def _task(name: str, gates: int, state: State) -> State:
    turn = state.get("turns", 0)
    answers = [interrupt({"gate": name, "number": number, "turn": turn}) for number in range(gates)]
    said = f"{name}/{turn}/{answers}"
    send(name, said)
    return {"done": [said]}


def _item(gates: int, item: Item) -> State:
    answers = [interrupt({"item": item["name"]}) for _ in range(gates)]
    send("item", f"{item['name']}/{answers}")
    return {"done": [f"{item['name']}/{answers}"]}


def _inner(name: str, gates: int) -> Any:
    builder = StateGraph(State)
    builder.add_node("inside", partial(_task, name, gates))
    builder.add_edge(START, "inside")
    return builder.compile()


def _split(count: int, _: State) -> list[Send]:
    return [Send("item", {"name": f"item-{number}"}) for number in range(count)]


def _turns(most: int, state: State) -> str:
    return "first" if state["turns"] < most else END


def program(seed: int) -> StateGraph[State]:
    """A sequence of tasks, one of them a subgraph, then maybe a fan-out, in a loop of one or two turns."""
    dice = random.Random(seed)
    builder = StateGraph(State)
    last = START
    for number in range(dice.randint(1, 3)):
        name = "first" if number == 0 else f"task-{number}"
        gates = dice.choice([0, 0, 1, 2])
        subgraph = number > 0 and dice.random() < 0.3
        # As long as a subgraph hands the whole list back, its reducer would add it twice.
        builder.add_node(name, _inner_update(name, gates) if subgraph else partial(_task, name, gates))
        builder.add_edge(last, name)
        last = name
    if dice.random() < 0.5:
        builder.add_node("item", partial(_item, dice.choice([0, 1])))  # type: ignore[arg-type]  # it takes what is sent
        builder.add_conditional_edges(last, partial(_split, dice.randint(1, 2)), ["item"])
        last = "item"
    builder.add_node("turn", lambda _: {"turns": 1})
    builder.add_edge(last, "turn")
    builder.add_conditional_edges("turn", partial(_turns, dice.choice([1, 1, 2])), ["first", END])
    return builder


def _inner_update(name: str, gates: int) -> Callable[[State], State]:
    graph = _inner(name, gates)

    def call(state: State) -> State:
        result = graph.invoke({"done": [], "turns": state.get("turns", 0)})
        return {"done": result["done"]}

    return call


seed_1, seed_2, seed_3, seed_4, seed_5, seed_6, seed_7, seed_8 = (partial(program, seed) for seed in range(1, 9))
