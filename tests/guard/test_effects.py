"""What `@effect` promises to its caller, on both stores, sync and async."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from resumption import Fired, Ledger, NotFired, Unknown, current_key, effect, task_scope
from resumption.decide import admit as decide
from resumption.errors import (
    EffectRunning,
    InDoubt,
    KeyReused,
    KeyUnusable,
    LedgerUnavailable,
    ResultAbsent,
    UnsupportedEffect,
    UnusableSetting,
)
from resumption.guard import operators

from .support import World

SELF: list[object] = []
SELF.append(SELF)


class Declined(Exception):
    pass


@dataclass(frozen=True)
class Receipt:
    order: str
    amount: Decimal


def test_a_completed_effect_is_served_from_the_record(ledgers: Callable[..., Ledger], world: World) -> None:
    def charge(order: str) -> Receipt:
        world.fire(order)
        return Receipt(order, Decimal("9.50"))

    first = effect(ledgers(), key=lambda order: f"charge:{order}")(charge)
    assert first("a") == first("a") == Receipt("a", Decimal("9.50"))
    again = effect(ledgers(), key=lambda order: f"charge:{order}")(charge)
    assert again("a") == Receipt("a", Decimal("9.50"))
    assert again("b") == Receipt("b", Decimal("9.50"))
    assert world.fired == ["a", "b"]


def test_an_asynchronous_effect_is_served_too(ledger: Ledger, world: World) -> None:
    @effect(ledger, key="mail")
    async def mail() -> tuple[str, int]:
        world.fire()
        return ("sent", 1)

    async def twice() -> list[tuple[str, int]]:
        return [await mail(), await mail()]

    assert asyncio.run(twice()) == [("sent", 1), ("sent", 1)]
    assert len(world.fired) == 1


def test_an_exception_leaves_the_effect_in_doubt_and_it_is_never_fired_again(ledger: Ledger, world: World) -> None:
    @effect(ledger, key="charge")
    def charge() -> None:
        world.fire()
        raise TimeoutError("no answer")

    with pytest.raises(TimeoutError):
        charge()
    with pytest.raises(InDoubt) as caught:
        charge()
    assert caught.value.branch == decide.IN_DOUBT_ENDED
    assert len(world.fired) == 1
    (seen,) = operators.listing(ledger)
    assert (seen.state, seen.record.note) == (decide.DOUBT, "TimeoutError: no answer")


def test_a_declared_exception_means_not_fired_and_gives_the_provider_a_new_key(ledger: Ledger, world: World) -> None:
    keys = []

    @effect(ledger, key="charge", not_fired=(Declined,))
    def charge() -> str:
        keys.append(current_key())
        if len(keys) == 1:
            raise Declined
        world.fire()
        return "paid"

    with pytest.raises(Declined):
        charge()
    assert charge() == "paid"
    assert charge() == "paid"
    assert len(world.fired) == 1
    assert keys[0] != keys[1]


def test_the_provider_key_stays_while_the_effect_may_have_fired(ledgers: Callable[..., Ledger]) -> None:
    keys = []

    def charge() -> str:
        keys.append(current_key())
        if len(keys) < 3:
            raise TimeoutError
        return "paid"

    for attempt in range(3):
        once = effect(ledgers(), key="charge", on_doubt="retry", idempotent=True)(charge)
        if attempt < 2:
            with pytest.raises(TimeoutError):
                once()
        else:
            assert once() == "paid"
    assert len(keys) == 3
    assert len(set(keys)) == 1


def test_a_retry_that_did_not_fire_leads_back_into_doubt(ledger: Ledger) -> None:
    errors: list[Exception] = [TimeoutError(), Declined()]

    def charge() -> None:
        raise errors.pop(0)

    retry = effect(ledger, key="charge", on_doubt="retry", not_fired=(Declined,))(charge)
    with pytest.raises(TimeoutError):
        retry()
    with pytest.raises(Declined):
        retry()
    with pytest.raises(InDoubt):
        effect(ledger, key="charge")(charge)()
    assert errors == []


@pytest.mark.parametrize("answer", [Fired("paid before"), NotFired()])
def test_verify_decides_once_an_attempt_is_over(ledger: Ledger, world: World, answer: Fired | NotFired) -> None:
    asked = []

    def verify(order: str) -> Fired | NotFired:
        asked.append((order, current_key()))
        return answer

    outcomes: list[Exception | str] = [TimeoutError(), "paid now"]
    keys = []

    @effect(ledger, key=lambda order: f"charge:{order}", on_doubt=verify)
    def charge(order: str) -> str:
        keys.append(current_key())
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    with pytest.raises(TimeoutError):
        charge("7")
    expected = "paid before" if isinstance(answer, Fired) else "paid now"
    assert charge("7") == expected
    assert charge("7") == expected
    assert asked == [("7", keys[0])]
    assert len(keys) == (1 if isinstance(answer, Fired) else 2)


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_verify_that_cannot_tell_leaves_the_effect_in_doubt(ledger: Ledger, asynchronous: bool) -> None:
    answers: list[object] = [Unknown(), ConnectionError("provider away"), "yes", Fired("found")]

    def ask() -> object:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def charge() -> str:
        raise TimeoutError

    async def aask() -> object:
        return ask()

    async def acharge() -> str:
        raise TimeoutError

    call: Callable[[], object]
    if asynchronous:
        made = effect(ledger, key="charge", on_doubt=aask)(acharge)
        call = lambda: asyncio.run(made())  # noqa: E731 — one of two ways to call
    else:
        call = effect(ledger, key="charge", on_doubt=ask)(charge)
    with pytest.raises(TimeoutError):
        call()
    for expected in (InDoubt, ConnectionError, UnsupportedEffect):
        with pytest.raises(expected):
            call()
        (seen,) = operators.listing(ledger)
        assert seen.state == decide.DOUBT
    assert call() == "found"
    assert list(operators.listing(ledger)) == []


def test_the_same_key_with_other_arguments_is_refused_and_names_both_choices(ledger: Ledger, world: World) -> None:
    @effect(ledger, key="charge")
    def charge(amount: int, currency: str = "EUR") -> int:
        world.fire()
        return amount

    assert charge(5) == charge(amount=5, currency="EUR") == 5
    with pytest.raises(KeyReused, match=r"into the key.*scope=\"branch\""):
        charge(6)
    assert len(world.fired) == 1
    assert [row.branch for row in operators.audit_trail(ledger, "charge")] == [decide.KEY_REUSED]


def test_a_run_scoped_key_serves_every_branch_and_a_branch_scoped_one_fires_per_branch(
    ledger: Ledger, world: World
) -> None:
    shared = effect(ledger, key="shared")(partial(world.fire, "shared"))
    own = effect(ledger, key="own", scope="branch")(partial(world.fire, "own"))
    for branch in ("main", "fork", "main", "fork"):
        with task_scope(run="thread", branch=branch, task="node"):
            shared()
            own()
    assert world.fired == ["shared", "own", "own"]


def test_a_default_key_is_the_task_and_the_ordinal_of_the_call(ledger: Ledger, world: World) -> None:
    @effect(ledger)
    def coffee() -> str:
        world.fire()
        return f"cup {len(world.fired)}"

    def task() -> list[str]:
        with task_scope(run="thread", branch="main", task="node"):
            return [coffee(), coffee()]

    assert task() == ["cup 1", "cup 2"]
    assert task() == ["cup 1", "cup 2"]
    with task_scope(run="thread", branch="main", task="another"):
        assert coffee() == "cup 3"


@pytest.mark.parametrize("key", ["", 7, '["branch"', "a\0b", "\ud800", pytest.param("long" * 300, id="long")])
def test_a_key_that_cannot_be_kept_is_refused_before_anything_fires(ledger: Ledger, world: World, key: object) -> None:
    charge = effect(ledger, key=lambda: key)(world.fire)  # type: ignore[arg-type, return-value]  # wrong on purpose
    with pytest.raises(KeyUnusable):
        charge()
    assert world.fired == []


def test_without_a_task_there_is_no_default_key_and_no_branch(ledger: Ledger, world: World) -> None:
    with pytest.raises(KeyUnusable):
        effect(ledger)(world.fire)()
    with pytest.raises(KeyUnusable):
        effect(ledger, key="k", scope="branch")(world.fire)()
    with pytest.raises(KeyUnusable):
        effect(ledger, scope="run")
    with pytest.raises(KeyUnusable):
        current_key()
    assert world.fired == []


def test_generators_and_mixtures_are_refused_when_decorated(ledger: Ledger) -> None:
    def generator() -> Iterator[int]:
        yield 1

    async def asynchronous_generator() -> AsyncIterator[int]:
        yield 1

    class Callable_:
        def __call__(self) -> Iterator[int]:
            yield 1

    async def verify() -> Fired:
        return Fired()

    for refused in (generator, asynchronous_generator, partial(generator), Callable_()):
        with pytest.raises(UnsupportedEffect, match="generator"):
            effect(ledger, key="k")(refused)
    with pytest.raises(UnsupportedEffect, match="await"):
        effect(ledger, key="k", on_doubt=verify)(len)
    with pytest.raises(UnsupportedEffect):
        effect(ledger, key="k", on_doubt="again")(len)  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(UnsupportedEffect):
        effect(ledger, key="k", idempotent=True)(len)
    with pytest.raises(UnsupportedEffect, match="no ledger"):
        effect(len)  # type: ignore[arg-type]  # the parentheses were forgotten
    with pytest.raises(UnsupportedEffect, match="above @effect"):
        effect(ledger, key="k")(classmethod(len))  # type: ignore[arg-type]  # the wrong way round


def test_a_hidden_awaitable_is_refused_and_left_in_doubt(ledger: Ledger) -> None:
    async def later() -> None:
        raise AssertionError("never awaited")

    pending = []

    @effect(ledger, key="k")
    def charge() -> object:
        pending.append(later())
        return pending[0]

    with pytest.raises(UnsupportedEffect, match="awaitable"):
        charge()
    pending[0].close()
    with pytest.raises(InDoubt):
        charge()


@dataclass
class Emptied:
    """A dataclass whose field has gone: whoever reads it gets an error of the program's class."""

    value: int = field(default_factory=int)

    def __post_init__(self) -> None:
        del self.value


@pytest.mark.parametrize(
    "result",
    [object(), "x" * 5000, float, iter(()), 10**5000, Emptied()],
    ids=["object", "long", "type", "generator", "huge", "emptied"],
)
def test_a_result_that_cannot_be_kept_is_said_loudly_and_never_fires_twice(
    ledgers: Callable[..., Ledger], world: World, result: object, caplog: pytest.LogCaptureFixture
) -> None:
    @effect(ledgers(max_result_bytes=1000), key="charge")
    def charge() -> object:
        world.fire()
        return result

    with caplog.at_level(logging.WARNING, "resumption"):
        assert charge() is result
    assert "committed, but its result" in caplog.text
    with pytest.raises(ResultAbsent):
        charge()
    assert len(world.fired) == 1


@pytest.mark.parametrize("argument", [SELF, 10**5000], ids=["recursive", "huge"])
def test_arguments_that_cannot_be_compared_are_refused_before_anything_fires(
    ledger: Ledger, world: World, argument: object
) -> None:
    @effect(ledger, key="charge")
    def charge(value: object) -> None:
        world.fire()

    with pytest.raises(UnsupportedEffect, match="can't be told from"):
        charge(argument)
    assert world.fired == []
    assert ledger.get("charge") is None


def test_an_effect_that_calls_itself_under_its_own_key_is_refused_at_once(ledger: Ledger) -> None:
    @effect(ledger, key="charge", not_fired=(EffectRunning,))
    def charge(depth: int = 0) -> str:
        return charge(1) if depth == 0 else "inner"

    with pytest.raises(EffectRunning, match="calls itself"):
        charge()


def test_effects_nest_under_different_keys(ledger: Ledger) -> None:
    inner = effect(ledger, key="inner")(current_key)
    outer = effect(ledger, key="outer")(lambda: (current_key(), inner(), current_key()))
    before, within, after = outer()
    assert before == after != within


def test_the_log_names_the_branch_behind_a_refusal(ledger: Ledger, caplog: pytest.LogCaptureFixture) -> None:
    charge = effect(ledger, key="charge")(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        charge()
    with caplog.at_level(logging.WARNING, "resumption"), pytest.raises(InDoubt):
        charge()
    assert "effect charge: admit decided in-doubt/ended" in caplog.text


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///", "sqlite:///:memory:", "mysql://host/db", "effects.db"])
def test_a_store_that_forgets_is_refused(url: str) -> None:
    with pytest.raises(LedgerUnavailable):
        Ledger(url)


def test_closing_waits_for_nobody_and_gives_up_the_proof_of_life(ledgers: Callable[..., Ledger]) -> None:
    ledger = ledgers()

    @effect(ledger, key="charge")
    def charge() -> str:
        with pytest.raises(LedgerUnavailable, match="still running"):
            ledger.close()
        return "paid"

    assert charge() == "paid"
    ledger.close()
    assert charge() == "paid"


@pytest.mark.parametrize(
    "settings",
    [
        {"wait": -1},
        {"wait": float("nan")},
        {"store_timeout": "30"},
        {"store_timeout": True},
        {"max_result_bytes": -1},
        {"max_result_bytes": 1.5},
    ],
    ids=str,
)
def test_a_setting_that_cannot_be_meant_is_refused_when_the_ledger_is_opened(
    sqlite_url: str, settings: dict[str, Any]
) -> None:
    with pytest.raises(UnusableSetting, match=next(iter(settings))):
        Ledger(sqlite_url, **settings)
    with pytest.raises(UnusableSetting, match="url"):
        Ledger(None)  # type: ignore[arg-type]  # an environment variable that isn't set
