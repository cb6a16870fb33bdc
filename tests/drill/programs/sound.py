"""Programs that a drill must find nothing in, each for another reason."""

from __future__ import annotations

import json
import operator
from pathlib import Path
from typing import Annotated, Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send, interrupt
from typing_extensions import TypedDict

from resumption import Ledger, effect
from resumption.guard.attempts import current_key
from resumption.guard.effects import Fired, NotFired, Verification
from resumption.langgraph import guard


class State(TypedDict, total=False):
    done: Annotated[list[str], operator.add]


def send(amount: int, idempotency_key: str) -> str:
    """Charge, at a provider that deduplicates by the key."""
    raise AssertionError("a drill must not call it")


def _approval(pay: Any) -> StateGraph[State]:
    builder = StateGraph(State)
    builder.add_node("pay", pay)
    builder.add_edge(START, "pay")
    return builder


def provider_key() -> StateGraph[State]:
    """Hands the provider a key of its own making."""

    def pay(state: State) -> State:
        answer = interrupt("Charge?")
        if answer == "yes":
            send(100, "order-1")
        return {"done": [answer]}

    return _approval(pay)


ledger = Ledger("sqlite:///program.db")


@effect(ledger, key=lambda order: f"charge:{order}", on_doubt="retry", idempotent=True)
def charge(order: str) -> str:
    """Charge once: by the ledger, and in doubt by the provider's deduplication."""
    return send(100, current_key())


def ledgered() -> StateGraph[State]:
    """Has its effect behind `@effect`."""

    def pay(state: State) -> State:
        answer = interrupt("Charge?")
        if answer == "yes":
            charge("order-1")
        return {"done": [answer]}

    return _approval(pay)


def _book() -> list[str]:
    book = Path("book.json")
    return json.loads(book.read_text()) if book.exists() else []


def enter(order: str) -> str:
    """Enter a charge in the book: a provider that can be asked, and doesn't deduplicate."""
    Path("book.json").write_text(json.dumps([*_book(), order]))
    return "entered"


def _asked(order: str) -> Verification:
    return Fired("entered") if order in _book() else NotFired()


enter_once = effect(ledger, key=lambda order: f"enter:{order}", on_doubt=_asked)(enter)


def verified() -> Any:
    """Guarded; in doubt, it asks the provider."""

    def pay(state: State) -> State:
        answer = interrupt("Enter?")
        if answer == "yes":
            enter_once("order-1")
        return {"done": [answer]}

    return guard(_approval(pay).compile(checkpointer=InMemorySaver()))


@effect(ledger, key=lambda order: f"cautious:{order}")
def cautious(order: str) -> str:
    """Charge once; in doubt, an operator is asked."""
    return send(100, current_key())


def surfaced() -> StateGraph[State]:
    """Has its effect behind `@effect` as it is by default."""

    def pay(state: State) -> State:
        cautious("order-1")
        return {"done": ["paid"]}

    return _approval(pay)


def two_gates() -> StateGraph[State]:
    """Asks twice, one after the other."""

    def ask(name: str) -> Any:
        def node(state: State) -> State:
            answer = interrupt(f"{name}?")
            send(100, f"{name}: {answer}")
            return {"done": [f"{name}={answer}"]}

        return node

    builder = StateGraph(State)
    builder.add_sequence([("first", ask("first")), ("second", ask("second"))])
    builder.add_edge(START, "first")
    return builder


class Item(TypedDict):
    name: str


async def _review(item: Item) -> State:
    answer = interrupt({"review": item["name"]})
    send(1, f"review {item['name']}: {answer}")
    return {"done": [f"{item['name']}={answer}"]}


class Batches(State):
    confirmed: Annotated[list[str], operator.add]


class Confirmed(TypedDict):
    confirmed: list[str]


async def _confirm(state: State) -> Confirmed:
    answer = interrupt({"confirm": sorted(state["done"])})
    send(2, f"confirm {len(state['done'])}: {answer}")
    return {"confirmed": [answer]}


def _each(state: Batches) -> list[Send]:
    return [Send("review", {"name": name}) for name in ("a", "b")]


def _again(state: Batches) -> str:
    return END if len(state["confirmed"]) == 2 else "batch"


async def many() -> Any:
    """A loop over a subgraph with a gate, behind parallel gates; it can only be awaited, on a saver that is too."""
    inner = StateGraph(Batches, input_schema=State, output_schema=Confirmed)
    inner.add_node("confirm", _confirm)
    inner.add_edge(START, "confirm")
    builder = StateGraph(Batches)
    builder.add_node("batch", lambda state: {})
    builder.add_node("review", _review, input_schema=Item)
    builder.add_node("closing", inner.compile())
    builder.add_edge(START, "batch")
    builder.add_conditional_edges(
        "batch", lambda _: [Send("review", {"name": name}) for name in ("a", "b")], ["review"]
    )
    builder.add_edge("review", "closing")
    builder.add_conditional_edges("closing", _again, ["batch", END])
    async with AsyncSqliteSaver.from_conn_string(":memory:") as saver:
        return builder.compile(checkpointer=saver)
