"""Every error is raised somewhere, and says what happened, to what, and what to do: in its message and on its page."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from resumption import errors

ROOT = Path(__file__).parents[2]
SOURCES = [path for path in sorted((ROOT / "src").rglob("*.py")) if path.name != "errors.py"]
BASES = {"ResumptionError", "LedgerError", "GuardError"}
"""Never raised themselves."""
_HOLE = "…"
"""Stands for what a message is given when it is made."""


def _trees() -> Iterator[tuple[Path, ast.Module]]:
    return ((path.relative_to(ROOT), ast.parse(path.read_text(encoding="utf-8"))) for path in SOURCES)


def _made(tree: ast.Module) -> Iterator[ast.Call]:
    """The calls that make an error of this package."""
    for node in ast.walk(tree):
        name = getattr(node.func, "id", getattr(node.func, "attr", "")) if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Call) and name in errors.__all__:
            yield node


def _text(node: ast.expr) -> str:
    """What is written of a message; a hole for the rest."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(map(_text, parts))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _text(left) + _text(right)
        case _:
            return _HOLE


def test_every_error_is_named_where_it_is_raised() -> None:
    used = {node.id for _, tree in _trees() for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert set(errors.__all__) - used - BASES == set()


def _faults(tree: ast.Module) -> Iterator[str]:
    """What is missing of the messages in a module, each with its line."""
    for call in _made(tree):
        advice = [_text(keyword.value) for keyword in call.keywords if keyword.arg == "advice"]
        texts = {"what": _text(call.args[0]) if call.args else "", "advice": advice[0] if advice else ""}
        for part, text in texts.items():
            if not re.search(rf"[.{_HOLE}]$", text.strip()):
                yield f"{call.lineno}: {part} is no sentence: {text!r}"


def test_every_message_says_in_sentences_what_happened_and_what_to_do() -> None:
    assert [f"{path}:{fault}" for path, tree in _trees() for fault in _faults(tree)] == []
    assert sum(1 for _, tree in _trees() for _ in _made(tree)) > 100


@pytest.mark.parametrize(
    "planted",
    ["RunBusy('Busy.')", "RunBusy('Busy.', advice='')", "RunBusy(f'{x} is busy', advice='Wait.')", "RunBusy()"],
)
def test_a_message_without_one_of_them_is_found(planted: str) -> None:
    assert list(_faults(ast.parse(planted)))


def test_every_section_of_the_page_says_more_than_what_happened() -> None:
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    sections = re.findall(r"^### RSM-\d+ (\w+)\n\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL)
    assert {name for name, _ in sections} == set(errors.__all__) - {"ExpiringLeases"}
    sentences = {name: len(re.findall(r"[.!?](?=\s|$)", body)) for name, body in sections}
    assert [name for name, number in sentences.items() if number < 2 and name not in BASES] == []
