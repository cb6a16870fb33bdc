"""The translator has a meaning for its subset, and raises on everything else."""

from __future__ import annotations

from pathlib import Path

import pytest
import z3
from proof.checking import check
from proof.spec import Case, Spec, obligations
from proof.symbolic import IllTyped, OutsideSubset
from proof.terms import BOOL, INT, STR, constant
from proof.translate import translate, translate_file

import resumption.decide

COLOURS = "from enum import StrEnum\nclass Colour(StrEnum):\n    RED = 'red'\n    BLUE = 'blue'\n"


def body(text: str, signature: str = "a: int, b: int | None, s: str, t: str | None, p: bool") -> str:
    lines = "\n".join(f"    {line}" for line in text.splitlines())
    return f"{COLOURS}def f(*, {signature}) -> bool:\n{lines}\n"


@pytest.mark.parametrize(
    "text",
    [
        "x = a\nreturn p",
        "for _ in s:\n    return p\nreturn p",
        "while p:\n    return p\nreturn p",
        "try:\n    return p\nfinally:\n    pass",
        "with p:\n    return p",
        "assert p\nreturn p",
        "return a in (1, 2)",
        "return 0 < a < 3",
        "return len(s) > 0",
        "return s.isdigit()",
        "return bool(a)",
        "return (lambda: p)()",
        "return s is t",
        "return a is b",
        "return f'{s}' == s",
        "return a * 2 > a",
        "return 1.5 > a",
        "return unknown",
        "return Colour['RED'] is Colour.RED",
        "if p:\n    return p",
        "return p\nreturn p",
        "pass\nreturn p",
        "global x\nreturn p",
        "return f(a=a, b=b, s=s, t=t, p=p)",
        "return [p][0]",
        "return p if p else None",
        "match a:\n    case 1:\n        return p\nreturn p",
    ],
)
def test_what_is_outside_the_subset_raises(text: str) -> None:
    with pytest.raises((OutsideSubset, IllTyped)):
        translate(body(text))


@pytest.mark.parametrize(
    "text",
    [
        "return a == s",
        "return a < s",
        "return a",
        "if a:\n    return p\nreturn p",
        "return not a",
        "return p and a",
        "return Colour.GREEN is Colour.RED",
        "return Colour.RED == s",
        "return s is None",
    ],
)
def test_what_is_ill_typed_raises(text: str) -> None:
    with pytest.raises(IllTyped):
        translate(body(text))


@pytest.mark.parametrize(
    "source",
    [
        "import os\n",
        "from enum import IntEnum as StrEnum\n",
        "from os import path\n",
        "__all__ = made()\n",
        "A = 'a'\nA = 'b'\n",
        "def f(*, p: bool) -> bool:\n    return p\ndef f(*, p: bool) -> bool:\n    return not p\n",
        "def g(*, p: bool) -> bool:\n    return p\ndef f(*, g: bool) -> bool:\n    return g\n",
        "def g(*, p: bool) -> bool:\n    return p\ndef f(*, p: bool) -> bool:\n    return g(p)\n",
        "def g(*, p: bool) -> bool:\n    return p\ndef f(*, p: bool) -> bool:\n    return g(q=p)\n",
        "def g(*, p: bool) -> bool:\n    return p\ndef f(*, p: bool) -> bool:\n    return g()\n",
        "def g(p: bool) -> bool:\n    return p\ndef f(*, p: bool) -> bool:\n    return g(p, p)\n",
        "def g(p: bool) -> bool:\n    return p\ndef f(*, p: bool) -> bool:\n    return g(p, p=p)\n",
        "LIMIT = 3\n",
        "@staticmethod\ndef f(*, p: bool) -> bool:\n    return p\n",
        "def f(*, p: bool = True) -> bool:\n    return p\n",
        "def f(*args: bool) -> bool:\n    return True\n",
        "def f(*, p: float) -> bool:\n    return True\n",
        "def f(*, p: bool):\n    return p\n",
        "async def f(*, p: bool) -> bool:\n    return p\n",
        "class Plain:\n    A = 'a'\n",
        "from enum import StrEnum\nclass E(StrEnum):\n    A = 'a'\n    def f(self) -> str:\n        return 'x'\n",
        "from enum import StrEnum\nclass E(StrEnum):\n    A = 'a'\n    B = 'a'\n",
        "if True:\n    pass\n",
    ],
)
def test_a_module_outside_the_subset_raises(source: str) -> None:
    with pytest.raises((OutsideSubset, IllTyped)):
        translate(source)


def test_an_optional_that_may_be_missing_in_arithmetic_is_a_failed_obligation() -> None:
    source = "def f(*, b: int | None) -> bool:\n    return b > 0\n"
    guarded = "def f(*, b: int | None) -> bool:\n    return b is not None and b > 0\n"

    def total(text: str) -> bool:
        spec = Spec("f", lambda p: (Case(True, p.b.present),))
        found = [o for o in obligations(translate(text), spec) if "total" in o.name]
        return all(check(o, second_opinion=True) is None for o in found) and bool(found)

    assert not total(source)
    assert total(guarded)


def test_none_equals_none_and_nothing_else() -> None:
    function = translate("def f(*, s: str, t: str | None) -> bool:\n    return t == s\n").functions["f"]
    optional = STR.as_optional()
    for value, expected in ((None, False), ("", True), ("a", False)):
        result = function(s=constant(STR, ""), t=constant(optional, value))
        assert z3.is_true(z3.simplify(result.value == constant(BOOL, expected).value))


def test_every_file_of_the_package_is_in_the_subset() -> None:
    folder = Path(resumption.decide.__file__).parent
    files = sorted(path for path in folder.glob("*.py") if path.stem != "__init__")
    assert len(files) >= 6
    for path in files:
        assert translate_file(path).functions, path.name


def test_a_constant_is_of_its_sort() -> None:
    assert constant(INT, 3).value.as_long() == 3
    assert constant(STR, "x").value.as_string() == "x"
