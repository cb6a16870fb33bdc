"""A named function is exchanged for everybody who has it already, and can still be called by itself."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from resumption import Ledger, effect
from resumption.errors import EffectNotFound
from resumption.planes.drill.exchange import exchange, find
from resumption.planes.drill.stubs import stub_value

_SOURCE = """
import functools

def charge(amount: int, *, times: int = 1) -> str:
    return f"real {amount * times}"

async def acharge(amount: int) -> str:
    return f"real {amount}"

class Client:
    def charge(self, amount: int) -> str:
        return f"real {amount}"

def traced(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return "traced " + function(*args, **kwargs)
    return wrapper

@traced
def decorated(amount: int) -> str:
    return f"real {amount}"

held = [charge]
"""


@pytest.fixture
def module() -> Any:
    """A user's module, fresh for each test."""
    made = ModuleType("app")
    exec(compile(_SOURCE, "app.py", "exec"), made.__dict__)
    return made


def test_whoever_holds_the_function_calls_the_other_one(module: Any) -> None:
    partial = functools.partial(module.charge, 3)
    found = find("app:charge", module.charge)
    exchange(found, lambda amount, **_: f"stub {amount}")
    assert module.charge(1) == module.held[0](1) == "stub 1"
    assert partial() == "stub 3"
    assert found.original(2, times=3) == "real 6"
    assert list(inspect.signature(module.charge).parameters) == ["amount", "times"]


def test_a_coroutine_function_stays_one(module: Any) -> None:
    found = find("app:acharge", module.acharge)

    async def stub(amount: int) -> str:
        return f"stub {amount}, {await found.original(amount)}"

    exchange(found, stub)
    assert inspect.iscoroutinefunction(module.acharge)
    assert asyncio.run(module.acharge(1)) == "stub 1, real 1"


def test_what_decorates_the_function_stays(module: Any) -> None:
    exchange(find("app:decorated", module.decorated), lambda amount: f"stub {amount}")
    assert module.decorated(1) == "traced stub 1"


def test_a_method_is_exchanged_for_every_object(module: Any) -> None:
    client = module.Client()
    exchange(find("app:Client.charge", client.charge), lambda self, amount: f"stub {amount}")
    assert client.charge(1) == module.Client().charge(1) == "stub 1"


def test_a_function_behind_effect_is_known_as_such(module: Any, tmp_path: Any) -> None:
    ledgered: Callable[..., Any] = effect(Ledger(f"sqlite:///{tmp_path}/effects.db"), key="k")(module.charge)
    assert find("app:charge", ledgered).ledgered
    assert not find("app:decorated", module.decorated).ledgered


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(EffectNotFound, match="builtins:len is a builtin_function_or_method"):
        find("builtins:len", len)


def test_the_stub_returns_something_empty_that_the_annotation_allows() -> None:
    def text() -> str: ...  # type: ignore[empty-body]  # a stub's text is its signature
    def perhaps() -> int | None: ...
    def pairs() -> dict[str, int]: ...  # type: ignore[empty-body]  # a stub's text is its signature
    def silent(): ...  # type: ignore[no-untyped-def]  # what a program without annotations has

    found = [stub_value("f", function, {}) for function in (text, perhaps, pairs, silent)]
    assert found == ["", None, {}, None]
    assert stub_value("f", text, {"f": "given"}) == "given"
