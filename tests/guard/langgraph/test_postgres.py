"""The same promises on PostgreSQL: by one connection, by a pool, blocking and on an event loop."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

pytest.importorskip("langgraph.checkpoint.postgres")

from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from resumption.guard.claims import protocol
from resumption.guard.claims.records import Fence
from resumption.guard.effects import Ledger, effect
from resumption.guard.langgraph.tenure import Tenure
from resumption.harness.relay import Relay
from resumption.langgraph import Fenced, GuardError, RunBusy, fork, guard

from ..support import child
from .programs import THREAD, answer
from .test_crashes import die, in_child
from .test_savers import INPUT, builder, lives, lives_async, races

_OPTIONS: dict[str, Any] = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}


@pytest.fixture
def url(postgres_url):
    with PostgresSaver.from_conn_string(postgres_url) as saver:
        saver.setup()
    return postgres_url


def test_a_run_on_one_connection(bench, url):
    with PostgresSaver.from_conn_string(url) as saver:
        lives(bench, guard(builder(bench).compile(checkpointer=saver)))


def test_a_run_on_a_pipeline(bench, url):
    with PostgresSaver.from_conn_string(url, pipeline=True) as saver:
        lives(bench, guard(builder(bench).compile(checkpointer=saver)))


def test_a_run_on_a_pool(bench, url):
    with ConnectionPool(url, kwargs=_OPTIONS, max_size=4) as pool:
        lives(bench, guard(builder(bench).compile(checkpointer=PostgresSaver(pool))))


def test_a_run_on_an_asynchronous_connection(bench, url):
    async def run() -> None:
        async with AsyncPostgresSaver.from_conn_string(url) as saver:
            await lives_async(bench, guard(builder(bench).compile(checkpointer=saver)))

    asyncio.run(run())


def test_racers_on_an_asynchronous_pool(bench, url):
    async def run() -> None:
        async with AsyncConnectionPool(url, kwargs=_OPTIONS, max_size=4, open=False) as pool:
            app = guard(builder(bench).compile(checkpointer=AsyncPostgresSaver(pool)))
            outcomes = await races(bench, app, ["B", "B", "C", "C"])
        (fired,) = [one for one in bench.fired() if one.startswith("pay")]
        assert outcomes == {fired: 2, "AlreadyConsumed": 2}

    asyncio.run(run())


def test_racing_processes(bench, url):
    context = multiprocessing.get_context("fork")
    line, outcomes = context.Barrier(4), context.SimpleQueue()
    gated = bench.builder(pay=bench.gate("pay"))
    with PostgresSaver.from_conn_string(url) as saver:
        guard(gated.compile(checkpointer=saver)).invoke(INPUT, THREAD)

    def race(value: str) -> None:
        with PostgresSaver.from_conn_string(url) as saver:
            app = guard(gated.compile(checkpointer=saver))
            line.wait()
            try:
                outcomes.put(app.invoke(answer(value), THREAD)["trail"][0])
            except GuardError as error:
                outcomes.put(type(error).__name__)

    racers = [context.Process(target=race, args=(f"v{number}",)) for number in range(4)]
    for racer in racers:
        racer.start()
    seen = Counter(outcomes.get() for _ in racers)
    for racer in racers:
        racer.join()
    (fired,) = bench.fired()
    assert seen == {fired: 1, "AlreadyConsumed": 3}


def test_a_dead_winner_leaves_its_decision_to_a_recovery(bench, url):
    def resume(before: Any) -> None:
        with PostgresSaver.from_conn_string(url) as saver:
            app = guard(bench.builder(pay=bench.gate("pay", before=before)).compile(checkpointer=saver))
            app.invoke(answer("yes"), THREAD)

    with PostgresSaver.from_conn_string(url) as saver:
        app = guard(bench.builder(pay=bench.gate("pay")).compile(checkpointer=saver))
        app.invoke(INPUT, THREAD)
        assert in_child(lambda: resume(die)) < 0
        assert app.invoke(None, THREAD)["trail"] == ["pay=yes"]
        app.invoke(answer("yes"), THREAD)
    assert bench.fired() == ["pay=yes"]


def test_an_executor_that_was_cut_off_stores_nothing(bench, url):
    """The server ended the session that held the lock, and somebody else took the thread over."""

    def take_over() -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("UPDATE resumption_fences SET number = number + 1, holder = 'another'")

    with PostgresSaver.from_conn_string(url) as saver:
        cut = bench.builder(pay=bench.gate("pay", before=take_over), notify=bench.step("notify"))
        app = guard(cut.compile(checkpointer=saver))
        app.invoke(INPUT, THREAD)
        with pytest.raises(Fenced):
            app.invoke(answer("yes"), THREAD, durability="sync")
        assert "notify" not in bench.fired()


def rows(url: str, table: str) -> int:
    """How many rows a table has."""
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute(f"SELECT count(*) FROM {table}").fetchone()  # type: ignore[arg-type]  # a test's own
    assert found is not None
    return int(found[0])


def test_a_claim_whose_look_is_out_of_date_is_made_after_another_look(bench, url, monkeypatch):
    """Somebody else was granted the thread between the two: what the claim rests on may have changed."""
    with PostgresSaver.from_conn_string(url) as saver:
        app = guard(bench.builder(pay=bench.gate("pay")).compile(checkpointer=saver))
        app.invoke(INPUT, THREAD)
        read, looks = app.checkpointer.guard_read, []

        def overtaken(make: Any) -> Any:
            found = read(make)
            looks.append(found)
            if len(looks) == 1:
                with psycopg.connect(url, autocommit=True) as connection:
                    connection.execute("UPDATE resumption_fences SET number = number + 1, holder = 'another'")
            return found

        monkeypatch.setattr(app.checkpointer, "guard_read", overtaken)
        assert app.invoke(answer("yes"), THREAD)["trail"] == ["pay=yes"]
    assert (bench.fired(), rows(url, "resumption_claims")) == (["pay=yes"], 1)
    assert len(looks) == 2


@pytest.mark.parametrize("seen", [Fence(), Fence(1, "before")])
def test_a_grant_whose_commit_was_not_confirmed_is_found_at_the_next_attempt(bench, url, seen):
    """The first attempt can't tell what has happened, and stores nothing."""
    with PostgresSaver.from_conn_string(url) as saver:
        keeper = guard(bench.builder(pay=bench.gate("pay")).compile(checkpointer=saver)).checkpointer
        tenure = Tenure("t", keeper.guard_locks.attempt("t"))
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("INSERT INTO resumption_fences VALUES ('t', %s, %s)", (seen.number + 1, tenure.token))

        def noting() -> Any:
            return protocol.refusing(keeper.guard_sql, "t", "", "", "", "")

        tenure.seen = seen
        with pytest.raises((psycopg.errors.UniqueViolation, psycopg.errors.DivisionByZero)):
            keeper.guard_write(tenure, noting)
        assert rows(url, "resumption_refusals") == 0
        keeper.guard_write(tenure, noting)
        assert (tenure.fence, rows(url, "resumption_refusals")) == (seen.number + 1, 1)
        tenure.end()


def test_a_grant_on_an_event_loop_that_rests_on_an_old_look_is_refused(bench, url):
    async def run() -> None:
        async with AsyncPostgresSaver.from_conn_string(url) as saver:
            keeper = guard(bench.builder(pay=bench.gate("pay")).compile(checkpointer=saver)).checkpointer
            await keeper.guard_aready()
            tenure = Tenure("t", keeper.guard_locks.attempt("t"))
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("INSERT INTO resumption_fences VALUES ('t', 1, 'another')")
            tenure.seen = Fence()
            with pytest.raises(Fenced):
                await keeper.guard_awrite(tenure, lambda: protocol.refusing(keeper.guard_sql, "t", "", "", "", ""))
            tenure.end()

    asyncio.run(run())
    assert rows(url, "resumption_refusals") == 0


def test_a_lock_tells_the_last_grant_from_the_tables_that_the_saver_uses(bench, url):
    """They are where the saver's own connection finds them, which the lock's session doesn't."""
    with psycopg.Connection.connect(url, **_OPTIONS) as connection:
        connection.execute('CREATE SCHEMA "of tenant"')
        connection.execute('SET search_path = "of tenant"')
        saver = PostgresSaver(connection)
        saver.setup()
        app = guard(builder(bench).compile(checkpointer=saver))
        lives(bench, app)
        (last,) = connection.execute("SELECT number, holder FROM resumption_fences WHERE thread = 't'").fetchall()
        held = app.checkpointer.guard_locks.attempt("t")
        assert held.seen == Fence(last["number"], last["holder"])
        held.release()


@pytest.mark.parametrize(
    "otherwise",
    [
        ["CREATE ROLE acts SUPERUSER", "SET ROLE acts"],
        [
            "CREATE TABLE resumption_fences (thread TEXT PRIMARY KEY, number BIGINT NOT NULL, holder TEXT)",
            "ALTER TABLE resumption_fences ENABLE ROW LEVEL SECURITY",
        ],
    ],
    ids=["another role", "rows of one's own"],
)
def test_where_the_session_of_the_lock_may_see_other_rows_the_saver_looks(bench, url, otherwise):
    with psycopg.Connection.connect(url, **_OPTIONS) as connection:
        for statement in otherwise:
            connection.execute(statement)
        app = guard(builder(bench).compile(checkpointer=PostgresSaver(connection)))
        held = app.checkpointer.guard_locks.attempt("other")
        assert held.seen is None
        held.release()
        lives(bench, app)


def test_a_copy_of_a_thread_that_another_was_granted_meanwhile_is_refused(bench, url, monkeypatch):
    """The lease of the new thread can be lost, as any, between its taking and the first write."""
    with PostgresSaver.from_conn_string(url) as saver:
        app = guard(builder(bench).compile(checkpointer=saver))
        app.invoke(INPUT, THREAD)
        parked, write = app.get_state(THREAD), app.checkpointer.guard_write

        def overtaken(tenure: Any, make: Any) -> Any:
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("INSERT INTO resumption_fences VALUES ('copy', 1, 'another')")
            monkeypatch.undo()
            return write(tenure, make)

        monkeypatch.setattr(app.checkpointer, "guard_write", overtaken)
        with pytest.raises(Fenced):
            fork(app, parked.config, "A", interrupt=parked.interrupts[0].id, into="copy")
        assert app.get_state({"configurable": {"thread_id": "copy"}}).values == {}


# The network between an executor and the database is cut: what was sent arrives when it is whole again. ---------------


@pytest.fixture
def far(url):
    """The database behind a network of its own."""
    parts = psycopg.conninfo.conninfo_to_dict(url)
    with Relay("127.0.0.1", ("127.0.0.1", int(parts["port"]))) as relay:
        yield relay, psycopg.conninfo.make_conninfo(url, port=relay.port)


def cut_off(url: str) -> None:
    """The server gives up every session but this: what it does, in time, with those that it doesn't reach."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
            " AND application_name = 'far'"
        )


def test_an_executor_that_is_cut_off_after_its_claim_is_replaced_and_stores_nothing(bench, url, far):
    """The gate of the one that was cut off runs on: its effect is the ledger's to know, its writes are refused."""
    relay, distant = far
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        inside.set()
        assert leave.wait(60)

    distant = psycopg.conninfo.make_conninfo(distant, application_name="far")
    near = bench.builder(pay=bench.gate("pay"), notify=bench.step("notify"))
    held = bench.builder(pay=bench.gate("pay", before=hold), notify=bench.step("notify"))
    with PostgresSaver.from_conn_string(url) as saver, PostgresSaver.from_conn_string(distant) as away:
        app, lonely = guard(near.compile(checkpointer=saver), wait=0.0), guard(held.compile(checkpointer=away))
        app.invoke(INPUT, THREAD)
        failed: list[Exception] = []

        def answer_from_afar() -> None:
            try:
                # Without it the next node begins while the write is still on its way.
                lonely.invoke(answer("yes"), THREAD, durability="sync")
            except Exception as error:
                failed.append(error)

        racer = threading.Thread(target=answer_from_afar)
        racer.start()
        assert inside.wait(60)
        with relay.cut():
            with pytest.raises(RunBusy):
                app.invoke(answer("yes"), THREAD)
            cut_off(url)
            assert app.invoke(answer("yes"), THREAD)["trail"] == ["pay=yes", "notify"]
            leave.set()
        racer.join(60)
        assert isinstance(failed[0], psycopg.OperationalError | Fenced)
        assert app.get_state(THREAD).values == {"trail": ["pay=yes", "notify"]}
        assert app.invoke(answer("yes"), THREAD)["trail"] == ["pay=yes", "notify"]
    assert bench.fired().count("notify") == 1


def test_an_executor_that_is_cut_off_before_its_claim_claims_nothing(bench, url, far):
    relay, distant = far
    program = bench.builder(pay=bench.gate("pay"))
    with PostgresSaver.from_conn_string(url) as saver, PostgresSaver.from_conn_string(distant) as away:
        app, lonely = guard(program.compile(checkpointer=saver)), guard(program.compile(checkpointer=away))
        app.invoke(INPUT, THREAD)
        outcomes: list[Any] = []
        with relay.cut():
            racer = threading.Thread(target=lambda: outcomes.append(_outcome(lonely, "no")))
            racer.start()
            assert app.invoke(answer("yes"), THREAD)["trail"] == ["pay=yes"]
        racer.join(60)
    assert outcomes == ["AlreadyConsumed"]
    assert bench.fired() == ["pay=yes"]


def _outcome(app: Any, value: str) -> str:
    try:
        return str(app.invoke(answer(value), THREAD)["trail"][0])
    except GuardError as error:
        return type(error).__name__


def test_a_stopped_executor_that_was_replaced_begins_no_effect(bench, url):
    """Its session is gone when it goes on, so it learns of its replacement before the effect, not at its next write."""
    ledger = Ledger(url)
    charge = effect(ledger, key=lambda: f"charge by {os.getpid()}")(lambda: bench.fire("charge"))

    def executor(name: str, pause: Callable[[], None]) -> None:
        address = psycopg.conninfo.make_conninfo(url, application_name=name)

        def paying(state: Any) -> Any:
            pause()
            charge()
            return {"trail": ["paid"]}

        with PostgresSaver.from_conn_string(address) as saver:
            guard(bench.builder(pay=paying).compile(checkpointer=saver)).invoke(
                INPUT if name == "far" else None, THREAD
            )

    def stalled() -> None:
        with pytest.raises(Fenced, match="not begun"):
            executor("far", lambda: os.kill(os.getpid(), signal.SIGSTOP))

    zombie = child(stalled)
    try:
        zombie.stopped()
        cut_off(url)
        assert in_child(lambda: executor("successor", lambda: None)) == 0
        zombie.signal(signal.SIGCONT)
        assert zombie.wait() == 0
    finally:
        zombie.kill()
    assert bench.fired() == ["charge"]
    assert [record.state for record in ledger.records()].count("done") == 1
