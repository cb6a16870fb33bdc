"""Stores that go away, interrupts and cancellations: typed errors, nothing lost, nothing doubled."""

from __future__ import annotations

import asyncio
import gc
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from resumption import Ledger, NotFired, effect
from resumption.decide import admit as decide
from resumption.errors import EffectRunning, InDoubt, LedgerUnavailable, SchemaMismatch, Unrecorded
from resumption.guard import operators
from resumption.guard.stores import postgres
from resumption.harness.postgres import ThrowawayPostgres

from .support import Points, World, statements_observed
from .test_zombies import terminate_sessions


def state_of(ledger: Ledger, key: str = "charge") -> str:
    return operators.see(ledger, key).state


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_a_server_that_restarts_during_the_effect_still_learns_its_end(
    postgres_url: str, postgres_server: ThrowawayPostgres, world: World, mode: str
) -> None:
    @effect(Ledger(postgres_url, store_timeout=20.0), key="charge")
    def charge() -> str:
        world.fire()
        postgres_server.restart(mode)
        return "paid"

    assert charge() == "paid"
    assert charge() == "paid"
    assert len(world.fired) == 1


def test_a_server_that_is_away_when_the_effect_returns_is_told_later(
    postgres_url: str, postgres_server: ThrowawayPostgres, world: World
) -> None:
    ledger = Ledger(postgres_url, store_timeout=0.2)

    @effect(ledger, key="charge")
    def charge() -> str:
        world.fire()
        postgres_server.stop()
        return "paid"

    try:
        with pytest.raises(Unrecorded) as caught:
            charge()
        assert caught.value.result == "paid"
        with pytest.raises(LedgerUnavailable):
            charge()
    finally:
        postgres_server.start()
    assert effect(Ledger(postgres_url), key="mail")(lambda: "sent")() == "sent"
    assert charge() == "paid"
    assert len(world.fired) == 1


def test_a_session_that_is_terminated_at_any_statement_makes_no_difference(postgres_url: str, world: World) -> None:
    """The connection is lost right before and right after each statement of a call, its COMMITs included."""
    calls = iter(range(1000))

    def call(points: Points) -> None:
        number = next(calls)
        ledger = Ledger(postgres_url)
        ledger.setup()
        with statements_observed(points.reach):
            made = effect(ledger, key=f"charge:{number}")(lambda: world.fire(str(number)) or number)  # type: ignore[func-returns-value]  # fire returns None
            assert made() == number
        assert made() == number
        assert world.fired.count(str(number)) == 1
        ledger.close()

    fault_free = Points()
    call(fault_free)
    for index in range(len(fault_free.passed)):
        call(Points(index, lambda: terminate_sessions(postgres_url)))
    assert len(fault_free.passed) >= 16


@pytest.mark.parametrize("failure", [psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected])
def test_a_lost_race_in_the_database_is_run_again(
    postgres_url: str, world: World, monkeypatch: pytest.MonkeyPatch, failure: type[Exception]
) -> None:
    """Each kind of writing statement fails once, as PostgreSQL would at a stricter isolation level."""
    original = postgres.execute_on
    failed: set[str] = set()

    def execute_on(connection: psycopg.Connection[object]) -> Callable[..., object]:
        execute = original(connection)

        def failing(sql: str, parameters: tuple[object, ...]) -> object:
            kind = sql.split()[0]
            if kind in ("INSERT", "UPDATE", "COMMIT") and kind not in failed:
                failed.add(kind)
                raise failure("could not serialize access")
            return execute(sql, parameters)

        return failing

    ledger = Ledger(postgres_url)
    ledger.setup()
    monkeypatch.setattr(postgres, "execute_on", execute_on)
    charge = effect(ledger, key="charge")(world.fire)
    charge()
    charge()
    assert len(world.fired) == 1
    assert failed == {"INSERT", "UPDATE", "COMMIT"}


class OtherWriter:
    """Holds SQLite's write lock until it is told to let go."""

    def __init__(self, path: Path) -> None:
        self._locked, self._let_go = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._hold, args=(path,))
        self._thread.start()
        assert self._locked.wait(10)

    def _hold(self, path: Path) -> None:
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("BEGIN IMMEDIATE")
        self._locked.set()
        self._let_go.wait()
        connection.execute("ROLLBACK")
        connection.close()

    def let_go(self) -> None:
        self._let_go.set()
        self._thread.join()


@pytest.mark.parametrize("seconds", [0.5, pytest.param(10.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("where", ["before", "inside"])
def test_another_writers_lock_is_waited_for(
    sqlite_url: str, world: World, tmp_path: Path, where: str, seconds: float
) -> None:
    ledger = Ledger(sqlite_url, store_timeout=60.0)
    ledger.setup()
    timers = []

    def lock_for_a_while() -> None:
        timers.append(threading.Timer(seconds, OtherWriter(tmp_path / "effects.db").let_go))
        timers[0].start()

    @effect(ledger, key="charge")
    def charge() -> str:
        world.fire()
        if where == "inside":
            lock_for_a_while()
        return "paid"

    if where == "before":
        lock_for_a_while()
    assert charge() == charge() == "paid"
    timers[0].join()
    assert len(world.fired) == 1


def test_a_lock_that_outlasts_the_patience_is_a_typed_error_and_nothing_is_lost(
    sqlite_url: str, world: World, tmp_path: Path
) -> None:
    ledger = Ledger(sqlite_url, store_timeout=0.1)
    ledger.setup()
    charge = effect(ledger, key="charge")(world.fire)
    before = OtherWriter(tmp_path / "effects.db")
    with pytest.raises(LedgerUnavailable):
        charge()
    assert world.fired == []
    before.let_go()
    inside: list[OtherWriter] = []

    @effect(ledger, key="mail")
    def mail() -> str:
        world.fire("mail")
        inside.append(OtherWriter(tmp_path / "effects.db"))
        return "sent"

    with pytest.raises(Unrecorded) as caught:
        mail()
    assert caught.value.result == "sent"
    inside[0].let_go()
    charge()
    assert mail() == "sent"
    assert sorted(world.fired) == ["fired", "mail"]


def lose(path: Path, how: str) -> None:
    """Take a database away from the processes that have it open, as a person or a backup job would."""
    files = [path.with_name(path.name + suffix) for suffix in ("", "-wal", "-shm", "-owners")]
    for file in files:
        if file.exists() and how == "deleted":
            file.unlink()
        elif file.exists():
            file.rename(file.with_name(f"away-{file.name}"))
    if how == "replaced":
        Ledger(f"sqlite:///{path}").setup()


@pytest.mark.parametrize("how", ["deleted", "moved", "replaced"])
def test_a_database_that_was_taken_away_fires_nothing_until_it_is_back(
    sqlite_url: str, world: World, tmp_path: Path, how: str
) -> None:
    ledger = Ledger(sqlite_url)

    def charge(number: int) -> None:
        effect(ledger, key=f"charge:{number}")(lambda: world.fire(str(number)))()

    charge(1)
    path = tmp_path / "effects.db"
    lose(path, how)
    with pytest.raises(LedgerUnavailable, match="deleted, moved or replaced"):
        charge(2)
    assert world.fired == ["1"]
    assert path.exists() == (how == "replaced")
    with pytest.raises(LedgerUnavailable):
        operators.see(ledger, "charge:1")
    if how == "moved":
        for file in tmp_path.glob("away-*"):
            file.rename(file.with_name(file.name.removeprefix("away-")))
        charge(2)
        assert world.fired == ["1", "2"]


def test_an_effect_whose_database_vanishes_inside_it_says_that_it_is_not_recorded(
    sqlite_url: str, world: World, tmp_path: Path
) -> None:
    @effect(Ledger(sqlite_url), key="charge")
    def charge() -> str:
        world.fire()
        lose(tmp_path / "effects.db", "deleted")
        return "paid"

    with pytest.raises(Unrecorded) as caught:
        charge()
    assert caught.value.result == "paid"
    with pytest.raises(LedgerUnavailable):
        charge()
    assert len(world.fired) == 1


def test_an_end_that_can_not_be_written_is_logged_once_however_often_a_waiting_call_asks(
    sqlite_url: str, world: World, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """On a full disk, say: records can be read, and none can be changed."""
    database = sqlite3.connect(tmp_path / "effects.db", isolation_level=None)

    @effect(Ledger(sqlite_url, wait=0.3), key="charge")
    def charge() -> str:
        world.fire()
        database.execute(
            "CREATE TRIGGER full BEFORE UPDATE ON resumption_effects BEGIN SELECT RAISE(ABORT, 'full'); END"
        )
        return "paid"

    with pytest.raises(Unrecorded):
        charge()
    with pytest.raises(EffectRunning):
        charge()
    assert [record.message for record in caplog.records if "could not be written" in record.message] == [
        "effect charge: its end still could not be written down"
    ]
    database.execute("DROP TRIGGER full")
    database.close()
    assert charge() == "paid"
    assert len(world.fired) == 1


def test_a_begin_that_is_committed_to_a_vanished_database_fires_nothing(
    sqlite_url: str, world: World, tmp_path: Path
) -> None:
    ledger = Ledger(sqlite_url)
    ledger.setup()
    charge = effect(ledger, key="charge")(lambda: world.fire())
    with (
        statements_observed(lambda name: lose(tmp_path / "effects.db", "deleted") if name == "before COMMIT" else None),
        pytest.raises(LedgerUnavailable),
    ):
        charge()
    assert world.fired == []


class FullDisk:
    """Limits a SQLite database to the pages it has, as a full disk would, on each connection of the ledger."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
        self.full = False
        original = sqlite3.connect

        def connect(*args: object, **kwargs: object) -> sqlite3.Connection:
            connection = original(*args, **kwargs)  # type: ignore[call-overload]  # whatever the store says
            connection.execute(f"PRAGMA max_page_count = {1 if self.full else 1 << 30}")
            return connection  # type: ignore[no-any-return]  # likewise

        monkeypatch.setattr(sqlite3, "connect", connect)


def test_a_disk_that_is_full_before_the_effect_fires_nothing(
    sqlite_url: str, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = FullDisk(monkeypatch, tmp_path)
    Ledger(sqlite_url).setup()
    disk.full = True
    ledger = Ledger(sqlite_url, store_timeout=1.0)
    made = [effect(ledger, key=f"{'long' * 250}:{number}")(world.fire) for number in range(50)]
    refused = 0
    for one in made:
        try:
            one()
        except LedgerUnavailable as error:
            refused += "full" in str(error)
    assert refused > 0
    assert len(world.fired) <= 50 - refused
    disk.full = False
    ledger.close()
    for one in made:
        one()
    assert len(world.fired) == 50


def test_a_disk_that_is_full_when_the_effect_returns_is_told_later(
    sqlite_url: str, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = FullDisk(monkeypatch, tmp_path)
    Ledger(sqlite_url).setup()
    disk.full = True
    ledger = Ledger(sqlite_url, store_timeout=1.0)

    @effect(ledger, key="charge")
    def charge() -> str:
        world.fire()
        return "x" * 100_000

    with pytest.raises(Unrecorded) as caught:
        charge()
    assert caught.value.result == "x" * 100_000
    disk.full = False
    ledger.store.close()
    assert charge() == "x" * 100_000
    assert len(world.fired) == 1


def test_an_interrupt_inside_the_effect_leaves_it_in_doubt_until_the_process_is_gone(
    ledgers: Callable[..., Ledger], world: World
) -> None:
    ledger = ledgers()

    def charge() -> None:
        world.fire()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        effect(ledger, key="charge")(charge)()
    assert state_of(ledger) == decide.INTERRUPTED
    for other in (ledger, ledgers()):
        with pytest.raises(InDoubt) as caught:
            effect(other, key="charge", on_doubt=lambda: NotFired())(charge)()
        assert caught.value.branch == decide.IN_DOUBT_UNPROVEN
    ledger.close()
    with pytest.raises(InDoubt):
        effect(ledgers(), key="charge", on_doubt="retry")(charge)()
    assert len(world.fired) == 1


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_at_any_statement_neither_doubles_nor_blocks_the_effect(
    url: str, world: World, stop: type[BaseException]
) -> None:
    """Raised right before and after each statement, as a signal would: the next call fires, serves or surfaces."""
    calls = iter(range(1000))

    def call(points: Points) -> None:
        number = next(calls)
        ledger = Ledger(url, wait=0.5)
        ledger.setup()
        key = f"charge:{number}"
        made = effect(ledger, key=key)(lambda: world.fire(str(number)))
        try:
            with statements_observed(points.reach):
                made()
        except stop:
            assert points.at >= 0
        try:
            made()
        except InDoubt:
            assert key in [seen.record.key for seen in operators.listing(ledger)]
        assert world.fired.count(str(number)) == 1  # what was interrupted before the call is known not to have fired
        ledger.close()

    def interrupt() -> None:
        raise stop

    fault_free = Points()
    call(fault_free)
    for index in range(len(fault_free.passed)):
        call(Points(index, interrupt))
    assert len(fault_free.passed) >= 16


def test_a_cancellation_inside_the_effect_leaves_it_in_doubt(ledger: Ledger, world: World) -> None:
    """The thread that the effect started is still there when its coroutine is gone."""
    started, go_on = threading.Event(), threading.Event()

    def slow() -> None:
        started.set()
        assert go_on.wait(20)
        world.fire()

    @effect(ledger, key="charge", on_doubt=lambda: NotFired())
    async def charge() -> None:
        await asyncio.to_thread(slow)

    async def cancelled() -> None:
        task = asyncio.create_task(charge())
        assert await asyncio.to_thread(started.wait, 20)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(InDoubt) as caught:
            await charge()
        assert caught.value.branch == decide.IN_DOUBT_UNPROVEN
        go_on.set()

    asyncio.run(cancelled())
    assert len(world.fired) == 1


def test_a_cancellation_at_any_statement_neither_doubles_nor_blocks_the_effect(url: str, world: World) -> None:
    calls = iter(range(1000))

    async def call(points: Points) -> str:
        number = next(calls)
        ledger = Ledger(url, wait=0.5)
        ledger.setup()

        @effect(ledger, key=f"charge:{number}")
        async def charge() -> str:
            world.fire(str(number))
            return "paid"

        loop = asyncio.get_running_loop()
        task = asyncio.create_task(charge())
        arrived = threading.Event()

        def cancel() -> None:
            loop.call_soon_threadsafe(task.cancel)
            loop.call_soon_threadsafe(arrived.set)
            assert arrived.wait(10)

        points.act = cancel
        with statements_observed(points.reach):
            outcome = "cancelled"
            try:
                outcome = await task
            except asyncio.CancelledError:
                assert points.at >= 0
        assert await charge() == "paid"  # nothing is in doubt: the store's side of a call is never cut short
        assert world.fired.count(str(number)) == 1
        ledger.close()
        return outcome

    fault_free = Points()
    assert asyncio.run(call(fault_free)) == "paid"
    outcomes = [asyncio.run(call(Points(index))) for index in range(len(fault_free.passed))]
    assert set(outcomes) == {"cancelled"}
    assert len(outcomes) >= 16


def test_a_coroutine_that_is_destroyed_with_its_loop_is_surfaced(ledger: Ledger, world: World) -> None:
    @effect(ledger, key="charge")
    async def charge() -> None:
        world.fire()
        await asyncio.get_running_loop().create_future()

    async def begin() -> None:
        task = asyncio.create_task(charge())
        while not world.fired:
            await asyncio.sleep(0.005)
        task._log_destroy_pending = False  # type: ignore[attr-defined]  # the loss is the point of the test
        tasks.append(task)

    tasks: list[object] = []
    loop = asyncio.new_event_loop()
    loop.run_until_complete(begin())
    loop.close()
    tasks.clear()
    gc.collect()
    assert state_of(ledger) == decide.UNPROVEN
    with pytest.raises(InDoubt):
        asyncio.run(charge())
    assert len(world.fired) == 1


def test_tables_of_a_later_release_are_refused(sqlite_url: str, tmp_path: Path) -> None:
    Ledger(sqlite_url).setup()
    with sqlite3.connect(tmp_path / "effects.db") as connection:
        connection.execute("UPDATE resumption_schema SET version = 99")
    with pytest.raises(SchemaMismatch, match="version 99"):
        Ledger(sqlite_url).setup()


def test_racing_setups_make_one_ledger(ledgers: Callable[..., Ledger]) -> None:
    with ThreadPoolExecutor(8) as threads:
        identities = list(threads.map(lambda _: ledgers().setup(), range(8)))
    assert len(set(identities)) == 1
