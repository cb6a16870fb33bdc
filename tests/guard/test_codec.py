"""A served result has the type and value of the live one, or there is none."""

from __future__ import annotations

import enum
import math
from collections import OrderedDict
from dataclasses import InitVar, dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resumption.guard.codec import Unserialisable, decode, digest, encode


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntFlag):
    LOW = 1
    HIGH = 2


@dataclass(frozen=True, slots=True)
class Money:
    amount: Decimal
    currency: str = "EUR"


@dataclass
class Counted:
    parts: list[Money]
    total: int = field(init=False, default=0)


@dataclass
class Needs:
    value: int
    secret: InitVar[int]


@dataclass
class Grows:
    value: int

    def __post_init__(self) -> None:
        self.value += 1


def counted() -> Counted:
    made = Counted([Money(Decimal("1.10"))])
    made.total = 7
    return made


KEPT = [
    None,
    True,
    7,
    2.5,
    "text \0 \ud800",
    b"\x00\xff",
    [1, (2, 3), {4}, frozenset({5})],
    {"a": 1, "$odd": 2},
    {1: "one", (2, 3): "pair"},
    datetime(2026, 3, 29, 1, 30, tzinfo=timezone(timedelta(hours=2))),
    datetime(2026, 1, 1),
    date(2026, 1, 1),
    time(12, 30, tzinfo=UTC),
    timedelta(days=-1, microseconds=5),
    Decimal("1.10"),
    UUID(int=5),
    Colour.RED,
    Level.LOW | Level.HIGH,
    Money(Decimal("9.99")),
    counted(),
    {"$tuple": [1]},
]


@pytest.mark.parametrize("value", KEPT, ids=lambda value: type(value).__name__)
def test_values_read_back_as_they_were(value: object) -> None:
    again = decode(encode(value))
    assert again == value
    assert type(again) is type(value)


JSON_LIKE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.decimals(allow_nan=False),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text(), inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.integers(), inner)
    ),
    max_leaves=20,
)


@settings(deadline=None)
@given(JSON_LIKE)
def test_anything_made_of_known_parts_reads_back(value: object) -> None:
    assert decode(encode(value)) == value


def test_not_a_number_reads_back() -> None:
    again = decode(encode(math.nan))
    assert isinstance(again, float)
    assert math.isnan(again)


def test_pydantic_models_read_back() -> None:
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Model", __module__=__name__, value=(int, ...), when=(datetime, ...))
    globals()["Model"] = model
    value = model(value=3, when=datetime(2026, 1, 1, tzinfo=UTC))
    again = decode(encode(value))
    assert again == value
    assert type(again) is model


class Subclass(str):
    __slots__ = ()


def refused() -> list[object]:
    @dataclass
    class Local:
        value: int

    loop: list[object] = []
    loop.append(loop)
    return [
        object(),
        Local(1),
        Subclass("s"),
        OrderedDict(a=1),
        loop,
        Needs(1, secret=2),
        Grows(1),
        print,
        [1, object()],
    ]


@pytest.mark.parametrize("value", refused(), ids=lambda value: type(value).__name__)
def test_what_would_not_read_back_is_refused_when_written(value: object) -> None:
    with pytest.raises(Unserialisable):
        encode(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"$dataclass": ["os:system", {}]}',
        '{"$enum": ["no.such:Thing", 1]}',
        '{"$unknown": [1, 2]}',
        '{"$model": ["builtins:dict", "{}"]}',
        '{"$dataclass": ["subprocess:Popen", {"args": "true"}]}',
    ],
)
def test_a_record_never_names_anything_but_a_loaded_data_class(text: str) -> None:
    with pytest.raises(Unserialisable):
        decode(text)


def test_a_digest_compares_arguments_and_ignores_what_cannot_be_compared() -> None:
    assert digest({"a": {1, 2}, "b": object()}) == digest({"b": object(), "a": {2, 1}})
    assert digest({"a": 1}) != digest({"a": 2})
    assert digest({"a": 1}) != digest({"a": True})
    assert digest({"a": object()}) != digest({"a": 1})
