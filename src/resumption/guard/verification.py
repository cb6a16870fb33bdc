"""What a `verify` callable answers: did the effect in doubt fire?"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Fired", "NotFired", "Unknown", "Verification"]


@dataclass(frozen=True, slots=True)
class Fired:
    """It did. `result` is what the call would have returned; it becomes the record's."""

    result: object = None


@dataclass(frozen=True, slots=True)
class NotFired:
    """It did not, and no request of the dead owner is still on its way: the effect is fired now."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Can't tell now: the call gets `InDoubt`."""


Verification = Fired | NotFired | Unknown
