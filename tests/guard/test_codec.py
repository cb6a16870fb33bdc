"""A served result has the type and value of the live one, or there is none."""

from __future__ import annotations

import enum
import math
from collections import OrderedDict
from dataclasses import InitVar, dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, SecretBytes, SecretStr

from resumption import Ledger, effect
from resumption.errors import KeyReused
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


class Model(BaseModel):
    value: int
    when: datetime


class NoName(tzinfo):
    """A zone of the program's own."""

    def utcoffset(self, moment: datetime | None) -> timedelta:
        return timedelta(hours=1)

    def dst(self, moment: datetime | None) -> None:
        return None

    def tzname(self, moment: datetime | None) -> str:
        return "program's"


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
    datetime(2026, 10, 25, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Paris")),
    time(12, 30, tzinfo=UTC),
    time(12, 30, tzinfo=ZoneInfo("Europe/Paris")),
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
    value = Model(value=3, when=datetime(2026, 1, 1, tzinfo=UTC))
    again = decode(encode(value))
    assert again == value
    assert type(again) is Model


def test_a_zone_is_kept_by_name_so_that_a_later_time_is_right() -> None:
    before = datetime(2026, 10, 24, 12, tzinfo=ZoneInfo("Europe/Paris"))
    again = decode(encode(before))
    assert isinstance(again, datetime)
    assert (again + timedelta(days=2)).isoformat() == "2026-10-26T12:00:00+01:00"


class Card(BaseModel):
    number: SecretStr
    pin: SecretBytes = SecretBytes(b"0000")
    amount: Any = None
    status: str = Field(default="pending", exclude=True)


class Aliased(BaseModel):
    value: int = Field(alias="Value")


@pytest.mark.parametrize(
    "value",
    [
        Card(number=SecretStr("1111")),
        [Card(number=SecretStr("1111"))],
        Aliased(Value=1),
        Model(value=3, when=datetime(2026, 1, 1, tzinfo=ZoneInfo("Europe/Paris"))),
        datetime(2026, 1, 1, tzinfo=NoName()),
        time(12, tzinfo=NoName()),
    ],
    ids=["model", "in a list", "alias", "zone in a model", "own zone", "own zone of a time"],
)
def test_what_a_serialiser_masks_or_rounds_is_refused(value: object) -> None:
    with pytest.raises(Unserialisable):
        encode(value)


CARD = Card(number=SecretStr("1111"))


@pytest.mark.parametrize(
    "other",
    [
        Card(number=SecretStr("2222")),
        Card(number=SecretStr("1111"), pin=SecretBytes(b"1234")),
        Card(number=SecretStr("1111"), amount=Decimal(1)),
        Card(number=SecretStr("1111"), status="paid"),
        Card(number=SecretStr("1111"), amount=Card(number=SecretStr("2222"))),
    ],
    ids=["secret", "secret bytes", "any", "excluded", "nested"],
)
def test_a_digest_sees_what_a_serialiser_masks(other: Card) -> None:
    assert digest({"card": CARD}) != digest({"card": other})
    assert digest({"card": CARD}) == digest({"card": CARD.model_copy()})


def test_a_digest_compares_secrets_outside_of_models() -> None:
    assert digest({"a": SecretStr("1")}) != digest({"a": SecretStr("2")})
    assert digest({"a": SecretStr("1")}) == digest({"a": SecretStr("1")})
    assert digest({"a": SecretStr("1")}) != digest({"a": "1"})


def test_a_model_with_a_field_that_has_no_json_form_has_a_digest() -> None:
    assert digest({"a": Card(number=SecretStr("1"), amount=object())}) == digest(
        {"a": Card(number=SecretStr("1"), amount=object())}
    )


def test_another_card_under_the_same_key_is_refused(ledger: Ledger) -> None:
    @effect(ledger, key=lambda order, _: f"charge:{order}")
    def charge(order: int, card: Card) -> str:
        return card.number.get_secret_value()

    assert charge(1, CARD) == "1111"
    with pytest.raises(KeyReused):
        charge(1, Card(number=SecretStr("2222")))


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
