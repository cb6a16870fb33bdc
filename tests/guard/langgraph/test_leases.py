"""The guard where threads are leased for a time: what it promises elsewhere, and what a pause adds."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from resumption.errors import EffectRunning
from resumption.guard.claims import beside, leases
from resumption.guard.claims.expiring import ExpiringLocks
from resumption.guard.claims.servers import LeaseTable
from resumption.guard.claims.tables import LeaseFile
from resumption.guard.effects import Ledger, effect
from resumption.guard.langgraph import admission
from resumption.guard.langgraph.tenure import Tenure
from resumption.langgraph import ExpiringLeases, Fenced, LeaseImpossible, RunBusy, guard

from ..support import Child, child, connecting, until
from .databases import Database
from .foreign import FileSaver
from .programs import THREAD, Bench, answer
from .racing import Contest, Means, run_heat
from .soak import soak
from .test_crashes import INPUT, die, in_child, paying, winners_killed
from .test_races import held_to_the_contract
from .test_soak import SEED

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs fork and signals")


DEFAULT_SECONDS = leases.LEASE_SECONDS
STOPPED = 50
"""A protocol whose one answer is stopped behind its last effect, where no rival can come first, on either database."""


def lease_all(database: Path) -> None:
    """Have all executors of a database lease, as the first of them does that has to."""
    LeaseFile(Path(f"{database}-resumption-leases"))


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """A database whose threads are leased, for less than a test waits. Children that are forked inherit that."""
    monkeypatch.setattr(leases, "LEASE_SECONDS", 1.2)
    bench = Bench(tmp_path)
    lease_all(bench.database)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExpiringLeases)
        yield bench
    bench.close()


# Chosen by itself, and said once --------------------------------------------------------------------------------------


def _elsewhere(monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    if where == "a network file system":
        monkeypatch.setattr(beside, "is_local", lambda path: False)
    else:
        monkeypatch.setattr(sys, "platform", where)


@pytest.mark.parametrize("where", ["a network file system", "darwin", "win32"])
def test_where_no_lock_ends_with_its_holder_threads_are_leased(tmp_path, monkeypatch, where):
    """What these systems lack is taken away here; the guard was not run on them."""
    bench = Bench(tmp_path)
    _elsewhere(monkeypatch, where)
    with pytest.warns(ExpiringLeases, match="20 seconds later"):
        app = bench.approval()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = bench.approval()
    app.invoke(INPUT, THREAD)
    assert again.invoke(answer("yes"), THREAD)["trail"][-1] == "notify"
    assert not list(tmp_path.glob("*-resumption-locks"))
    bench.close()


def test_where_a_lock_ends_with_its_holder_nothing_expires(tmp_path):
    bench = Bench(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bench.approval().invoke(INPUT, THREAD)
    assert not list(tmp_path.glob("*-resumption-leases"))
    bench.close()


def test_where_one_executor_leases_all_do(tmp_path):
    bench = Bench(tmp_path)
    lease_all(bench.database)
    with pytest.warns(ExpiringLeases, match="others of its executors"):
        bench.approval()
    bench.close()


def test_where_no_lease_can_be_written_down_the_guard_refuses(tmp_path, monkeypatch):
    bench = Bench(tmp_path)
    Path(f"{bench.database}-resumption-leases").mkdir()
    _elsewhere(monkeypatch, "a network file system")
    with pytest.raises(LeaseImpossible, match="can't be written"):
        bench.approval()
    bench.close()


# What the guard promises everywhere -----------------------------------------------------------------------------------


@pytest.fixture
def leased(database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """Each saver in turn, its threads leased for as long as they are by default."""
    monkeypatch.setattr(leases, "LEASE_SECONDS", DEFAULT_SECONDS)
    if database.on_server:
        LeaseTable(connecting(database.address))
    else:
        lease_all(Path(database.address))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExpiringLeases)
        yield replace(database, leased=DEFAULT_SECONDS)


@pytest.mark.parametrize(("racers", "contest"), [(4, Contest.DIFFERENT), (4, Contest.MIXED)])
@pytest.mark.parametrize("means", Means)
def test_one_of_many_racers_executes(quick, leased, means, racers, contest):
    """On an event loop a lease is asked for while the loop is in the middle of a transaction of the database."""
    held_to_the_contract(run_heat(quick.folder, leased, means, contest, racers, 0), contest, racers)


@pytest.mark.parametrize(
    "protocols",
    [(*range(6), STOPPED), pytest.param(range(6, 60), marks=pytest.mark.slow)],
    ids=["some", "many"],
)
@pytest.mark.parametrize("database", ["sqlite", "postgres"], indirect=True)
def test_protocols_under_fire_end_well(quick, leased, monkeypatch, protocols):
    """Executors that are stopped sleep through their lease, and are replaced; those that are killed are waited for."""
    monkeypatch.setattr(leases, "LEASE_SECONDS", 0.5)
    tally = soak(quick, replace(leased, leased=0.5), protocols, SEED)
    assert tally.clean(), tally


def test_a_race_on_a_saver_with_a_store(bench):
    store = bench.folder / "claims.db"
    lease_all(store)

    def build(bench: Bench, **options: Any) -> Any:
        return guard(
            bench.builder(pay=bench.gate("pay")).compile(checkpointer=FileSaver(bench.folder / "files")),
            store=str(store),
            **options,
        )

    app = build(bench)
    app.invoke(INPUT, THREAD)
    losers = [child(lambda: _consume(build(bench), "yes")) for _ in range(3)]
    assert [loser.wait() for loser in losers] == [0, 0, 0]
    assert bench.fired() == ["pay=yes"]


def _consume(app: Any, value: str) -> None:
    assert app.invoke(answer(value), THREAD)["trail"][-1] == f"pay={value}"


@pytest.mark.slow
def test_the_winner_may_die_at_any_statement(tmp_path, monkeypatch):
    monkeypatch.setattr(leases, "LEASE_SECONDS", 0.6)
    monkeypatch.setattr(warnings, "showwarning", lambda *said: None)

    def park(folder: Path) -> None:
        folder.mkdir()
        bench = Bench(folder)
        lease_all(bench.database)
        paying(bench).invoke(INPUT, THREAD)
        bench.close()

    assert winners_killed(tmp_path, park) > 20


# Given up at once, however a run ends ---------------------------------------------------------------------------------


def test_a_run_that_fails_gives_its_lease_up(bench):
    def fail() -> None:
        raise ConnectionError

    app = bench.guarded(bench.builder(pay=bench.gate("pay", before=fail)), wait=0.0)
    app.invoke(INPUT, THREAD)
    for _ in range(2):
        with pytest.raises(ConnectionError):
            app.invoke(answer("yes"), THREAD)


def test_an_abandoned_stream_gives_its_lease_up(bench):
    app = bench.guarded(bench.builder(draft=bench.step("draft"), notify=bench.step("notify")), wait=0.0)
    stream = app.stream(INPUT, THREAD, stream_mode="updates")
    next(stream)
    stream.close()
    assert app.invoke(None, THREAD)["trail"] == ["draft", "notify"]


def test_a_cancelled_run_gives_its_lease_up(bench):
    async def run() -> None:
        started = asyncio.Event()

        async def wait(state: Any) -> None:
            started.set()
            await asyncio.Event().wait()

        async with AsyncSqliteSaver.from_conn_string(str(bench.database)) as saver:
            app = guard(bench.builder(wait=wait).compile(checkpointer=saver), wait=0.0)
            running = asyncio.create_task(app.ainvoke(INPUT, THREAD))
            await started.wait()
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            await app.aupdate_state(THREAD, {"trail": ["by hand"]})

    asyncio.run(run())


# Executors that die, or sleep through their lease ---------------------------------------------------------------------


def test_a_dead_executors_thread_is_had_when_its_lease_has_expired_and_not_before(bench):
    program = bench.builder(pay=bench.gate("pay", before=die))
    bench.guarded(program).invoke(INPUT, THREAD)
    assert in_child(lambda: bench.guarded(program).invoke(answer("yes"), THREAD)) == -signal.SIGKILL
    well = bench.builder(pay=bench.gate("pay"))
    with pytest.raises(RunBusy):
        bench.guarded(well, wait=0.0).invoke(answer("yes"), THREAD)
    assert bench.guarded(well).invoke(None, THREAD)["trail"] == ["pay=yes"]
    assert bench.fired() == ["pay=yes"]


class Sleeper:
    """An executor that stops in the gate, is replaced there by this process, and goes on when it is woken."""

    def __init__(self, bench: Bench, inside: Callable[[], object], *, raises: bool = True) -> None:
        self.bench = bench
        program = bench.builder(pay=bench.gate("pay"))
        bench.guarded(program).invoke(INPUT, THREAD)

        def stop() -> None:
            os.kill(os.getpid(), signal.SIGSTOP)
            inside()

        def execute() -> None:
            app = bench.guarded(bench.builder(pay=bench.gate("pay", before=stop)))
            if not raises:
                app.invoke(answer("yes"), THREAD, durability="sync")
                return
            with pytest.raises(Fenced):
                app.invoke(answer("yes"), THREAD, durability="sync")

        self.process: Child = child(execute)
        self.process.stopped()

    def replace(self) -> Any:
        """Recover the thread from it."""
        return self.bench.guarded(self.bench.builder(pay=self.bench.gate("pay"))).invoke(None, THREAD)

    def wake(self) -> None:
        """Let it go on to its end."""
        self.process.signal(signal.SIGCONT)
        assert self.process.wait() == 0


def stored(bench: Bench) -> int:
    with sqlite3.connect(bench.database) as connection:
        (count,) = connection.execute("SELECT count(*) FROM checkpoints").fetchone()
        return int(count)


def test_a_zombie_stores_nothing(bench):
    sleeper = Sleeper(bench, lambda: None)
    assert sleeper.replace()["trail"] == ["pay=yes"]
    before = stored(bench)
    sleeper.wake()
    assert stored(bench) == before


def test_a_zombie_begins_no_effect(bench):
    """It learns of its replacement before the effect, not at its next write; nobody has to fire it for that."""
    ledger = Ledger(f"sqlite:///{bench.folder / 'effects.db'}")
    charge = effect(ledger, key=lambda: f"charge by {os.getpid()}")(lambda: bench.fire("charge"))
    sleeper = Sleeper(bench, charge)
    sleeper.replace()
    sleeper.wake()
    assert "charge" not in bench.fired()


def test_without_asking_for_the_lease_a_zombies_effect_fires(bench, monkeypatch):
    """The control of the test before."""
    ledger = Ledger(f"sqlite:///{bench.folder / 'effects.db'}")
    charge = effect(ledger, key=lambda: f"charge by {os.getpid()}")(lambda: bench.fire("charge"))
    monkeypatch.setattr(Tenure, "must_hold", Tenure.check)
    sleeper = Sleeper(bench, charge)
    sleeper.replace()
    sleeper.wake()
    assert bench.fired().count("charge") == 1


@pytest.mark.parametrize("first", [True, False])
def test_a_zombie_that_wakes_while_its_successor_reads_is_fenced_already(bench, monkeypatch, first):
    """What it stored now, its successor would not know of. The control puts the fence up when all is read."""
    if not first:
        monkeypatch.setattr(Tenure, "expires", False)
    sleeper = Sleeper(bench, lambda: None, raises=first)
    decide = admission._decide

    def waking(call: Any, house: Any, tenure: Tenure | None, bound: Any) -> Any:
        if tenure is not None:
            sleeper.wake()
        return (yield from decide(call, house, tenure, bound))

    monkeypatch.setattr(admission, "_decide", waking)
    assert sleeper.replace()["trail"] == ["pay=yes"]
    assert len(bench.fired()) == (2 if first else 1)  # the zombie's own, and in its place the successor's


@pytest.mark.parametrize("asks", [True, False])
def test_an_executor_that_slept_before_its_fence_was_up_does_not_shut_its_successor_out(bench, monkeypatch, asks):
    """It has taken the lease and looked at nothing yet. The control doesn't ask for the lease when it wakes."""
    gated = bench.builder(pay=bench.gate("pay"))
    bench.guarded(gated).invoke(INPUT, THREAD)
    if not asks:
        monkeypatch.setattr(Tenure, "must_hold", Tenure.check)
    attempt = ExpiringLocks.attempt

    def sleepy(locks: ExpiringLocks, thread: str) -> Any:
        held = attempt(locks, thread)
        os.kill(os.getpid(), signal.SIGSTOP)
        return held

    def execute() -> None:
        ExpiringLocks.attempt = sleepy  # type: ignore[method-assign]  # in this process
        with pytest.raises(Fenced) if asks else nullcontext():
            bench.guarded(gated).invoke(None, THREAD)

    sleeper = child(execute)
    sleeper.stopped()

    def wake() -> None:
        sleeper.signal(signal.SIGCONT)
        assert sleeper.wait() == 0

    successor = bench.guarded(bench.builder(pay=bench.gate("pay", before=wake)))
    with nullcontext() if asks else pytest.raises(Fenced):
        assert successor.invoke(answer("yes"), THREAD)["trail"] == ["pay=yes"]


def test_a_zombie_that_nobody_replaced_goes_on(bench):
    """Its lease has expired, but nobody asked for it: no harm is done, and it beats again."""
    sleeper = Sleeper(bench, lambda: None, raises=False)
    sleeper.wake()
    assert bench.approval().get_state(THREAD).values == {"trail": ["pay=yes"]}


def test_the_effect_of_an_executor_whose_lease_expired_is_no_proven_death(bench, monkeypatch):
    """It sleeps inside the effect: a verify callable must not be asked, since the effect may fire any time."""
    asked: list[str] = []
    ledger = Ledger(f"sqlite:///{bench.folder / 'effects.db'}", wait=0.0)

    def fire() -> None:
        os.kill(os.getpid(), signal.SIGSTOP)
        bench.fire("charge")

    charge = effect(ledger, key="charge", on_doubt=lambda: asked.append("asked"))(fire)
    sleeper = child(lambda: _sleep_in(bench, charge))
    try:
        sleeper.stopped()
        app = bench.guarded(bench.builder(pay=lambda state: {"trail": [charge()]}))
        with pytest.raises(EffectRunning):
            app.invoke(None, THREAD)
        assert asked == []
    finally:
        sleeper.kill()


def _sleep_in(bench: Bench, charge: Callable[[], object]) -> None:
    bench.guarded(bench.builder(pay=lambda state: {"trail": [charge()]})).invoke(INPUT, THREAD)


def test_a_stopped_executor_is_seen_as_such_by_every_call_and_not_by_its_first_look(bench):
    """A process that calls without patience gets the thread in the end: what it saw of the lease is remembered."""
    sleeper = Sleeper(bench, lambda: None)
    app = bench.guarded(bench.builder(pay=bench.gate("pay")), wait=0.0)

    def recovered() -> bool:
        try:
            return bool(app.invoke(None, THREAD)["trail"])
        except RunBusy:
            return False

    assert not recovered()
    until(recovered)
    sleeper.wake()
