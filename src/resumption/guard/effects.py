"""`@effect`: a function whose calls fire once per key. See `docs/effects.md` for the failure model."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, ParamSpec, TypeVar, cast

from resumption.decide import admit as decide
from resumption.errors import KeyUnusable, UnsupportedEffect
from resumption.guard.attempts import current_key
from resumption.guard.codec import Unserialisable, digest
from resumption.guard.course import Call, course
from resumption.guard.ledger import Ledger
from resumption.guard.scope import BRANCH, KeyScope, branch_key, explicit_key, lease_check, task_key, task_scope
from resumption.guard.steps import Course, aperform, perform
from resumption.guard.transaction import course_inside, open_transaction
from resumption.guard.verification import Fired, NotFired, Unknown, Verification

__all__ = ["Fired", "Ledger", "NotFired", "Unknown", "Verification", "current_key", "effect", "task_scope"]

P = ParamSpec("P")
R = TypeVar("R")

OnDoubt = Literal["raise", "retry"] | Callable[..., Any]


def effect(
    ledger: Ledger,
    *,
    key: str | Callable[..., str] | None = None,
    scope: KeyScope | None = None,
    on_doubt: OnDoubt = "raise",
    idempotent: bool = False,
    not_fired: tuple[type[Exception], ...] = (),
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function, sync or async, fire once per key; other calls with that key are served its recorded result.

    `key`: names the effect in the world, or is called with the function's arguments to do so. It is used as written in
    every branch of a run (`scope="run"`), or told apart by branch (`scope="branch"`). Without a key, the effect is
    named after the branch, the task and the ordinal of the call in it.

    `on_doubt`: what to do when nobody knows whether an earlier attempt fired. `"raise"` raises `InDoubt`; `"retry"`
    fires again what may have fired, for calls that may happen twice; a callable is asked, with the function's
    arguments, and answers `Fired(result)`, `NotFired()` or `Unknown()`. The last two policies act only when the earlier
    attempt is proven to be over.
    `idempotent=True` says that the provider deduplicates by `current_key()`: then `"retry"` needs no proof.

    `not_fired`: exceptions that mean that the effect did not happen. After any other it is in doubt.

    Calls raise `InDoubt`, `KeyReused`, `EffectRunning`, `ResultAbsent`, `KeyUnusable` or `LedgerUnavailable` without
    having fired, and `Unrecorded` or `Superseded`, which carry the result, after having fired. Generators are refused
    with `UnsupportedEffect`.
    """
    if not isinstance(ledger, Ledger):
        raise UnsupportedEffect(
            f"{ledger!r} is no ledger.", advice='Write @effect(ledger, key=…), with ledger = Ledger("sqlite:///…").'
        )
    if key is None and scope is not None:
        raise KeyUnusable("A default key is branch-scoped.", advice="Leave out scope, or give a key.")

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        _refuse_unsupported(function, on_doubt, idempotent)
        made = _Effect(ledger, function, inspect.signature(function), key, scope, on_doubt, idempotent, not_fired)
        if _is_async(function):

            @functools.wraps(function)
            async def asynchronous(*args: P.args, **kwargs: P.kwargs) -> Any:
                return await aperform(made.course(args, kwargs), ledger.executor)

            return cast(Callable[P, R], asynchronous)

        @functools.wraps(function)
        def blocking(*args: P.args, **kwargs: P.kwargs) -> R:
            return cast(R, perform(made.course(args, kwargs)))

        return blocking

    return decorate


@dataclass(frozen=True, slots=True)
class _Effect:
    """A decorated function and what was said about it."""

    ledger: Ledger
    function: Callable[..., Any]
    signature: inspect.Signature
    key: str | Callable[..., str] | None
    scope: KeyScope | None
    on_doubt: OnDoubt
    idempotent: bool
    not_fired: tuple[type[Exception], ...]

    def course(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Course[object]:
        """The course of one call, inside the caller's transaction if there is one on this ledger."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        verify = self.on_doubt if callable(self.on_doubt) else None
        call = Call(
            key=self._key(args, kwargs),
            arguments=self._digest(bound.arguments),
            on_doubt=decide.VERIFY if verify is not None else str(self.on_doubt),
            idempotent=self.idempotent,
            not_fired=self.not_fired,
            invoke=partial(self._invoke, *args, **kwargs),
            verify=None if verify is None else partial(verify, *args, **kwargs),
            must_hold=lease_check(),
        )
        transaction = open_transaction(self.ledger)
        if transaction is None:
            return course(self.ledger, call)
        if transaction.is_async and not _is_async(self.function):
            raise UnsupportedEffect(
                f"{self.function!r} can't use the asynchronous transaction around it.", advice="Make it a coroutine."
            )
        return course_inside(transaction, call)

    def _digest(self, arguments: Mapping[str, Any]) -> str:
        try:
            return digest(arguments)
        except Unserialisable as error:
            raise UnsupportedEffect(
                f"The arguments of {self.function!r} can't be told from those of another call: {error}.",
                advice="Nothing was fired. Pass what identifies the effect, and let the function look up the rest.",
            ) from error

    def _key(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        if self.key is None:
            return task_key(f"{self.function.__module__}:{getattr(self.function, '__qualname__', repr(self.function))}")
        key = explicit_key(self.key(*args, **kwargs) if callable(self.key) else self.key)
        return branch_key(key) if self.scope == BRANCH else key

    def _invoke(self, *args: Any, **kwargs: Any) -> Any:
        outcome = self.function(*args, **kwargs)
        if inspect.isawaitable(outcome) and not _is_async(self.function):
            raise UnsupportedEffect(
                f"{self.function!r} returned an awaitable, so what it does has not happened yet.",
                advice="Decorate the coroutine function itself.",
            )
        return outcome


def _is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004 — asks whether __call__ is a coroutine, not whether there is one


def _refuse_unsupported(function: Callable[..., Any], on_doubt: OnDoubt, idempotent: bool) -> None:
    """Refuse at decoration what would be wrong at every call."""
    if not callable(function):
        raise UnsupportedEffect(
            f"{function!r} can't be called.",
            advice="Decorate a function. @classmethod and @staticmethod go above @effect.",
        )
    called = getattr(function, "__call__", function)  # noqa: B004 — likewise
    for one in (function, called):
        if inspect.isgeneratorfunction(one) or inspect.isasyncgenfunction(one):
            raise UnsupportedEffect(
                f"{function!r} is a generator: it has no single moment at which it has fired.",
                advice="Make each thing it does an effect of its own, and loop over those.",
            )
    if not callable(on_doubt) and on_doubt not in (decide.RAISE, decide.RETRY):
        raise UnsupportedEffect(f"on_doubt={on_doubt!r}.", advice='Use "raise", "retry" or a callable.')
    if idempotent and on_doubt != decide.RETRY:
        raise UnsupportedEffect("idempotent=True without retries.", advice='Add on_doubt="retry".')
    if callable(on_doubt) and _is_async(on_doubt) and not _is_async(function):
        raise UnsupportedEffect(
            f"{function!r} can't await its verify callable.", advice="Make both sync, or both async."
        )
