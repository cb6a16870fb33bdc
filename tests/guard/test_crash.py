"""A process is killed at every point it passes: before and after each SQL statement, before and after the effect.

The points are enumerated from a fault-free run, never listed by hand.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from resumption import Fired, Ledger, NotFired, effect
from resumption.decide import admit as decide
from resumption.errors import InDoubt
from resumption.guard import operators
from resumption.guard.stores.protocol import Work

from .support import Points, World, child, killed_at_each_point, statements_observed

KEY = "charge:1"

# Two for each statement (PostgreSQL has one more: the session lock), two around the effect. A change here is a change
# of the protocol, to be looked at.
POINTS = {"sqlite": 24, "postgresql": 26}

sqlite_now_postgres_in_the_soak = pytest.mark.parametrize(
    "url", ["sqlite", pytest.param("postgres", marks=pytest.mark.slow)], indirect=True
)


def call(url: str, world: World, points: Points, *, on_doubt: object = "raise", asynchronous: bool = False) -> object:
    """One process's whole contact with the ledger: open it, call the effect, observed at every point."""
    ledger = Ledger(url, wait=5.0, store_timeout=5.0)

    def fire() -> str:
        points.reach("before the effect")
        world.fire()
        points.reach("after the effect")
        return "receipt"

    with statements_observed(points.reach):
        if not asynchronous:
            return effect(ledger, key=KEY, on_doubt=on_doubt)(fire)()  # type: ignore[arg-type]  # a policy per test

        async def afire() -> str:
            return fire()

        return asyncio.run(effect(ledger, key=KEY, on_doubt=on_doubt)(afire)())  # type: ignore[arg-type]  # likewise


def reset(url: str, world: World) -> None:
    """Forget the effect, as if it had never been called."""
    world.path.unlink(missing_ok=True)
    ledger = Ledger(url)
    store = ledger.store
    record = ledger.get(KEY)
    if record is not None:
        with_version = (record.key, record.version)

        def forgetting() -> Work[None]:
            yield store.sql.delete, with_version

        store.look(forgetting)
    ledger.close()


def killed_at_every_point(
    url: str, world: World, tmp_path: Path, after: Callable[[str], None], *, asynchronous: bool = False
) -> None:
    """Kill a call at each of its points in turn and look at what is left."""
    Ledger(url).setup()

    def run(points: Points) -> object:
        return call(url, world, points, asynchronous=asynchronous)

    deaths = []
    for where in killed_at_each_point(run, tmp_path, before=lambda: reset(url, world)):
        after(where)
        deaths.append(where)
    assert len(deaths) == POINTS[url.partition(":")[0]], deaths


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_whatever_point_the_owner_dies_at_the_effect_fired_at_most_once_and_is_served_or_surfaced(
    url: str, world: World, tmp_path: Path, asynchronous: bool
) -> None:
    outcomes = set()

    def after(where: str) -> None:
        fired_before = len(world.fired)
        try:
            assert call(url, world, Points()) == "receipt", where
            outcomes.add("served" if fired_before else "fired")
        except InDoubt:
            outcomes.add("in doubt")
            assert len(world.fired) == fired_before, where
            (seen,) = operators.listing(Ledger(url))
            assert (seen.record.key, seen.state) == (KEY, decide.DOUBT), where
            operators.resolve(Ledger(url), KEY, fired=bool(fired_before), result='"receipt"', actor="test")
            assert call(url, world, Points()) == "receipt", where
        assert len(world.fired) == 1, where

    killed_at_every_point(url, world, tmp_path, after, asynchronous=asynchronous)
    assert outcomes == {"fired", "in doubt", "served"}


@sqlite_now_postgres_in_the_soak
def test_a_verify_that_asks_the_world_makes_every_death_exactly_one_fire(
    url: str, world: World, tmp_path: Path
) -> None:
    def verify() -> Fired | NotFired:
        return Fired("receipt") if world.fired else NotFired()

    def after(where: str) -> None:
        assert call(url, world, Points(), on_doubt=verify) == "receipt", where
        assert len(world.fired) == 1, where

    killed_at_every_point(url, world, tmp_path, after)


@sqlite_now_postgres_in_the_soak
def test_a_retry_fires_again_only_where_the_first_may_have_fired(url: str, world: World, tmp_path: Path) -> None:
    def after(where: str) -> None:
        fired_before = len(world.fired)
        assert call(url, world, Points(), on_doubt="retry") == "receipt", where
        assert len(world.fired) <= fired_before + 1, where
        assert list(operators.listing(Ledger(url))) == [], where

    killed_at_every_point(url, world, tmp_path, after)


@sqlite_now_postgres_in_the_soak
def test_a_recovery_that_is_killed_at_every_point_too_still_ends_in_one_fire(
    url: str, world: World, tmp_path: Path
) -> None:
    """The first owner dies right before or right after its effect; the recovering process at each of its points."""

    def verify() -> Fired | NotFired:
        return Fired("receipt") if world.fired else NotFired()

    Ledger(url).setup()
    fault_free = Points()
    call(url, world, fault_free)
    for name in ("before the effect", "after the effect"):

        def die_first(at: int = fault_free.passed.index(name)) -> None:
            reset(url, world)
            assert child(lambda: call(url, world, Points(at))).wait() == -signal.SIGKILL

        def recover(points: Points) -> object:
            return call(url, world, points, on_doubt=verify)

        for where in killed_at_each_point(recover, tmp_path, before=die_first):
            assert recover(Points()) == "receipt"
            assert len(world.fired) == 1, f"first killed {name}, recovery {where}"


@sqlite_now_postgres_in_the_soak
def test_a_process_that_is_killed_while_it_makes_the_tables_leaves_all_of_them_or_none(
    url: str, world: World, tmp_path: Path
) -> None:
    def set_up(points: Points) -> None:
        with statements_observed(points.reach):
            Ledger(url).setup()

    def wipe() -> None:
        ledger = Ledger(url)
        if ledger.exists():
            store = ledger.store

            def dropping() -> Work[None]:
                for table in ("resumption_effects", "resumption_audit", "resumption_schema"):
                    yield f"DROP TABLE {table}", ()

            store.transact(dropping)
        ledger.close()

    deaths = []
    for where in killed_at_each_point(set_up, tmp_path, before=wipe):
        reset(url, world)
        assert call(url, world, Points()) == "receipt", where
        deaths.append(where)
    assert len(deaths) == 22, deaths
