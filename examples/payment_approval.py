"""A payment behind an approval that is delivered twice: stock LangGraph charges twice, the guard once.

Two workers get the same approval at the same moment, as after a double click or a redelivered message. To see what else
can go wrong with it, drill it:

    resumption drill examples.payment_approval:program --effect examples.payment_approval:charge --decide yes \
        --input '{"amount": 100}'
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from resumption.langgraph import guard


class Order(TypedDict, total=False):
    amount: int
    receipt: str


def charge(amount: int) -> None:
    """Charge the card, at the payment provider."""


def program(charge: Callable[[int], None] = charge) -> StateGraph[Order]:
    """Ask whether to charge an order, and charge it."""

    def pay(order: Order) -> Order:
        approved_by = interrupt(f"Charge {order['amount']}?")
        charge(order["amount"])
        return {"receipt": f"charged {order['amount']}, approved by {approved_by}"}

    builder = StateGraph(Order)
    builder.add_node("pay", pay)
    builder.add_edge(START, "pay")
    return builder


def run(folder: Path, *, guarded: bool) -> int:
    """Approve one order from two workers at once, and return how often it was charged."""
    charges: list[int] = []
    both_at_the_provider = threading.Barrier(2)

    def charge_slowly(amount: int) -> None:
        with suppress(threading.BrokenBarrierError):  # if nobody else comes
            both_at_the_provider.wait(timeout=1)
        charges.append(amount)

    connection = sqlite3.connect(folder / f"guarded-{guarded}.db", check_same_thread=False)
    compiled = program(charge_slowly).compile(checkpointer=SqliteSaver(connection))
    app: Any = guard(compiled) if guarded else compiled
    config = {"configurable": {"thread_id": "order-1"}}
    app.invoke({"amount": 100}, config)
    workers = [threading.Thread(target=app.invoke, args=(Command(resume="alice"), config)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    connection.close()
    return len(charges)


def main() -> None:
    """Print both, and fail if the guarded graph charged more than once."""
    with tempfile.TemporaryDirectory() as folder:
        stock, guarded = run(Path(folder), guarded=False), run(Path(folder), guarded=True)
    sys.stdout.write(f"stock LangGraph: charged {stock} times\nguarded:         charged {guarded} time\n")
    sys.exit(0 if guarded == 1 else 1)


if __name__ == "__main__":
    main()
