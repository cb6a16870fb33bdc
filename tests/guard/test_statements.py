"""No rule hides in SQL: every statement's predicate names keys and versions only."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

import resumption.guard
from resumption import Ledger, effect
from resumption.guard.stores.statements import POSTGRES, SQLITE, Statements

from .support import statements_observed

ALL = [
    pytest.param(getattr(dialect, field.name), id=f"{name}-{field.name}")
    for name, dialect in (("sqlite", SQLITE), ("postgres", POSTGRES))
    for field in dataclasses.fields(Statements)
]

# `name` is the key of SQLite's own catalogue.
COMPARISONS = {"key = ?", "key > ?", "version = ?", "key = 'effects'", "name = 'resumption_schema'"}


@pytest.mark.parametrize("sql", ALL)
def test_a_predicate_names_keys_and_versions_only(sql: str) -> None:
    text = sql.replace("%s", "?")
    for clause in re.findall(r"\bWHERE\b(.*?)(?:ORDER BY|LIMIT|FOR UPDATE|$)", text):
        assert {part.strip() for part in clause.split(" AND ")} <= COMPARISONS
    assert not re.search(r"\b(CASE|COALESCE|HAVING|JOIN|DO UPDATE|TRIGGER|CHECK|NULLIF|GREATEST)\b", text)


@pytest.mark.parametrize("sql", ALL)
def test_a_write_of_a_record_is_conditional(sql: str) -> None:
    if "resumption_effects" not in sql or sql.startswith(("SELECT", "CREATE")):
        return
    assert ("WHERE key = " in sql and "AND version = " in sql) or "ON CONFLICT (key) DO NOTHING" in sql


def test_no_statement_is_written_elsewhere() -> None:
    """The ledger's and the claims'. What reads LangGraph's own tables stands beside the code that knows them."""
    folder = Path(resumption.guard.__file__ or "").parent
    words = re.compile(r"\"\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP)\s")
    found = {
        (path.relative_to(folder).as_posix(), line.strip())
        for path in folder.rglob("*.py")
        for line in path.read_text().splitlines()
        if words.search(line) and path.name != "statements.py" and path.relative_to(folder).parts[0] != "langgraph"
    }
    session_settings = {"SELECT 1", "SELECT set_config"}
    assert all(any(setting in line for setting in session_settings) for _, line in found), found


def test_what_is_executed_is_what_is_enumerated(ledger: Ledger) -> None:
    known = {" ".join(str(parameter.values[0]).split()[:3]) for parameter in ALL}
    passed: list[str] = []
    with statements_observed(passed.append):
        ledger.setup()
        effect(ledger, key="k")(lambda: 1)()
    assert passed
    assert {name.partition(" ")[2] for name in passed} <= known
