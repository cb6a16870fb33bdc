"""The same promises on every saver, by blocking calls and on an event loop."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import threading
from collections import Counter
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from resumption.langgraph import AlreadyConsumed, GuardError, LeaseImpossible, UnsupportedSaver, afork, fork, guard

from .programs import THREAD, answer

INPUT: Any = {"trail": []}


def builder(bench: Any) -> Any:
    return bench.builder(
        draft=bench.step("draft"), pay=bench.gate("pay", "first?", "second?"), notify=bench.step("notify")
    )


async def lives_async(bench: Any, app: Any) -> None:
    """Park twice, answer, repeat, contradict, fork."""
    assert "__interrupt__" in await app.ainvoke(INPUT, THREAD, delivery_id="start")
    assert "__interrupt__" in await app.ainvoke(answer("A"), THREAD)
    assert "__interrupt__" in await app.ainvoke(None, THREAD)
    parked = await app.aget_state(THREAD)
    done = await app.ainvoke(answer("B"), THREAD, delivery_id="second")
    assert done == {"trail": ["draft", "pay=A,B", "notify"]}
    assert await app.ainvoke(answer("B"), THREAD) == done
    assert await app.ainvoke(answer("B"), THREAD, delivery_id="second") == done
    with pytest.raises(AlreadyConsumed):
        await app.ainvoke(answer("C"), THREAD)
    assert bench.fired() == ["draft", "pay=A,B", "notify"]
    copied = await afork(app, parked.config, "D", interrupt=parked.interrupts[0].id, into="copy")
    assert copied["trail"] == ["draft", "pay=A,D", "notify"]
    branch = await afork(app, parked.config, "C", interrupt=parked.interrupts[0].id)
    assert branch["trail"] == ["draft", "pay=A,C", "notify"]


def lives(bench: Any, app: Any) -> None:
    """As `lives_async`, by blocking calls."""
    assert "__interrupt__" in app.invoke(INPUT, THREAD, delivery_id="start")
    assert "__interrupt__" in app.invoke(answer("A"), THREAD)
    parked = app.get_state(THREAD)
    done = app.invoke(answer("B"), THREAD, delivery_id="second")
    assert app.invoke(answer("B"), THREAD) == done
    assert app.invoke(answer("B"), THREAD, delivery_id="second") == done
    with pytest.raises(AlreadyConsumed):
        app.invoke(answer("C"), THREAD)
    assert bench.fired() == ["draft", "pay=A,B", "notify"]
    assert fork(app, parked.config, "C", interrupt=parked.interrupts[0].id)["trail"][1] == "pay=A,C"
    copied = fork(app, parked.config, "D", interrupt=parked.interrupts[0].id, into="copy")
    assert copied["trail"] == ["draft", "pay=A,D", "notify"]
    assert bench.fired().count("draft") == 1


async def races(bench: Any, app: Any, values: list[str]) -> Counter[str]:
    await app.ainvoke(INPUT, THREAD)
    await app.ainvoke(answer("A"), THREAD)

    async def deliver(value: str) -> str:
        try:
            return str((await app.ainvoke(answer(value), THREAD))["trail"][1])
        except GuardError as error:
            return type(error).__name__

    return Counter(await asyncio.gather(*(deliver(value) for value in values)))


def test_a_run_on_an_asynchronous_sqlite_saver(bench):
    async def run() -> None:
        async with AsyncSqliteSaver.from_conn_string(str(bench.database)) as saver:
            await lives_async(bench, guard(builder(bench).compile(checkpointer=saver)))

    asyncio.run(run())


def test_a_run_on_a_saver_in_memory(bench):
    asyncio.run(lives_async(bench, guard(builder(bench).compile(checkpointer=InMemorySaver()))))


def test_racers_on_an_asynchronous_sqlite_saver(bench):
    async def run() -> None:
        async with AsyncSqliteSaver.from_conn_string(str(bench.database)) as saver:
            app = guard(builder(bench).compile(checkpointer=saver))
            outcomes = await races(bench, app, ["B", "B", "C", "C"])
        (fired,) = [one for one in bench.fired() if one.startswith("pay")]
        assert outcomes == {fired: 2, "AlreadyConsumed": 2}

    asyncio.run(run())


def test_racing_threads_on_a_saver_in_memory(bench):
    app, outcomes = guard(builder(bench).compile(checkpointer=InMemorySaver())), []
    app.invoke(INPUT, THREAD)
    app.invoke(answer("A"), THREAD)
    line = threading.Barrier(4)

    def race() -> None:
        line.wait()
        outcomes.append(app.invoke(answer("B"), THREAD)["trail"][1])

    racers = [threading.Thread(target=race) for _ in range(4)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    assert outcomes == ["pay=A,B"] * 4
    assert bench.fired().count("pay=A,B") == 1


def test_a_cancelled_run_keeps_its_lease_until_its_thread_has_ended(bench):
    """A blocking node runs on in its thread when the event loop has stopped waiting for it."""
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        inside.set()
        assert leave.wait(30)

    async def run() -> None:
        async with AsyncSqliteSaver.from_conn_string(str(bench.database)) as saver:
            gated = bench.builder(pay=bench.gate("pay", before=hold))
            app = guard(gated.compile(checkpointer=saver), wait=0.0)
            await app.ainvoke(INPUT, THREAD)
            run = asyncio.create_task(app.ainvoke(answer("yes"), THREAD))
            await asyncio.to_thread(inside.wait, 30)
            run.cancel()
            with pytest.raises(asyncio.CancelledError):
                await run
            with pytest.raises(GuardError, match="Another executor"):
                await app.ainvoke(None, THREAD)
            leave.set()
            patient = guard(gated.compile(checkpointer=saver), wait=30.0)
            assert (await patient.ainvoke(None, THREAD))["trail"] == ["pay=yes"]

    asyncio.run(run())


def test_a_transaction_of_the_programs_own_is_refused_and_left_alone(bench):
    connection = sqlite3.connect(bench.database, check_same_thread=False)
    saver = SqliteSaver(connection)
    app = guard(builder(bench).compile(checkpointer=saver))
    connection.execute("CREATE TABLE mine (id int)")
    connection.execute("INSERT INTO mine VALUES (1)")
    with pytest.raises(UnsupportedSaver, match="of the program's own"):
        app.invoke(INPUT, THREAD)
    assert connection.in_transaction
    connection.commit()
    lives(bench, app)
    assert connection.execute("SELECT id FROM mine").fetchall() == [(1,)]
    connection.close()


def test_a_transaction_on_an_asynchronous_connection_is_refused_and_left_alone(bench):
    async def run() -> None:
        async with AsyncSqliteSaver.from_conn_string(str(bench.database)) as saver:
            app = guard(builder(bench).compile(checkpointer=saver))
            assert (await app.aget_state(THREAD)).values == {}
            await saver.conn.execute("CREATE TABLE mine (id int)")
            await saver.conn.execute("INSERT INTO mine VALUES (1)")
            with pytest.raises(UnsupportedSaver, match="of the program's own"):
                await app.ainvoke(INPUT, THREAD)
            await saver.conn.commit()
            async with saver.conn.execute("SELECT id FROM mine") as cursor:
                assert await cursor.fetchall() == [(1,)]
            await lives_async(bench, app)

    asyncio.run(run())


@pytest.mark.parametrize("replaced", [False, True], ids=["moved", "replaced by a copy"])
def test_a_database_that_was_taken_away_runs_nothing_until_it_is_back(bench, replaced):
    away = bench.database.with_name("away.db")

    def take() -> None:
        bench.database.rename(away)
        if replaced:
            shutil.copyfile(away, bench.database)

    connection = sqlite3.connect(bench.database, check_same_thread=False)
    app = guard(builder(bench).compile(checkpointer=SqliteSaver(connection)))
    app.invoke(INPUT, THREAD)
    take()
    for call in (answer("A"), None, INPUT):
        with pytest.raises(LeaseImpossible, match="moved or replaced"):
            app.invoke(call, THREAD)
    assert bench.fired() == ["draft"]
    away.replace(bench.database)
    assert "__interrupt__" in app.invoke(answer("A"), THREAD)
    assert app.invoke(answer("B"), THREAD)["trail"] == ["draft", "pay=A,B", "notify"]
    connection.close()


def test_an_asynchronous_database_that_was_taken_away_runs_nothing_until_it_is_back(bench):
    away = bench.database.with_name("away.db")

    async def run() -> None:
        async with AsyncSqliteSaver.from_conn_string(str(bench.database)) as saver:
            app = guard(builder(bench).compile(checkpointer=saver))
            await app.ainvoke(INPUT, THREAD)
            bench.database.rename(away)
            with pytest.raises(LeaseImpossible, match="moved or replaced"):
                await app.ainvoke(answer("A"), THREAD)
            away.rename(bench.database)
            assert "__interrupt__" in await app.ainvoke(answer("A"), THREAD)

    asyncio.run(run())
