"""The history format: what is written is read back, and what is not a history is refused by line."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resumption.errors import HistoryUnreadable
from resumption.history import ndjson
from resumption.history.events import EVENTS, Event, Pending, Persist, Phase, Recover, Start, TaskStart
from resumption.history.history import Header, History
from resumption.history.ndjson import FORMAT, Appender, decode_history, encode, encode_history, jsonable, read_history
from resumption.history.workload import Corrupt, Effect, Interrupt, Shape, Task, Work, Workload, WriteFault

HEADER = Header(probe="p", plane="x", path="graph", backend="sqlite", form="no-input", workload=Workload(()))
TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
STEPS = st.one_of(
    TEXT.map(Effect),
    TEXT.map(Interrupt),
    st.floats(0, 10).map(Work),
    st.sampled_from(WriteFault).map(Corrupt),
)
WORKLOADS = st.builds(
    Workload,
    st.lists(st.builds(Task, TEXT, st.lists(STEPS, max_size=3).map(tuple)), max_size=3).map(tuple),
    st.sampled_from(Shape),
)
HEADERS = st.builds(Header, probe=TEXT, plane=TEXT, path=TEXT, backend=TEXT, form=TEXT, workload=WORKLOADS)


def values_of(hint: Any) -> st.SearchStrategy[Any]:
    """Values of a field's type; a list in a JSON field stays a list."""
    if hint is Any:
        return JSON
    if get_origin(hint) is tuple:
        return st.lists(values_of(get_args(hint)[0]), max_size=3).map(tuple)
    if hint is Pending:
        return st.builds(Pending, identity=TEXT, name=TEXT)
    if hint is Workload:
        return WORKLOADS
    simple = {int: st.integers(), str: TEXT, bool: st.booleans()}
    return simple[hint] if hint in simple else st.sampled_from(hint)


def events_of(kind: type[Event]) -> st.SearchStrategy[Event]:
    hints = get_type_hints(kind)
    return st.builds(kind, **{f.name: values_of(hints[f.name]) for f in fields(kind) if f.name != "number"})


EVENTS_OF_ANY_KIND = st.one_of([events_of(kind) for kind in EVENTS.values()])


def lines(*items: Event | Header) -> bytes:
    return b"".join(encode(item) for item in items)


def decoded(data: bytes) -> History | HistoryUnreadable:
    """What a reader gets: a history, or the one error that it has to expect."""
    try:
        return decode_history(data)
    except HistoryUnreadable as error:
        return error


def refusal(data: bytes) -> str:
    with pytest.raises(HistoryUnreadable) as caught:
        decode_history(data, name="h.ndjson")
    assert caught.value.code == "RSM-101"
    return caught.value.what


# What is written is read back ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", EVENTS.values(), ids=str)
def test_event_of_each_kind_survives_the_round_trip(kind: type[Event]) -> None:
    @settings(max_examples=30, deadline=None)
    @given(events_of(kind))
    def survives(event: Event) -> None:
        (read,) = decode_history(lines(HEADER, event)).events
        assert (type(read), read, read.number) == (kind, event, 1)
        assert encode(read) == encode(event)

    survives()


@settings(max_examples=100, deadline=None)
@given(HEADERS, st.lists(EVENTS_OF_ANY_KIND, max_size=6))
def test_history_survives_the_round_trip_with_its_events_numbered(header: Header, events: list[Event]) -> None:
    read = decode_history(lines(header, *events))
    assert decode_history(encode_history(read)) == read
    assert (read.header, list(read.events), read.torn) == (header, events, ())
    assert [event.number for event in read.events] == list(range(1, len(events) + 1))


@given(EVENTS_OF_ANY_KIND)
def test_an_event_is_one_line_between_two_newlines(event: Event) -> None:
    line = encode(event)
    assert line.startswith(b"\n")
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 2


def test_defaults_may_be_left_out_of_a_file() -> None:
    body = b'\n{"kind":"start","process":1,"value":null}\n'
    assert decode_history(lines(HEADER) + body).events == (Start(process=1, value=None),)


def test_what_json_cannot_say_is_shown_and_not_rebuilt() -> None:
    odd = {"when": {1, 2}, "nan": float("nan"), "pair": (1, 2), "deep": {3: 4}}
    assert jsonable(odd) == {
        "when": {"!repr": "{1, 2}"}, "nan": {"!repr": "nan"}, "pair": [1, 2], "deep": {"!repr": "{3: 4}"}
    }  # fmt: skip
    (read,) = decode_history(lines(HEADER, Start(process=1, value=odd))).events
    assert isinstance(read, Start)
    assert read.value["when"] == {"!repr": "{1, 2}"}


class Unprintable:
    """An object of user code whose representation fails."""

    def __repr__(self) -> str:
        raise RuntimeError


def test_what_has_no_end_or_no_representation_is_still_written_and_read() -> None:
    endless: list[object] = []
    endless.append(endless)
    deep: object = 1
    for _ in range(5000):
        deep = [deep]
    for value in (endless, deep, Unprintable(), {"a": [Unprintable()]}):
        history = decode_history(lines(HEADER, Start(process=1, value=value)))
        assert "!repr" in json.dumps([start.value for start in history.of(Start)])
        assert decode_history(encode_history(history)) == history


def test_file_is_appended_to_and_read(tmp_path: Path) -> None:
    path = tmp_path / "h.ndjson"
    for item in (HEADER, Start(process=1, value={}), Recover(process=2, form="input")):
        appender = Appender(path)
        appender.append(item)
        appender.close()
    assert read_history(path) == History(HEADER, (Start(process=1, value={}), Recover(process=2, form="input")))


def test_disk_that_takes_half_a_line_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    appender = Appender(tmp_path / "h.ndjson")
    monkeypatch.setattr(ndjson.os, "write", lambda descriptor, line: len(line) - 1)
    with pytest.raises(OSError, match="is the disk full"):
        appender.append(HEADER)
    monkeypatch.undo()
    appender.close()


# What is not a history is refused ------------------------------------------------------------------------------------


def event_line(**changes: object) -> bytes:
    """A whole line of an event, with changes; a change to `...` leaves the field out."""
    body = {"kind": "persist", "process": 1, "phase": "end", "item": "i", "name": "put", "covers": ["a"]} | changes
    return b"\n" + json.dumps({key: value for key, value in body.items() if value is not ...}).encode() + b"\n"


def test_line_that_the_refusals_below_vary_is_an_event() -> None:
    (event,) = decode_history(lines(HEADER) + event_line()).events
    assert event == Persist(process=1, phase=Phase.END, item="i", name="put", covers=("a",))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (event_line(kind="teleport"), "there is no event of the kind 'teleport'"),
        (event_line(kind=["start"]), "there is no event of the kind"),
        (event_line(kind=...), "there is no event of the kind None"),
        (event_line(extra=1), "a Persist has no field 'extra'"),
        (event_line(number=1), "a Persist has no field 'number'"),
        (event_line(item=...), "a Persist needs the field 'item'"),
        (event_line(process="1"), "Persist.process is a int, not '1'"),
        (event_line(process=True), "Persist.process is a int, not True"),
        (event_line(process=1.0), "Persist.process is a int, not 1.0"),
        (event_line(phase="middle"), "Persist.phase can't be 'middle'"),
        (event_line(phase={}), "Persist.phase can't be {}"),
        (event_line(covers="a"), "Persist.covers is a list, not 'a'"),
        (event_line(covers=[1]), "Persist.covers is a str, not 1"),
        (b"\n[]\n", "it is a JSON list, not an object"),
        (b"\n7\n", "it is a JSON int, not an object"),
        (b"\n{oops}\n", "it is no JSON"),
        (b'\n{"kind":"start","process":1,"value":NaN}\n', "NaN is no JSON"),
        (b'\n{"kind":"start","process":1,"value":-Infinity}\n', "-Infinity is no JSON"),
        (b'\n{"kind":"start","process":1,"value":1e999}\n', "1e999 is too large a number"),
        (b'\n{"kind":"start","process":1,"value":"\xff"}\n', "it is no JSON"),
        (b'\n{"kind":"park","process":1,"pending":["x"]}\n', "a Pending is an object, not 'x'"),
        (b'\n{"kind":"start","process":1,"value":' + b"[" * 70 + b"]" * 70 + b"}\n", "more than 64 levels deep"),
        (b'\n{"kind":"start","process":1,"value":' + b"[" * 200_000 + b"]" * 200_000 + b"}\n", "it is no JSON"),
        (b'\n{"kind":"start","process":1,"value":' + b"9" * 5000 + b"}\n", "it is no JSON"),
        (lines(HEADER), "there is no event of the kind 'history'"),
    ],
)
def test_line_that_is_no_event_is_refused_by_number(line: bytes, why: str) -> None:
    found = refusal(lines(HEADER, Start(process=1, value=None)) + line + lines(Start(process=2, value=None)))
    assert found.startswith("Line 6 of h.ndjson is not part of a history: ")
    assert why in found


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "h.ndjson holds no history: it is empty"),
        (b"\n\n\n", "h.ndjson holds no history: it is empty"),
        (lines(Start(process=1, value=None)), "a history begins with its header"),
        (lines(HEADER).replace(FORMAT.encode(), b"resumption.history/9"), "its format is 'resumption.history/9'"),
        (
            lines(HEADER).replace(b'"tasks":[]', b'"tasks":[{"name":"a","steps":[{"step":"jump"}]}]'),
            "is no step of a task",
        ),
        (lines(HEADER).replace(b'"tasks":[]', b'"tasks":[{"name":"a","steps":["effect"]}]'), "is no step of a task"),
        (lines(HEADER).replace(b'"tasks":[]', b'"tasks":[{"name":"a","steps":[{"step":[]}]}]'), "is no step of a task"),
        (lines(HEADER).replace(b'"tasks":[]', b'"tasks":{}'), "Workload.tasks is a list"),
        (lines(HEADER)[:-20], "it is no JSON"),
    ],
)
def test_file_without_a_good_header_is_refused(data: bytes, why: str) -> None:
    assert why in refusal(data)


def test_line_longer_than_the_limit_is_refused_even_if_torn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ndjson, "MAX_LINE", 400)
    long = encode(Start(process=1, value="x" * 500))
    assert "and 400 are the most" in refusal(lines(HEADER) + long)
    assert "and 400 are the most" in refusal(lines(HEADER) + long[:-1])


def test_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(HistoryUnreadable, match="can't be read: No such file"):
        read_history(tmp_path / "absent")


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200))
def test_arbitrary_bytes_never_raise_anything_else(noise: bytes) -> None:
    for data in (noise, lines(HEADER) + noise, lines(HEADER) + noise + lines(Start(process=1, value=None))):
        found = decoded(data)
        assert found.advice if isinstance(found, HistoryUnreadable) else found.header == HEADER


@settings(max_examples=300, deadline=None)
@given(EVENTS_OF_ANY_KIND, st.data())
def test_event_with_a_field_of_another_type_never_raises_anything_else(event: Event, data: st.DataObject) -> None:
    body = json.loads(encode(event))
    field = data.draw(st.sampled_from(sorted(body)))
    body[field] = data.draw(JSON)
    found = decoded(lines(HEADER) + b"\n" + json.dumps(body).encode() + b"\n")
    assert "Line 4 of" in found.what if isinstance(found, HistoryUnreadable) else len(found.events) == 1


# Torn lines ----------------------------------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(st.lists(EVENTS_OF_ANY_KIND, min_size=1, max_size=5), st.data())
def test_line_cut_anywhere_is_torn_and_isolates_itself(events: list[Event], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(events) - 1))
    whole = [encode(event) for event in events]
    cut = data.draw(st.integers(1, len(whole[place]) - 1))
    torn = lines(HEADER) + b"".join(whole[:place]) + whole[place][:cut] + b"".join(whole[place + 1 :])
    read = decode_history(torn)
    rest = events[:place] + events[place + 1 :]
    if list(read.events) == events:
        assert cut == len(whole[place]) - 1, "only the last newline was cut"
    else:
        assert list(read.events) == rest
        assert len(read.torn) == (cut > 1)


def test_torn_line_is_reported_by_its_number() -> None:
    whole = encode(TaskStart(process=1, task="a", trail=[]))
    read = decode_history(lines(HEADER) + whole[:20] + whole)
    assert (len(read.events), read.torn) == (1, (4,))
