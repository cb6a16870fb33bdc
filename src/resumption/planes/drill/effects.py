"""The effects of a drilled program: each named function becomes one whose call is a committed row in the oracle."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from langgraph.config import get_config

from resumption.errors import KeyUnusable, TargetNotFound
from resumption.guard.attempts import current_key
from resumption.guard.effects import Fired, Ledger, NotFired, Verification, effect
from resumption.history.events import Json
from resumption.planes.drill.exchange import Found, exchange, find
from resumption.planes.drill.plain import plain
from resumption.planes.drill.programs import fetch
from resumption.planes.drill.settings import OUTSIDE, Settings, short_name
from resumption.planes.drill.stubs import stub_value
from resumption.planes.interface import Instruments

__all__ = ["Exchanged", "Record", "install", "keep_ledgers_in", "put_behind"]


class Record(Instruments, Protocol):
    """The bench, where an effect may also be a call of the program's own, and where it can be asked for afterwards."""

    def effect(self, effect: str, *, task: str, value: Json) -> AbstractContextManager[None]:
        """Bracket what fires an effect: its row is committed at the end of the block, if that ends without an error."""

    def fired(self, effect: str, key: str) -> bool:
        """Whether the record has a call of the effect with this idempotency key, as a provider knows it."""


@dataclass(frozen=True, slots=True)
class Exchanged:
    """An effect whose calls are on record."""

    found: Found
    fire: Callable[..., Any]
    """What is called in its place."""
    stub: Any
    """What that returns; None where the effect really runs."""


def keep_ledgers_in(folder: Path) -> None:
    """From now on, each `Ledger` that the program opens is a file in `folder`: a drill must not write down, in the
    ledger that production reads, that effects have fired which were stubbed."""
    opened = Ledger.__init__

    def open_here(self: Ledger, url: str, **options: Any) -> None:
        opened(self, f"sqlite:///{folder / 'program-ledger.sqlite'}", **options)

    Ledger.__init__ = open_here  # type: ignore[method-assign]  # replaced on purpose


def install(settings: Settings, record: Record) -> list[Exchanged]:
    """Exchange what the settings name as effects and stubs, and return the effects.

    Comes before the program is imported and made, for its modules and its factory may call an effect as well.
    """
    _import_named(settings)
    exchanged = []
    for name in settings.effects:
        found = find(name, fetch(name, settings.folder))
        stub = None if settings.real_effects else stub_value(name, found.function, settings.stubs)
        fire = _recorder(found, settings, record, stub)
        exchange(found, fire)
        exchanged.append(Exchanged(found, fire, stub))
    for name in settings.stubs.keys() - set(settings.effects):
        found = find(name, fetch(name, settings.folder))
        exchange(found, _constant(found, stub_value(name, found.function, settings.stubs)))
    return exchanged


def put_behind(ledger: Ledger, exchanged: Iterable[Exchanged], settings: Settings, record: Record) -> None:
    """Put effects behind `@effect`, but for those that the program has there already."""
    for one in exchanged:
        if not one.found.ledgered:
            # Of what really fires, nobody here can say whether it did.
            on_doubt = "raise" if settings.real_effects else _verify(one.found, settings, record, one.stub)
            exchange(one.found, effect(ledger, on_doubt=on_doubt)(one.fire))  # type: ignore[arg-type]  # either kind


def _import_named(settings: Settings) -> None:
    """Import what is to be exchanged. Modules that import each other may ask for the program to be imported first."""
    try:
        for name in (*settings.effects, *settings.stubs):
            fetch(name, settings.folder)
    except TargetNotFound:
        fetch(settings.target, settings.folder)


def _recorder(found: Found, settings: Settings, record: Record, stub: Any) -> Callable[..., Any]:
    """The function whose call is the effect."""
    name = short_name(found.name, settings.effects)

    def bracket(args: tuple[Any, ...], kwargs: dict[str, Any]) -> AbstractContextManager[None]:
        task, execution = _where()
        value = {"arguments": _arguments(found.signature, args, kwargs), "execution": execution, "key": _key()}
        return record.effect(name, task=task, value=value)

    if found.is_async:

        async def asynchronous(*args: Any, **kwargs: Any) -> Any:
            with bracket(args, kwargs):
                return await found.original(*args, **kwargs) if settings.real_effects else stub

        return _named(asynchronous, found)

    def blocking(*args: Any, **kwargs: Any) -> Any:
        with bracket(args, kwargs):
            return found.original(*args, **kwargs) if settings.real_effects else stub

    return _named(blocking, found)


def _verify(found: Found, settings: Settings, record: Record, stub: Any) -> Callable[..., Verification]:
    """Asks the record whether the effect in doubt fired, as a program asks its provider."""
    name = short_name(found.name, settings.effects)

    def verify(*_: Any, **__: Any) -> Verification:
        return Fired(stub) if record.fired(name, current_key()) else NotFired()

    return verify


def _constant(found: Found, value: Any) -> Callable[..., Any]:
    if found.is_async:

        async def asynchronous(*_: Any, **__: Any) -> Any:
            return value

        return asynchronous
    return lambda *_, **__: value


def _named(function: Callable[..., Any], found: Found) -> Callable[..., Any]:
    """With the name and the parameters of the function that it stands for, by which `@effect` makes keys."""
    function.__module__, function.__qualname__ = found.function.__module__, found.function.__qualname__
    function.__signature__ = found.signature  # type: ignore[attr-defined]  # inspect reads it
    return function


def _where() -> tuple[str, str]:
    """The node that fires, as `outer/inner`, and what tells this execution of it from others."""
    try:
        namespace = str(get_config()["configurable"].get("checkpoint_ns", ""))
    except RuntimeError:
        return OUTSIDE, ""
    path = "/".join(part.partition(":")[0] for part in namespace.split("|") if part)
    return path or OUTSIDE, namespace


def _arguments(signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Json:
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    own = {name: value for name, value in bound.arguments.items() if name not in ("self", "cls")}
    for name, parameter in signature.parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            own |= own.pop(name)  # each under its own name, by which --key finds it
    return {name: plain(value) for name, value in own.items()}


def _key() -> str:
    """The idempotency key of the call, if it is made behind `@effect`."""
    try:
        return current_key()
    except KeyUnusable:
        return ""
