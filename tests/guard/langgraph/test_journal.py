"""What a run stores becomes durable in its order, and what waits together at once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver

from resumption.guard.langgraph.journal import AwaitedJournal, BlockingJournal
from resumption.langgraph import guard

from .programs import THREAD, answer

INPUT: Any = {"trail": []}


class Database:
    """Stores names, and forgets those of a block that fails."""

    def __init__(self) -> None:
        self.stored: list[str] = []
        self.transactions = 0

    @contextmanager
    def together(self) -> Iterator[None]:
        before = list(self.stored)
        self.transactions += 1
        try:
            yield
        except BaseException:
            self.stored = before
            raise

    def store(self, name: str) -> None:
        if name.startswith("bad"):
            raise ValueError(name)
        self.stored.append(name)


def settled(journal: BlockingJournal, database: Database, *names: str) -> list[str]:
    """Queue all, then settle each; names that begin with # are checkpoints. Returns what each came to."""
    entries = [
        journal.enter(lambda name=name: database.store(name.removeprefix("#")), checkpoint=name.startswith("#"))
        for name in names
    ]
    outcomes = []
    for entry in entries:
        try:
            journal.settle(entry)
            outcomes.append("stored")
        except ValueError as error:
            outcomes.append(str(error))
    return outcomes


def test_what_waits_together_shares_a_transaction():
    database = Database()
    assert settled(BlockingJournal(database.together), database, "a", "#1", "b", "#2") == ["stored"] * 4
    assert (database.stored, database.transactions) == (["a", "1", "b", "2"], 1)


def test_a_write_that_cannot_be_stored_keeps_its_checkpoint_from_being_and_no_sibling():
    database = Database()
    outcomes = settled(BlockingJournal(database.together), database, "a", "bad", "b", "#1", "#2")
    assert outcomes == ["stored", "bad", "stored", "bad", "bad"]
    assert database.stored == ["a", "b"]


def test_nothing_is_stored_after_a_checkpoint_that_could_not_be():
    database = Database()
    journal = BlockingJournal(database.together)
    assert settled(journal, database, "#bad") == ["bad"]
    assert settled(journal, database, "a", "#2") == ["bad", "bad"]
    assert database.stored == []


def test_entries_that_an_interruption_left_are_not_taken_for_durable():
    def interrupt() -> None:
        raise KeyboardInterrupt

    journal = BlockingJournal(None)
    first, second = (journal.enter(what, checkpoint=False) for what in (interrupt, lambda: None))
    with pytest.raises(KeyboardInterrupt):
        journal.settle(first)
    with pytest.raises(RuntimeError, match="interrupted"):
        journal.settle(second)


def test_a_cancelled_job_leaves_no_entry_that_is_taken_for_durable():
    async def run() -> None:
        journal, begun = AwaitedJournal(None), asyncio.Event()

        async def stall() -> None:
            begun.set()
            await asyncio.Event().wait()

        first, second = (journal.enter(stall, checkpoint=False) for _ in range(2))
        job = asyncio.create_task(journal.settle(first))
        await begun.wait()
        job.cancel()
        with pytest.raises(asyncio.CancelledError):
            await job
        with pytest.raises(RuntimeError, match="interrupted"):
            await journal.settle(second)

    asyncio.run(run())


def test_entries_of_many_threads_are_stored_once_each():
    database, journal = Database(), BlockingJournal(None)
    entries = [journal.enter(lambda n=n: database.store(str(n)), checkpoint=False) for n in range(64)]
    jobs = [threading.Thread(target=journal.settle, args=(entry,)) for entry in entries]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert database.stored == [str(n) for n in range(64)]


def commits(bench: Any, saver: SqliteSaver) -> int:
    """How many transactions a whole run on this saver takes."""
    builder = bench.builder(draft=bench.step("draft"), pay=bench.gate("pay"), notify=bench.step("notify"))
    app = guard(builder.compile(checkpointer=saver))
    app.invoke(INPUT, {"configurable": {"thread_id": "warm"}})
    seen: list[str] = []
    saver.conn.set_trace_callback(seen.append)
    app.invoke(INPUT, THREAD, durability="exit")
    app.invoke(answer("yes"), THREAD, durability="sync")
    saver.conn.set_trace_callback(None)
    return seen.count("COMMIT")


class Watching(SqliteSaver):
    """Takes each write for durable when it has returned."""

    def put(self, *args: Any) -> Any:
        """Store, and look."""
        stored = super().put(*args)
        assert not self.conn.in_transaction
        return stored


def test_a_saver_with_methods_of_its_own_finds_each_of_its_writes_durable(bench):
    connection = bench.saver().conn
    assert commits(bench, Watching(connection)) >= commits(bench, SqliteSaver(connection))
