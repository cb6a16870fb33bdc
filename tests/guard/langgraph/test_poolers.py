"""The guard behind a real PgBouncer that hands sessions out by transaction, where no session lock can be had."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

pytest.importorskip("langgraph.checkpoint.postgres")

from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from resumption.guard.claims import leases
from resumption.guard.effects import Ledger, effect
from resumption.guard.langgraph.tenure import Tenure
from resumption.langgraph import AlreadyConsumed, ExpiringLeases, Fenced, RunBusy, guard

from ..pooler import pooled
from ..support import child
from .foreign import FileSaver
from .programs import THREAD, Bench, answer
from .test_crashes import INPUT, die, in_child
from .test_savers import builder, lives, races

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs fork and PgBouncer")

# A pooler of before 1.21 knows no prepared statements: what its users have to say to LangGraph's saver too.
_OPTIONS: dict[str, Any] = {"autocommit": True, "prepare_threshold": None, "row_factory": dict_row}


@pytest.fixture
def url(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A database behind the pooler, with leases that last for less than a test waits."""
    monkeypatch.setattr(leases, "LEASE_SECONDS", 1.5)
    with PostgresSaver.from_conn_string(database_url) as saver:
        saver.setup()
    with pooled(database_url, "transaction") as behind, warnings.catch_warnings():
        warnings.simplefilter("ignore", ExpiringLeases)
        yield behind


def guarded(url: str, program: Any, **options: Any) -> Any:
    """On a connection of its own, which is closed with the process or by its collection."""
    return guard(program.compile(checkpointer=PostgresSaver(psycopg.connect(url, **_OPTIONS))), **options)


def test_a_run_on_one_connection(bench: Bench, url: str) -> None:
    lives(bench, guarded(url, builder(bench)))


def test_a_run_on_a_pool(bench: Bench, url: str) -> None:
    with ConnectionPool(url, kwargs=_OPTIONS, max_size=4) as pool:
        lives(bench, guard(builder(bench).compile(checkpointer=PostgresSaver(pool))))


def test_racers_on_an_asynchronous_pool(bench: Bench, url: str) -> None:
    async def run() -> None:
        async with AsyncConnectionPool(url, kwargs=_OPTIONS, max_size=4, open=False) as pool:
            app = guard(builder(bench).compile(checkpointer=AsyncPostgresSaver(pool)))
            outcomes = await races(bench, app, ["B", "B", "C", "C"])
        (fired,) = [one for one in bench.fired() if one.startswith("pay")]
        assert outcomes == {fired: 2, "AlreadyConsumed": 2}

    asyncio.run(run())


def answers(app: Any, value: str) -> None:
    """Deliver one of several decisions, of which one is executed."""
    try:
        assert app.invoke(answer(value), THREAD)["trail"] == [f"pay={value}"]
    except AlreadyConsumed:
        return


def test_racing_processes(bench: Bench, url: str) -> None:
    gated = bench.builder(pay=bench.gate("pay"))
    guarded(url, gated).invoke(INPUT, THREAD)
    racers = [child(lambda value=f"v{number}": answers(guarded(url, gated), value)) for number in range(4)]
    assert [racer.wait() for racer in racers] == [0] * 4
    assert len(bench.fired()) == 1


def test_a_race_on_a_saver_with_a_store(bench: Bench, url: str) -> None:
    def build() -> Any:
        gated = bench.builder(pay=bench.gate("pay"))
        return guard(gated.compile(checkpointer=FileSaver(bench.folder / "files")), store=url)

    build().invoke(INPUT, THREAD)
    racers = [child(lambda value=value: answers(build(), value)) for value in ("yes", "no", "yes")]
    assert [racer.wait() for racer in racers] == [0] * 3
    assert len(bench.fired()) == 1


def test_a_killed_executors_thread_is_had_when_its_lease_has_expired_and_not_before(bench: Bench, url: str) -> None:
    gated = bench.builder(pay=bench.gate("pay"))
    guarded(url, gated).invoke(INPUT, THREAD)
    deadly = bench.builder(pay=bench.gate("pay", before=die))
    assert in_child(lambda: guarded(url, deadly).invoke(answer("yes"), THREAD)) == -signal.SIGKILL
    with pytest.raises(RunBusy):
        guarded(url, gated, wait=0.0).invoke(None, THREAD)
    assert guarded(url, gated).invoke(None, THREAD)["trail"] == ["pay=yes"]
    assert bench.fired() == ["pay=yes"]


def replaced_in_its_gate(bench: Bench, url: str, inside: Callable[[], object]) -> None:
    """An executor stops in its gate past its lease, is replaced, and wakes to do something and to store its result."""
    gated = bench.builder(pay=bench.gate("pay"))
    guarded(url, gated).invoke(INPUT, THREAD)

    def stop() -> None:
        os.kill(os.getpid(), signal.SIGSTOP)
        inside()

    def execute() -> None:
        app = guarded(url, bench.builder(pay=bench.gate("pay", before=stop)))
        with pytest.raises(Fenced):
            app.invoke(answer("yes"), THREAD, durability="sync")

    zombie = child(execute)
    try:
        zombie.stopped()
        assert in_child(lambda: guarded(url, gated).invoke(None, THREAD)) == 0
        zombie.signal(signal.SIGCONT)
        assert zombie.wait() == 0
    finally:
        zombie.kill()


def test_a_zombie_begins_no_effect_and_stores_nothing(bench: Bench, url: str) -> None:
    charge = effect(Ledger(url), key=lambda: f"charge by {os.getpid()}")(lambda: bench.fire("charge"))
    replaced_in_its_gate(bench, url, charge)
    assert bench.fired() == ["pay=yes"]


def test_without_asking_for_the_lease_a_zombies_effect_fires(bench: Bench, url: str, monkeypatch: Any) -> None:
    """The control of the test before. What it stores is refused all the same, by the fence."""
    monkeypatch.setattr(Tenure, "must_hold", Tenure.check)
    charge = effect(Ledger(url), key=lambda: f"charge by {os.getpid()}")(lambda: bench.fire("charge"))
    replaced_in_its_gate(bench, url, charge)
    assert bench.fired() == ["pay=yes", "charge", "pay=yes"]
