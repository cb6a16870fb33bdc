"""Exchanges a function for another one, for everybody who has it already.

A tool, a node or a closure keeps the function itself, so that exchanging its name in its module is not enough. What is
exchanged is the function's code.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

from resumption.errors import EffectNotFound
from resumption.guard.effects import effect

__all__ = ["Found", "exchange", "find"]

_REGISTER = "__resumption_drill__"
_NAME = "the function's name"  # exchanged in the code below for the name that stands in the register


def _blocking(*args: Any, **kwargs: Any) -> Any:
    return __resumption_drill__["the function's name"](*args, **kwargs)  # type: ignore[name-defined]  # noqa: F821 — bound at the exchange


async def _awaited(*args: Any, **kwargs: Any) -> Any:
    return await __resumption_drill__["the function's name"](*args, **kwargs)  # type: ignore[name-defined]  # noqa: F821 — bound at the exchange


class Found:
    """A function that was found under a name, as it was before it is exchanged."""

    def __init__(self, name: str, function: types.FunctionType, *, ledgered: bool) -> None:
        self.name = name
        self.function = function
        self.ledgered = ledgered
        """Whether the program has the function behind `@effect`."""
        self.signature = inspect.signature(function)
        self.is_async = inspect.iscoroutinefunction(function)
        self.original: Callable[..., Any] = _copy(function)
        """Does what the function did, after the exchange too."""


def find(name: str, named: Any) -> Found:
    """The function behind what a name leads to: under decorators, in a tool, or bound to an object.

    Raises `EffectNotFound` if there is none that can be exchanged.
    """
    function = getattr(named, "func", None) or getattr(named, "coroutine", None) or named
    function = getattr(function, "__func__", function)
    ledgered = False
    while (inner := getattr(function, "__wrapped__", None)) is not None:
        ledgered = ledgered or getattr(function, "__globals__", {}).get("__name__") == effect.__module__
        function = getattr(inner, "__func__", inner)
    if not isinstance(function, types.FunctionType):
        raise EffectNotFound(
            f"{name} is a {type(named).__name__}, and no function written in Python.",
            advice="Name the function of yours that calls it.",
        )
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function) or function.__code__.co_freevars:
        raise EffectNotFound(
            f"{name} can't be exchanged: it is a generator, or is bound to names of a function around it.",
            advice="Make the call to the outside a function of a module.",
        )
    return Found(name, function, ledgered=ledgered)


def exchange(found: Found, by: Callable[..., Any]) -> None:
    """From now on, whoever calls the function calls `by`."""
    function = found.function
    model = _awaited if found.is_async else _blocking
    constants = tuple(found.name if constant == _NAME else constant for constant in model.__code__.co_consts)
    function.__globals__.setdefault(_REGISTER, {})[found.name] = by
    function.__signature__ = found.signature  # type: ignore[attr-defined]  # who asks for it sees no change
    function.__code__ = model.__code__.replace(co_consts=constants, co_name=function.__name__)


def _copy(function: types.FunctionType) -> Callable[..., Any]:
    copy = types.FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return functools.wraps(function)(copy)
