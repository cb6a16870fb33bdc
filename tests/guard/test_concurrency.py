"""Many callers of one key: one fire, and the same result, or a typed refusal, for all others."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from resumption import Ledger, NotFired, effect
from resumption.errors import EffectRunning, InDoubt, LedgerUnavailable, Superseded
from resumption.guard import operators

from .support import World, child, statements_observed, until


def test_64_threads_fire_once_and_get_one_result(ledgers: Callable[..., Ledger], world: World) -> None:
    ledger = ledgers(wait=60.0, store_timeout=60.0)
    barrier = threading.Barrier(64)

    @effect(ledger, key="charge")
    def charge() -> str:
        world.fire()
        return f"receipt {len(world.fired)}"

    def caller(_: int) -> str:
        barrier.wait()
        return charge()

    with ThreadPoolExecutor(64) as threads:
        results = list(threads.map(caller, range(64)))
    assert set(results) == {"receipt 1"}
    assert len(world.fired) == 1


def test_64_tasks_fire_once_and_get_one_result(ledgers: Callable[..., Ledger], world: World) -> None:
    ledger = ledgers(wait=60.0, store_timeout=60.0)

    @effect(ledger, key="charge")
    async def charge() -> str:
        world.fire()
        await asyncio.sleep(0)
        return f"receipt {len(world.fired)}"

    async def all_of_them() -> list[str]:
        return await asyncio.gather(*(charge() for _ in range(64)))

    assert set(asyncio.run(all_of_them())) == {"receipt 1"}
    assert len(world.fired) == 1


def test_16_processes_fire_once_and_get_one_result(url: str, world: World, tmp_path: Path) -> None:
    start, go = os.pipe()

    def process() -> None:
        ledger = Ledger(url, wait=60.0, store_timeout=60.0)

        @effect(ledger, key="charge")
        def charge() -> int:
            world.fire()
            return os.getpid()

        os.close(go)
        os.read(start, 1)  # end of file: the barrier
        with (tmp_path / "results").open("a") as results:
            results.write(f"{charge()}\n")

    children = [child(process) for _ in range(16)]
    os.close(go)
    os.close(start)
    assert [one.wait() for one in children] == [0] * 16
    results = (tmp_path / "results").read_text().split()
    assert len(results) == 16
    assert len(set(results)) == 1
    assert len(world.fired) == 1


def test_a_caller_gives_up_waiting_for_a_living_owner_and_fires_nothing(
    ledgers: Callable[..., Ledger], world: World
) -> None:
    impatient = ledgers(wait=0.05)
    inside, leave = threading.Event(), threading.Event()

    def charge() -> str:
        world.fire()
        inside.set()
        assert leave.wait(20)
        return "paid"

    with ThreadPoolExecutor(1) as other:
        first = other.submit(effect(ledgers(), key="charge")(charge))
        assert inside.wait(20)
        with pytest.raises(EffectRunning):
            effect(impatient, key="charge", on_doubt="retry", idempotent=True)(charge)()
        (seen,) = operators.listing(impatient)
        assert seen.state == "running"
        leave.set()
        assert first.result(20) == "paid"
    assert effect(impatient, key="charge")(charge)() == "paid"
    assert len(world.fired) == 1
    assert [row.branch for row in operators.audit_trail(impatient, "charge")] == ["wait"]


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_forked_inside_an_effect_does_not_commit_it(ledgers: Callable[..., Ledger], world: World) -> None:
    """Both return from the call. The child does so first, and is told that the record isn't its own."""
    ledger = ledgers()
    exits: list[int] = []

    @effect(ledger, key="charge")
    def charge() -> str:
        world.fire()
        forked = os.fork()
        if forked == 0:
            return "child"
        exits.append(os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1]))
        return "parent"

    try:
        result = charge()
    except Superseded as refused:
        if refused.result == "child":
            os._exit(0)
        raise
    if result == "child":
        os._exit(5)
    assert exits == [0]
    assert result == charge() == "parent"


def test_a_child_uses_the_ledger_that_its_parent_opened(ledgers: Callable[..., Ledger], world: World) -> None:
    ledger = ledgers()
    charge = effect(ledger, key=lambda order: f"charge:{order}")(world.fire)
    charge("parent")

    def use() -> None:
        charge("parent")
        charge("child")
        ledger.close()

    assert child(use).wait() == 0
    charge("child")
    charge("after")
    assert world.fired == ["parent", "child", "after"]


def test_a_child_that_lives_on_does_not_hide_its_parents_death(url: str, world: World, tmp_path: Path) -> None:
    """The owner forks a child and dies inside the effect: the child must not keep its proof of life."""
    until_told, tell = os.pipe()

    def owner() -> None:
        @effect(Ledger(url), key="charge")
        def charge() -> None:
            if os.fork() == 0:
                os.close(tell)
                (tmp_path / "child lives").touch()
                os.read(until_told, 1)
                os._exit(0)
            world.fire()
            os.kill(os.getpid(), signal.SIGKILL)

        charge()

    died = child(owner)
    assert died.wait() < 0
    until((tmp_path / "child lives").exists)
    with pytest.raises(InDoubt) as caught:
        effect(Ledger(url), key="charge")(lambda: world.fire("rival"))()
    assert caught.value.branch == "in-doubt/ended"
    os.close(tell)
    os.close(until_told)
    assert len(world.fired) == 1


@pytest.mark.parametrize("policy", ["retry", "verify"])
def test_racing_recoveries_of_a_dead_owner_fire_once(url: str, world: World, policy: str) -> None:
    """All of them know that the owner is dead; the first to write takes the record over, the others wait for it."""

    def owner() -> None:
        effect(Ledger(url), key="charge")(lambda: os.kill(os.getpid(), signal.SIGKILL))()

    assert child(owner).wait() == -signal.SIGKILL
    start, go = os.pipe()

    def recover() -> None:
        on_doubt = (lambda: NotFired()) if policy == "verify" else policy
        ledger = Ledger(url, wait=60.0, store_timeout=60.0)
        charge = effect(ledger, key="charge", on_doubt=on_doubt)(lambda: world.fire() or "recovered")  # type: ignore[arg-type, func-returns-value]  # per case; fire returns None
        os.close(go)
        os.read(start, 1)
        assert charge() == "recovered"

    children = [child(recover) for _ in range(8)]
    os.close(go)
    os.close(start)
    assert [one.wait() for one in children] == [0] * 8
    assert len(world.fired) == 1
    record = Ledger(url).get("charge")
    assert record is not None
    assert record.attempt == 2


def test_a_ledger_stays_open_while_a_call_waits(ledgers: Callable[..., Ledger], world: World) -> None:
    """Closing would free the lock by which the waiting call is going to own its attempt."""
    waiting, go_on, started = threading.Event(), threading.Event(), threading.Event()
    first, second = ledgers(), ledgers(wait=60.0)
    second.setup()

    @effect(first, key="charge", not_fired=(ValueError,))
    def decline() -> None:
        started.set()
        assert go_on.wait(20)
        raise ValueError

    charge = effect(second, key="charge")(lambda: world.fire())
    with ThreadPoolExecutor(2) as threads:
        declined = threads.submit(decline)
        assert started.wait(20)
        with statements_observed(lambda name: waiting.set() if name.startswith("after SELECT") else None):
            charged = threads.submit(charge)
            assert waiting.wait(20)
        with pytest.raises(LedgerUnavailable, match="1 effects are still running"):
            second.close()
        go_on.set()
        assert isinstance(declined.exception(20), ValueError)
        charged.result(20)
    assert len(world.fired) == 1
    second.close()
