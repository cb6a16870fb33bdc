"""Which effect the running code belongs to."""

from __future__ import annotations

import hashlib
from collections.abc import Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass

from resumption.errors import EffectRunning, KeyUnusable

__all__ = ["Attempt", "current_key", "is_inside", "making", "refuse_reentry"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at an effect, as far as the code inside it can tell."""

    key: str
    generation: int


_attempts: ContextVar[tuple[Attempt, ...]] = ContextVar("resumption_attempts", default=())


def current_key() -> str:
    """The idempotency key to hand to the provider, inside an effect (or its `verify`).

    A short, stable string: the same in every attempt that may have fired, in every process. After a declared
    `not_fired` exception it changes, since a provider that deduplicates would repeat the failure it has stored.
    Raises `KeyUnusable` outside an effect.
    """
    attempts = _attempts.get()
    if not attempts:
        raise KeyUnusable("No effect is running here.", advice="Call current_key() inside the decorated function.")
    innermost = attempts[-1]
    text = f"{innermost.generation}:{innermost.key}"
    return "rsm-" + hashlib.sha256(text.encode()).hexdigest()[:40]


@contextmanager
def making(attempt: Attempt) -> Generator[None]:
    """The code in the block belongs to this attempt."""
    token = _attempts.set((*_attempts.get(), attempt))
    try:
        yield
    finally:
        # A coroutine that is destroyed with its event loop ends in whatever context the collector runs in.
        with suppress(ValueError):
            _attempts.reset(token)


def is_inside(key: str) -> bool:
    """Whether the running code belongs to an attempt at this effect."""
    return any(attempt.key == key for attempt in _attempts.get())


def refuse_reentry(key: str) -> None:
    """An effect that calls itself under its own key would wait for its own end."""
    if any(attempt.key == key for attempt in _attempts.get()):
        raise EffectRunning(
            f"The effect {key!r} calls itself under its own key.",
            advice="Give the inner call a key of its own.",
            key=key,
        )
