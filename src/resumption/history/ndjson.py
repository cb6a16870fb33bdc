"""Histories as files: one JSON object a line, a header first, written by many processes at once.

Every line is written with one `write` of newline + object + newline to a file opened for appending. The leading
newline isolates a line that a SIGKILL cut: what follows a torn line is always a line of its own. So a reader can tell a
torn line (no blank line behind it) from a malformed one (properly ended, yet no event); it reports the first and
refuses the second.
"""

from __future__ import annotations

import json
import os
import reprlib
import types
import typing
from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from resumption.errors import HistoryUnreadable
from resumption.history.events import EVENTS, Event, Pending
from resumption.history.history import Header, History
from resumption.history.workload import Corrupt, Effect, Interrupt, Step, Task, Work, Workload

__all__ = [
    "FORMAT",
    "MAX_LINE",
    "Appender",
    "decode_history",
    "encode",
    "jsonable",
    "make_all_decoders",
    "read_history",
]

FORMAT = "resumption.history/1"
MAX_LINE = 16 * 1024 * 1024
"""Longest line that is read, in bytes."""
_MAX_DEPTH = 64

_STEPS: dict[str, type[Any]] = {"effect": Effect, "interrupt": Interrupt, "work": Work, "corrupt": Corrupt}
_STEP_WORDS = {cls: word for word, cls in _STEPS.items()}


# Of a user's object, only so much; and none of the errors that its own `__repr__` may raise.
_SHORT = reprlib.Repr()
_SHORT.maxother = _SHORT.maxstring = 200


class _Malformed(ValueError):
    """A value is not of the shape that its place demands."""


# Encoding: runs inside workers, so it stays cheap -------------------------------------------------------------------


def jsonable(value: object, *, depth: int = _MAX_DEPTH // 2) -> Any:
    """Return `value` as JSON data of at most `depth` levels, so that what is written can be read.

    What JSON can't say, or lies deeper, becomes `{"!repr": "…"}`: seen, never rebuilt.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and value - value == 0:
        return value
    if isinstance(value, dict) and set(value) == {"!repr"} and isinstance(value["!repr"], str):
        return value
    if depth and isinstance(value, list | tuple):
        return [jsonable(item, depth=depth - 1) for item in value]
    if depth and isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: jsonable(item, depth=depth - 1) for key, item in value.items()}
    return {"!repr": _SHORT.repr(value)}


def encode(item: Event | Header) -> bytes:
    """Return the line for an event, or for the header."""
    body: dict[str, Any] = {"kind": item.kind} if isinstance(item, Event) else {"kind": "history", "format": FORMAT}
    for name in _names(type(item)) or ():
        if name != "number":
            body[name] = _plain(getattr(item, name))
    return b"\n" + json.dumps(body, allow_nan=False, separators=(",", ":")).encode() + b"\n"


_NAMES: dict[type[Any], tuple[str, ...] | None] = {}


def _names(cls: type[Any]) -> tuple[str, ...] | None:
    """The names of a class's fields, if it is a dataclass; looked up once for each class."""
    if cls not in _NAMES:
        _NAMES[cls] = tuple(field.name for field in fields(cls)) if is_dataclass(cls) else None
    return _NAMES[cls]


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if (names := _names(type(value))) is not None:
        plain = {name: _plain(getattr(value, name)) for name in names}
        word = _STEP_WORDS.get(type(value))
        return {"step": word, **plain} if word else plain
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return jsonable(value)


class Appender:
    """Appends events to one history file; any number of processes may append at once.

    Open one per process, after the fork. An event whose `append` returned survives a SIGKILL of this process.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def append(self, item: Event | Header) -> None:
        """Write one line, in one system call."""
        line = encode(item)
        written = os.write(self._descriptor, line)
        if written != len(line):
            raise OSError(f"the history file took {written} of {len(line)} bytes of an event; is the disk full?")

    def close(self) -> None:
        """Close the file; the history stays."""
        os.close(self._descriptor)


# Decoding -----------------------------------------------------------------------------------------------------------


def read_history(path: Path) -> History:
    """Read a history file. Raises `HistoryUnreadable`, with the line number, for anything that is not one."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise HistoryUnreadable(
            f"The history {path} can't be read: {error.strerror}.", advice="Check the path and its permissions."
        ) from error
    return decode_history(data, name=str(path))


def decode_history(data: bytes, *, name: str = "history") -> History:
    """Decode the bytes of a history file; `name` stands for it in errors."""
    lines = data.split(b"\n")
    header: Header | None = None
    events: list[Event] = []
    torn: list[int] = []
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        whole = number < len(lines) and (number == len(lines) - 1 or not lines[number])
        try:
            body = _parse(line)
            if header is None:
                header = _decode_header(body)
            else:
                events.append(_decode_event(body, len(events) + 1))
        except _Malformed as error:
            if header is not None and not whole and len(line) <= MAX_LINE:
                torn.append(number)
                continue
            raise HistoryUnreadable(
                f"Line {number} of {name} is not part of a history: {error}.",
                advice=f"A history is a file of format {FORMAT}; take it from a receipt, unedited.",
            ) from error
    if header is None:
        raise HistoryUnreadable(f"{name} holds no history: it is empty.", advice="Record the protocol again.")
    return History(header, tuple(events), tuple(torn))


def _parse(line: bytes) -> dict[str, Any]:
    if len(line) > MAX_LINE:
        raise _Malformed(f"it is {len(line)} bytes long, and {MAX_LINE} are the most")
    try:
        body = json.loads(line, parse_constant=_refuse_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise _Malformed(f"it is no JSON ({error})") from error
    if not isinstance(body, dict):
        raise _Malformed(f"it is a JSON {type(body).__name__}, not an object")
    _check_depth(body)
    return body


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def _finite(word: str) -> float:
    if (number := float(word)) - number != 0:
        raise ValueError(f"{word} is too large a number")
    return number


def _check_depth(value: Any) -> None:
    level: list[Any] = [value]
    for _ in range(_MAX_DEPTH):
        level = [item for part in level for item in _parts(part)]
        if not level:
            return
    raise _Malformed(f"it is nested more than {_MAX_DEPTH} levels deep")


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _decode_header(body: dict[str, Any]) -> Header:
    if body.pop("kind", None) != "history":
        raise _Malformed("a history begins with its header")
    if (format_ := body.pop("format", None)) != FORMAT:
        raise _Malformed(f"its format is {format_!r}, and this version reads {FORMAT}")
    header: Header = _build(Header, body)
    return header


def _decode_event(body: dict[str, Any], number: int) -> Event:
    kind = body.pop("kind", None)
    if not isinstance(kind, str) or kind not in EVENTS:
        raise _Malformed(f"there is no event of the kind {kind!r}")
    event: Event = _build(EVENTS[kind], body, number=number)
    return event


def _build(cls: type[Any], body: Any, **extra: Any) -> Any:
    if not isinstance(body, dict):
        raise _Malformed(f"a {cls.__name__} is an object, not {body!r:.80}")
    decoders = _decoders(cls)
    if unknown := sorted(set(body) - set(decoders)):
        raise _Malformed(f"a {cls.__name__} has no field {unknown[0]!r}")
    values = {}
    for key, decoder in decoders.items():
        if key in body:
            values[key] = decoder.decode(body[key], f"{cls.__name__}.{key}")
        elif decoder.required and key not in extra:
            raise _Malformed(f"a {cls.__name__} needs the field {key!r}")
    return cls(**values, **extra)


@dataclass(frozen=True, slots=True)
class _Decoder:
    decode: Callable[[Any, str], Any]
    required: bool


_DECODERS: dict[type[Any], dict[str, _Decoder]] = {}


def _decoders(cls: type[Any]) -> dict[str, _Decoder]:
    if cls not in _DECODERS:
        _DECODERS[cls] = _make_decoders(cls)
    return _DECODERS[cls]


def make_all_decoders() -> None:
    """Make what else is made when a class is first decoded: for processes that will be forked, once for all of them."""
    for cls in (Header, Workload, Task, Pending, *_STEPS.values(), *EVENTS.values()):
        _decoders(cls)


def _make_decoders(cls: type[Any]) -> dict[str, _Decoder]:
    hints = typing.get_type_hints(cls)
    return {
        field.name: _Decoder(_decoder(hints[field.name]), field.default is MISSING)
        for field in fields(cls)
        if field.name != "number"
    }


def _decoder(hint: Any) -> Callable[[Any, str], Any]:
    if hint is Any:
        return lambda value, _: value
    if hint == Step:
        return _decode_step
    if typing.get_origin(hint) is tuple:
        item = _decoder(typing.get_args(hint)[0])
        return lambda value, place: _decode_tuple(value, place, item)
    if isinstance(hint, types.GenericAlias | types.UnionType):
        raise TypeError(f"no decoder for {hint}")
    if issubclass(hint, Enum):
        return lambda value, place: _decode_enum(value, place, hint)
    if hint in (Task, Workload, Pending):
        return lambda value, _: _build(hint, value)
    return lambda value, place: _decode_scalar(value, place, hint)


def _decode_scalar(value: Any, place: str, hint: type[Any]) -> Any:
    if hint is float and type(value) is int:
        return float(value)
    if type(value) is not hint:
        raise _Malformed(f"{place} is a {hint.__name__}, not {value!r:.80}")
    return value


def _decode_enum(value: Any, place: str, hint: type[Enum]) -> Enum:
    try:
        return hint(value)
    except ValueError:
        raise _Malformed(f"{place} can't be {value!r:.80}") from None


def _decode_tuple(value: Any, place: str, item: Callable[[Any, str], Any]) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise _Malformed(f"{place} is a list, not {value!r:.80}")
    return tuple(item(part, place) for part in value)


def _decode_step(value: Any, place: str) -> Any:
    word = value.get("step") if isinstance(value, dict) else None
    if not isinstance(word, str) or word not in _STEPS:
        raise _Malformed(f"{place} is no step of a task: {value!r:.80}")
    return _build(_STEPS[word], {key: part for key, part in value.items() if key != "step"})


def encode_workload(workload: Workload) -> Any:
    """Return a workload as JSON data."""
    return _plain(workload)


def decode_workload(data: Any) -> Workload:
    """Return the workload that `encode_workload` made `data` of."""
    workload: Workload = _build(Workload, data)
    return workload


def encode_history(history: History) -> bytes:
    """Return a whole history as the bytes of its file, without the lines that were torn."""
    return encode(history.header) + b"".join(encode(event) for event in history.events)
