"""Keys and words for people that no store can hold are refused, or written in a form that each can hold."""

from __future__ import annotations

import pytest

from resumption.errors import InDoubt, KeyUnusable, UnusableSetting
from resumption.guard import operators
from resumption.guard.effects import effect, task_scope

UNSTORABLE = pytest.mark.parametrize("name", ["a\ud800", "a\0"], ids=["surrogate", "nul"])


@UNSTORABLE
def test_such_a_key_is_refused_before_anything_fires(ledger, name):
    fired = []
    with pytest.raises(KeyUnusable, match="can't be stored"):
        effect(ledger=ledger, key=name)(lambda: fired.append(1))()
    with pytest.raises(KeyUnusable, match="can't be stored"):
        operators.see(ledger, name)
    assert fired == []


@UNSTORABLE
def test_such_a_task_still_has_a_key(ledger, name):
    """A composed key is JSON, which has a form for every name."""
    fired = []

    @effect(ledger=ledger)
    def charge() -> str:
        fired.append(1)
        return "paid"

    for _ in range(2):
        with task_scope(run=name, branch=name, task=name):
            assert charge() == "paid"
    assert fired == [1]


@UNSTORABLE
def test_an_error_whose_message_has_such_text_is_noted(ledger, name):
    @effect(ledger=ledger, key="charge")
    def charge() -> None:
        raise ConnectionError(name)

    with pytest.raises(ConnectionError) as raised:
        charge()
    assert not hasattr(raised.value, "__notes__")  # which would say that its end could not be written down
    assert ledger.get("charge").note.startswith("ConnectionError: a\\")
    with pytest.raises(InDoubt):
        charge()


@UNSTORABLE
def test_such_words_of_an_operator_are_refused(ledger, name):
    with pytest.raises(UnusableSetting, match="note="):
        operators.resolve(ledger, "charge", fired=False, actor="ann", note=name)
    with pytest.raises(UnusableSetting, match="actor="):
        operators.resolve(ledger, "charge", fired=False, actor=name)
