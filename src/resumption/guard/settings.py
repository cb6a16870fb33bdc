"""Settings that a program gives are looked at where they are given: later, NaN would wait for ever."""

from __future__ import annotations

import math

from resumption.errors import UnusableSetting
from resumption.guard.names import unstorable

__all__ = ["must_be_count", "must_be_one_of", "must_be_seconds", "must_be_storable_text", "must_be_text"]


def must_be_seconds(name: str, value: object) -> None:
    """Refuse what is no span of time."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise UnusableSetting(f"{name}={value!r}.", advice="Give a number of seconds, zero or more.")


def must_be_count(name: str, value: object) -> None:
    """Refuse what is no whole number from zero on."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise UnusableSetting(f"{name}={value!r}.", advice="Give a whole number, zero or more.")


def must_be_one_of(name: str, value: object, *choices: str) -> None:
    """Refuse what is none of the choices."""
    if value not in choices:
        raise UnusableSetting(f"{name}={value!r}.", advice=f"Choose one of {', '.join(map(repr, choices))}.")


def must_be_text(name: str, value: object) -> None:
    """Refuse what is no text."""
    if not isinstance(value, str):
        raise UnusableSetting(f"{name}={value!r}.", advice="Give text, such as 'sqlite:///…' or 'postgresql://…'.")


def must_be_storable_text(name: str, value: str) -> None:
    """Refuse what no store can hold."""
    reason = unstorable(value, longest=None)
    if reason is not None:
        raise UnusableSetting(f"{name}={value!r} {reason}.", advice="Give valid Unicode without NUL.")
