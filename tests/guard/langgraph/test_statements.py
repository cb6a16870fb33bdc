"""No rule of the guard hides in SQL."""

from __future__ import annotations

import dataclasses
import re

import pytest

from resumption.guard.claims import statements as claims
from resumption.guard.langgraph import statements as slots

_TEXTS = [
    getattr(dialect, field.name)
    for dialect in (
        *(claims.SQLITE, claims.POSTGRES, slots.SQLITE, slots.POSTGRES),
        *(claims.LEASES_SQLITE, claims.LEASES_POSTGRES),
        *(slots.OVERLAY_SQLITE, slots.OVERLAY_POSTGRES),
    )
    for field in dataclasses.fields(dialect)
    if isinstance(getattr(dialect, field.name), str)
] + [claims.MUST_HOLD, claims.HAS_LEASES]
_KEYS = {
    "thread",
    "key",
    "interrupt",
    "root",
    "identity",
    "number",
    "beat",
    "name",
    "holder",
    "attname",
    "attrelid",
    "attnum",
    "NOT",
}
_PLACES = {"thread_id", "checkpoint_ns", "checkpoint_id", "task_id", "idx"}


@pytest.mark.parametrize("text", _TEXTS)
def test_a_predicate_names_keys_and_versions_only(text):
    for clause in re.findall(r"\bWHERE\b(.*?)(?:ORDER BY|GROUP BY|LIMIT|FOR UPDATE|FOR SHARE|$)", text):
        columns = {part.split()[0] for part in clause.split(" AND ")}
        assert columns <= _KEYS | _PLACES
    assert not re.search(r"\b(CASE|COALESCE|HAVING|JOIN|TRIGGER|NULLIF|GREATEST)\b", text)
