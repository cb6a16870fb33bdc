"""Results and arguments as JSON, without losing their types and without pickle.

What JSON has no word for is an object with one `$tag`. Classes are named by module and qualified name, and are looked
up among the modules that the program has imported already: reading a record imports nothing, and calls nothing but the
constructor of a dataclass, a pydantic model or an enum.
"""

from __future__ import annotations

import base64
import dataclasses
import enum
import hashlib
import json
import sys
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

__all__ = ["Unserialisable", "decode", "digest", "encode"]


_TOO_DEEP = "it is nested too deeply, or contains itself"


class Unserialisable(Exception):
    """A value has no faithful JSON form, or a stored one can't be read back in this process."""


def encode(value: object) -> str:
    """The value as JSON text. Raises `Unserialisable` if reading it back would not give the same value."""
    try:
        text = json.dumps(_pack(value, _refuse), separators=(",", ":"))
        again = json.dumps(_pack(decode(text), _refuse), separators=(",", ":"))
    except RecursionError as error:
        raise Unserialisable(_TOO_DEEP) from error
    except Unserialisable:
        raise
    except Exception as error:  # what a class of the program's, or a limit of Python's, makes of a value
        raise Unserialisable(f"{type(value).__qualname__} can't be written: {type(error).__name__}: {error}") from error
    if again != text:
        raise Unserialisable(f"{type(value).__qualname__} does not read back as it was")
    return text


def decode(text: str) -> object:
    """The value of a JSON text written by `encode`. Raises `Unserialisable`."""
    try:
        return _unpack(json.loads(text))
    except Unserialisable:
        raise
    except Exception as error:  # constructors of the program's classes may raise anything
        raise Unserialisable(f"{type(error).__name__}: {error}") from error


def digest(arguments: Mapping[str, object]) -> str:
    """A digest by which two calls' arguments are compared. What has no JSON form counts by its type.

    Secrets count by what they hide, which only the digest leaves with. Raises `Unserialisable` if they can't be read.
    """
    try:
        text = json.dumps(_pack(dict(arguments), _by_type), separators=(",", ":"), sort_keys=True)
    except RecursionError as error:
        raise Unserialisable(_TOO_DEEP) from error
    except Exception as error:  # as in `encode`
        raise Unserialisable(f"{type(error).__name__}: {error}") from error
    return hashlib.sha256(text.encode()).hexdigest()


Fallback = Callable[[object], object]


def _refuse(value: object) -> object:
    raise Unserialisable(f"{type(value).__module__}.{type(value).__qualname__} has no JSON form here")


def _by_type(value: object) -> object:
    if _is_secret(value):
        return {"$secret": [_name(type(value)), _pack(value.get_secret_value(), _by_type)]}  # type: ignore[attr-defined]  # pydantic's, if loaded
    return {"$opaque": f"{type(value).__module__}:{type(value).__qualname__}"}


# Exact types only: a subclass would come back as its base.
_SCALARS: dict[type, tuple[str, Callable[[Any], object], Callable[[Any], object]]] = {
    bytes: ("$bytes", lambda value: base64.b64encode(value).decode("ascii"), base64.b64decode),
    datetime: ("$datetime", datetime.isoformat, datetime.fromisoformat),
    date: ("$date", date.isoformat, date.fromisoformat),
    time: ("$time", time.isoformat, time.fromisoformat),
    timedelta: (
        "$timedelta",
        lambda value: [value.days, value.seconds, value.microseconds],
        lambda parts: timedelta(*parts),
    ),
    Decimal: ("$decimal", str, Decimal),
    UUID: ("$uuid", str, UUID),
}
_READERS = {tag: read for tag, _, read in _SCALARS.values()}


def _pack(value: object, fallback: Fallback) -> object:
    kind = type(value)
    if value is None or kind in (bool, int, float, str):
        return value
    if isinstance(value, datetime | time) and kind in (datetime, time) and isinstance(value.tzinfo, tzinfo):
        return _pack_zoned(value, fallback)
    if kind in _SCALARS:
        tag, write, _ = _SCALARS[kind]
        return {tag: write(value)}
    if isinstance(value, list) and kind is list:
        return [_pack(item, fallback) for item in value]
    if isinstance(value, tuple) and kind is tuple:
        return {"$tuple": [_pack(item, fallback) for item in value]}
    if isinstance(value, set | frozenset) and kind in (set, frozenset):
        packed = [_pack(item, fallback) for item in value]
        return {f"${kind.__name__}": sorted(packed, key=lambda item: json.dumps(item, sort_keys=True))}
    if isinstance(value, dict) and kind is dict:
        if all(type(name) is str and not name.startswith("$") for name in value):
            return {name: _pack(item, fallback) for name, item in value.items()}
        return {"$dict": [[_pack(name, fallback), _pack(item, fallback)] for name, item in value.items()]}
    return _pack_instance(value, fallback)


def _pack_zoned(value: datetime | time, fallback: Fallback) -> object:
    """A time with a zone. ISO's form has the zone's offset at that time only, so a zone's name goes with it."""
    tag, write, _ = _SCALARS[type(value)]
    zone = value.tzinfo
    if type(zone) is timezone:
        return {tag: write(value)}
    if isinstance(zone, ZoneInfo) and zone.key is not None:
        return {"$zoned": [tag, write(value.replace(tzinfo=None)), value.fold, zone.key]}
    return fallback(value) if fallback is _refuse else {tag: write(value)}


def _pack_instance(value: object, fallback: Fallback) -> object:
    kind = type(value)
    if fallback is _refuse and _find(_name(kind)) is not kind:
        return fallback(value)
    if isinstance(value, enum.Enum):
        return {"$enum": [_name(kind), _pack(value.value, fallback)]}
    if dataclasses.is_dataclass(value):
        fields = {field.name: _pack(getattr(value, field.name), fallback) for field in dataclasses.fields(value)}
        return {"$dataclass": [_name(kind), fields]}
    if _is_model(kind):
        return {"$model": [_name(kind), *(_model_text(value) if fallback is _refuse else _model_content(value))]}
    return fallback(value)


def _model_text(value: Any) -> tuple[str]:
    """A model as its own serialiser writes it, if that reads back: it may mask, omit or round what a field held."""
    kind = type(value)
    try:
        text: str = value.model_dump_json()
        again = kind.model_validate_json(text)
    except RecursionError:
        raise
    except Exception as error:  # serialisers and validators of the program's classes may raise anything
        raise Unserialisable(f"{kind.__qualname__} does not read back: {type(error).__name__}: {error}") from error
    if again != value or _model_fields(again) != _model_fields(value):
        raise Unserialisable(f"{kind.__qualname__} does not read back as it was")
    return (text,)


def _model_content(value: Any) -> tuple[object, object]:
    """What a model holds, for a digest: its fields' values, and its own form of those that have none here."""
    try:
        text = value.model_dump_json()
    except ValueError:
        text = None  # a field without a JSON form, which counts by its type like any other such argument
    return text, _model_fields(value)


def _model_fields(value: Any) -> dict[str, object]:
    names = [*type(value).model_fields, *(value.model_extra or {})]
    return {name: _pack(getattr(value, name), _by_type) for name in names}


def _unpack(value: Any) -> object:
    if isinstance(value, list):
        return [_unpack(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) != 1 or not next(iter(value)).startswith("$"):
        return {name: _unpack(item) for name, item in value.items()}
    ((tag, content),) = value.items()
    if tag in _READERS:
        return _READERS[tag](content)
    match tag:
        case "$zoned":
            return _restore_zoned(*content)
        case "$tuple":
            return tuple(_unpack(item) for item in content)
        case "$set":
            return {_unpack(item) for item in content}
        case "$frozenset":
            return frozenset(_unpack(item) for item in content)
        case "$dict":
            return {_unpack(name): _unpack(item) for name, item in content}
    return _unpack_instance(tag, *content)


def _unpack_instance(tag: str, name: str, content: Any) -> object:
    kind = _find(name)
    if tag == "$enum" and isinstance(kind, enum.EnumType):
        return kind(_unpack(content))
    if tag == "$model" and isinstance(kind, type) and _is_model(kind):
        return kind.model_validate_json(content)  # type: ignore[attr-defined]  # pydantic's, if loaded
    if tag == "$dataclass" and isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _restore(kind, {field: _unpack(item) for field, item in content.items()})
    raise Unserialisable(f"{name} is not loaded here, or is no longer what it was")


def _restore(kind: type, values: dict[str, object]) -> object:
    """A dataclass instance: what its constructor takes goes through it, the rest is set as it was."""
    fields = dataclasses.fields(kind)
    instance: object = kind(**{field.name: values.pop(field.name) for field in fields if field.init})
    for name, value in values.items():
        object.__setattr__(instance, name, value)
    return instance


def _restore_zoned(tag: str, text: str, fold: int, key: str) -> object:
    moment: Any = _READERS[tag](text)
    return moment.replace(tzinfo=ZoneInfo(key), fold=fold)


def _is_secret(value: object) -> bool:
    pydantic = sys.modules.get("pydantic")
    return pydantic is not None and isinstance(value, pydantic.SecretStr | pydantic.SecretBytes | pydantic.Secret)


def _is_model(kind: type) -> bool:
    pydantic = sys.modules.get("pydantic")
    return pydantic is not None and issubclass(kind, pydantic.BaseModel)


def _name(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _find(name: str) -> object:
    """The object of that name in a loaded module, or None."""
    module, _, path = name.partition(":")
    found: object = sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    return found
