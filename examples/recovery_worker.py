"""A service whose worker is killed in the middle of an approved transfer, and the recovery that brings it to its end.

    python examples/recovery_worker.py [postgresql://…]

The first worker asks, is answered, transfers, and is killed with SIGKILL before any of that is stored. The recovery
finds the thread, and serves the recorded decision: nobody is asked again. The transfer is an effect with a ledger, in
the same database; the bank is asked what nobody else can know. Without a database named, everything is in files.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from resumption import Ledger, effect
from resumption.guard.effects import Fired, NotFired, Verification
from resumption.guard.langgraph.recovery import cut_off, recover
from resumption.langgraph import guard


class Transfer(TypedDict, total=False):
    amount: int
    receipt: str


class Bank:
    """The outside: a file that says what was transferred, and what it knows by a transfer's name."""

    def __init__(self, book: Path, *, kills: bool) -> None:
        self._book = book
        self._kills = kills

    def transfer(self, name: str, amount: int) -> str:
        """Transfer; the worker is killed when that is done, if it is to be."""
        with self._book.open("a") as book:
            book.write(f"{name} {amount}\n")
        if self._kills:
            os.kill(os.getpid(), signal.SIGKILL)
        return f"{amount} transferred"

    def transfers(self) -> list[str]:
        """All that was transferred."""
        return self._book.read_text().splitlines() if self._book.exists() else []

    def verify(self, name: str, amount: int) -> Verification:
        """Whether this transfer was made."""
        return Fired(f"{amount} transferred") if f"{name} {amount}" in self.transfers() else NotFired()


@contextmanager
def saver(store: str) -> Iterator[BaseCheckpointSaver[Any]]:
    """The checkpointer of a store."""
    if store.startswith("postgresql://"):
        from langgraph.checkpoint.postgres import PostgresSaver

        with PostgresSaver.from_conn_string(store) as found:
            found.setup()
            yield found
        return
    connection = sqlite3.connect(store.removeprefix("sqlite:///"), check_same_thread=False)
    yield SqliteSaver(connection)
    connection.close()


def service(checkpointer: BaseCheckpointSaver[Any], store: str, bank: Bank) -> Any:
    """The guarded program, and its effect."""
    transfer = effect(Ledger(store), key=lambda name, _: f"transfer:{name}", on_doubt=bank.verify)(bank.transfer)

    def approve(state: Transfer) -> Transfer:
        by = interrupt(f"Transfer {state['amount']}?")
        return {"receipt": f"{transfer('rent', state['amount'])}, approved by {by}"}

    builder = StateGraph(Transfer)
    builder.add_node("approve", approve)
    builder.add_edge(START, "approve")
    return guard(builder.compile(checkpointer=checkpointer))


def worker(store: str, book: Path) -> None:
    """Start a transfer, and answer its question; the process doesn't live to see the outcome."""
    with saver(store) as checkpointer:
        app = service(checkpointer, store, Bank(book, kills=True))
        config: Any = {"configurable": {"thread_id": "rent"}}
        app.invoke({"amount": 900}, config)
        app.invoke(Command(resume="alice"), config)


def main() -> None:
    """Run both, and fail unless the transfer was made once and the run is at its end."""
    with tempfile.TemporaryDirectory() as folder:
        store = sys.argv[1] if len(sys.argv) > 1 else f"sqlite:///{folder}/service.db"
        book = Path(folder) / "book"
        process = multiprocessing.get_context("fork").Process(target=worker, args=(store, book))
        process.start()
        process.join()
        sys.stdout.write(f"the worker ended with {process.exitcode}\n")
        with saver(store) as checkpointer:
            bank = Bank(book, kills=False)
            app = service(checkpointer, store, bank)
            for thread in cut_off(app):
                sys.stdout.write(f"recovering {thread}\n")
                recover(app, thread)
            receipt = app.get_state({"configurable": {"thread_id": "rent"}}).values.get("receipt", "")
            sys.stdout.write(f"transfers made: {len(bank.transfers())}\n{receipt}\n")
            done = len(bank.transfers()) == 1 and receipt == "900 transferred, approved by alice"
    sys.exit(0 if done else 1)


if __name__ == "__main__":
    main()
