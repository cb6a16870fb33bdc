"""An effect without a key is named after its task, whose name must outlive a crash before the effect fires."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import threading
from typing import Any

import aiosqlite
import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from resumption.errors import KeyUnusable
from resumption.guard.effects import Ledger, effect
from resumption.langgraph import guard

from .programs import THREAD, Bench, State, answer
from .test_crashes import INPUT, die, in_child

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs fork and open file description locks")

LATE = 1
"""The step whose checkpoint comes late: the one that the second node's task is named after."""

FIRED = threading.Event()
PATIENCE = 0.5  # seconds that the late checkpoint gives an effect to fire too early


class LateSaver(SqliteSaver):
    """Stores one checkpoint late; and never, if an effect didn't wait for it."""

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        if metadata["step"] == LATE and not config["configurable"].get("checkpoint_ns") and FIRED.wait(PATIENCE):
            threading.Event().wait()
        return super().put(config, checkpoint, metadata, new_versions)


class LateAsyncSaver(AsyncSqliteSaver):
    """The same, on an event loop."""

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        if metadata["step"] == LATE and await asyncio.to_thread(FIRED.wait, PATIENCE):
            await asyncio.Event().wait()
        return await super().aput(config, checkpoint, metadata, new_versions)


def paying(bench: Bench, *, dies: bool) -> Any:
    """Draft, then an effect without a key; the process dies right behind it if it is to."""

    @effect(Ledger(f"sqlite:///{bench.folder / 'effects.db'}"))
    def charge() -> None:
        bench.fire("charge")
        FIRED.set()

    def pay(_: State) -> Any:
        charge()
        if dies:
            die()
        return {"trail": ["pay"]}

    return bench.builder(draft=lambda _: {"trail": ["draft"]}, pay=pay)


def connected(bench: Bench) -> sqlite3.Connection:
    return sqlite3.connect(bench.database, check_same_thread=False)


def test_a_crash_does_not_fire_it_again_though_its_checkpoint_came_late(bench: Bench) -> None:
    def first() -> None:
        app = guard(paying(bench, dies=True).compile(checkpointer=LateSaver(connected(bench))))
        app.invoke(INPUT, THREAD, durability="async")

    assert in_child(first) < 0
    state = bench.guarded(paying(bench, dies=False)).invoke(None, THREAD)
    assert (state["trail"], bench.fired()) == (["draft", "pay"], ["charge"])


def test_nor_where_the_late_checkpoint_is_that_of_the_graph_around_it(bench: Bench) -> None:
    def outer(inner: Any) -> Any:
        return bench.builder(before=lambda _: {"trail": []}, inner=inner.compile())

    def first() -> None:
        app = guard(outer(paying(bench, dies=True)).compile(checkpointer=LateSaver(connected(bench))))
        app.invoke(INPUT, THREAD, durability="async")

    assert in_child(first) < 0
    bench.guarded(outer(paying(bench, dies=False))).invoke(None, THREAD)
    assert bench.fired() == ["charge"]


def test_nor_on_an_event_loop(bench: Bench) -> None:
    async def run(*, dies: bool) -> Any:
        async with aiosqlite.connect(bench.database) as connection:
            saver = LateAsyncSaver(connection) if dies else AsyncSqliteSaver(connection)
            app = guard(paying(bench, dies=dies).compile(checkpointer=saver))
            return await app.ainvoke(INPUT if dies else None, THREAD, durability="async")

    assert in_child(lambda: asyncio.run(run(dies=True))) < 0
    state = asyncio.run(run(dies=False))
    assert (state["trail"], bench.fired()) == (["draft", "pay"], ["charge"])


def test_where_nothing_is_stored_before_the_end_an_effect_needs_a_key(bench: Bench) -> None:
    app = bench.guarded(paying(bench, dies=False))
    with pytest.raises(KeyUnusable, match="durability"):
        app.invoke(INPUT, THREAD, durability="exit")
    assert bench.fired() == []


def test_the_task_that_a_stored_checkpoint_names_needs_none(bench: Bench) -> None:
    """The gate runs again from the checkpoint at which it asked, which was stored when the run parked."""
    charge = effect(Ledger(f"sqlite:///{bench.folder / 'effects.db'}"))(lambda: bench.fire("charge"))
    app = bench.guarded(bench.builder(pay=bench.gate("pay", before=charge)))
    app.invoke(INPUT, THREAD, durability="exit")
    app.invoke(answer("yes"), THREAD, durability="exit")
    assert bench.fired() == ["charge", "pay=yes"]
