"""Invoices in batches: all of a batch are approved at once, by different people, and the loop goes on with the next.

Each answer names its question, and comes twice, as from a queue that redelivers. A guarded graph serves each once, by
the delivery's id. To see what happens without all that, drill it:

    resumption drill examples.parallel_approvals:program --effect examples.parallel_approvals:pay --decide yes \
        --input '{"batches": [["a", "b"], ["c"]]}'
"""

from __future__ import annotations

import operator
import sqlite3
import sys
from collections.abc import Callable
from typing import Annotated, Any

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send, interrupt
from typing_extensions import TypedDict

from resumption.langgraph import guard


class Invoices(TypedDict, total=False):
    batches: list[list[str]]
    open: int
    paid: Annotated[list[str], operator.add]


class Invoice(TypedDict):
    name: str


def pay(invoice: str) -> None:
    """Pay an invoice, at the bank."""


def program(pay: Callable[[str], None] = pay) -> StateGraph[Invoices]:
    """Take one batch after the other; ask for each of its invoices, all at once, and pay what is approved."""

    def take(invoices: Invoices) -> Invoices:
        return {"open": invoices.get("open", -1) + 1}

    def approve(invoice: Invoice) -> Invoices:
        if interrupt(f"Pay {invoice['name']}?") != "yes":
            return {"paid": []}
        pay(invoice["name"])
        return {"paid": [invoice["name"]]}

    def batch(invoices: Invoices) -> list[Send]:
        return [Send("approve", {"name": name}) for name in invoices["batches"][invoices["open"]]]

    def more(invoices: Invoices) -> str:
        return "take" if invoices["open"] + 1 < len(invoices["batches"]) else END

    builder = StateGraph(Invoices)
    builder.add_node("take", take)
    builder.add_node("approve", approve, input_schema=Invoice)
    builder.add_node("close", lambda _: {})
    builder.add_edge(START, "take")
    builder.add_conditional_edges("take", batch, ["approve"])
    builder.add_edge("approve", "close")
    builder.add_conditional_edges("close", more, ["take", END])
    return builder


def main() -> None:
    """Approve everything, each invoice twice, and fail unless each was paid once."""
    paid: list[str] = []
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    app: Any = guard(program(paid.append).compile(checkpointer=SqliteSaver(connection)))
    config: Any = {"configurable": {"thread_id": "invoices"}}
    app.invoke({"batches": [["a", "b"], ["c"]]}, config)
    while questions := app.get_state(config).interrupts:
        for question in questions:
            for _ in range(2):
                app.invoke(Command(resume={question.id: "yes"}), config, delivery_id=f"answer to {question.id}")
    connection.close()
    sys.stdout.write(f"paid: {', '.join(sorted(paid))}\n")
    sys.exit(0 if sorted(paid) == ["a", "b", "c"] else 1)


if __name__ == "__main__":
    main()
