"""What a stubbed function returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_type_hints

from pydantic import PydanticSchemaGenerationError, PydanticUndefinedAnnotation, TypeAdapter, ValidationError

from resumption.errors import StubMissing
from resumption.history.events import Json

__all__ = ["stub_value"]

_EMPTY: tuple[Json, ...] = (None, "", 0, 0.0, True, [], {})
"""What is tried in turn, where nobody says what a stub returns."""


def stub_value(name: str, function: Callable[..., Any], given: dict[str, Json]) -> Any:
    """The value that stands for what `function` would have returned: the one given, or the first empty one that its
    annotation allows. A given value is made what the annotation asks for, such as a model.

    Raises `StubMissing` if none is given and the annotation allows nothing empty, or if it excludes the given one.
    """
    adapter = _adapter(function)
    if name in given:
        try:
            return adapter.validate_python(given[name]) if adapter else given[name]
        except ValidationError as error:
            raise StubMissing(
                f"The stub of {name} can't be {given[name]!r}: {error.errors()[0]['msg']}.",
                advice="Give a value that its annotation allows.",
            ) from error
    for value in _EMPTY:
        if adapter is None or _allows(adapter, value):
            return value
    raise StubMissing(
        f"Nothing empty stands for what {name} returns.", advice=f"Say what its stub returns: --stub {name}=JSON."
    )


def _adapter(function: Callable[..., Any]) -> TypeAdapter[Any] | None:
    try:
        hints = get_type_hints(function)
        return TypeAdapter(hints["return"]) if "return" in hints else None
    except (NameError, TypeError, PydanticSchemaGenerationError, PydanticUndefinedAnnotation):
        return None  # an annotation that means nothing at run time binds nobody


def _allows(adapter: TypeAdapter[Any], value: Json) -> bool:
    try:
        adapter.validate_python(value, strict=True)
    except ValidationError:
        return False
    return True
