"""The names of kill points: the places that a program passes, at any of which its process can be made to fail.

A name says what is passed, which one of its kind, and where: `task:NAME:start`, `effect:NAME:before`,
`effect:NAME:after`, `interrupt:NAME:after`, `persist:NAME:before`, `persist:NAME:after`. They are made and
read here only.
"""

from __future__ import annotations

__all__ = [
    "consumed",
    "effect_after",
    "effect_before",
    "is_after",
    "is_at_effect",
    "is_at_persist",
    "is_effect_after",
    "is_persist_before",
    "is_task_start",
    "persist_after",
    "persist_before",
    "task_start",
]

_TASK, _EFFECT, _INTERRUPT, _PERSIST = "task:", "effect:", "interrupt:", "persist:"
_START, _BEFORE, _AFTER = ":start", ":before", ":after"


def task_start(task: str) -> str:
    """The start of a task's body."""
    return f"{_TASK}{task}{_START}"


def effect_before(effect: str) -> str:
    """The moment before an effect fires."""
    return f"{_EFFECT}{effect}{_BEFORE}"


def effect_after(effect: str) -> str:
    """The moment after an effect fired."""
    return f"{_EFFECT}{effect}{_AFTER}"


def consumed(interrupt: str) -> str:
    """The moment after a gate received a decision. To be killed there is no other than at what comes next, so that
    sweeps pass it by; to fail there is, where a gate asks again."""
    return f"{_INTERRUPT}{interrupt}{_AFTER}"


def persist_before(operation: str) -> str:
    """The moment before a storage operation."""
    return f"{_PERSIST}{operation}{_BEFORE}"


def persist_after(operation: str) -> str:
    """The moment after a storage operation: it is durable."""
    return f"{_PERSIST}{operation}{_AFTER}"


def is_task_start(point: str) -> bool:
    """Whether a task starts at the point."""
    return point.startswith(_TASK)


def is_at_effect(point: str) -> bool:
    """Whether the point is right before or after an effect."""
    return point.startswith(_EFFECT)


def is_effect_after(point: str) -> bool:
    """Whether an effect has just fired at the point."""
    return is_at_effect(point) and is_after(point)


def is_at_persist(point: str) -> bool:
    """Whether the point is right before or after a storage operation."""
    return point.startswith(_PERSIST)


def is_persist_before(point: str) -> bool:
    """Whether a storage operation is about to be made at the point."""
    return is_at_persist(point) and point.endswith(_BEFORE)


def is_after(point: str) -> bool:
    """Whether something that can't be undone has just happened at the point: an effect, or a durable write."""
    return point.endswith(_AFTER)
