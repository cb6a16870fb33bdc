"""Values of a program (its state, its effects' arguments, its questions) as JSON that two runs can be compared by."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_jsonable_python

from resumption.history.events import Json

__all__ = ["plain"]


def plain(value: Any) -> Json:
    """The value as JSON: a set in an order that doesn't depend on how it was filled, bytes in base64, and the `repr` of
    what JSON can't say."""
    try:
        return to_jsonable_python(_ordered(value), serialize_unknown=True, fallback=repr, bytes_mode="base64")
    except Exception as error:  # a value that contains itself, or whatever the user's own `__repr__` raises
        return {"!repr": f"{type(value).__name__}, which can't be told as JSON: {type(error).__name__}"}


def _ordered(value: Any) -> Any:
    if isinstance(value, set | frozenset):
        return sorted((_ordered(item) for item in value), key=repr)
    if type(value) is dict:
        return {key: _ordered(item) for key, item in value.items()}
    return [_ordered(item) for item in value] if type(value) in (list, tuple) else value
