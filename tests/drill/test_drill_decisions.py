"""How gates are answered."""

from __future__ import annotations

import pytest

from resumption.errors import DecisionMissing
from resumption.harness.drill.decisions import Decisions
from resumption.history.events import Json, Pending

_ASKED_FOR_TWO = {"action_requests": [{"name": "a"}, {"name": "b"}], "review_configs": []}


def _gate(name: str, question: Json = None) -> Pending:
    return Pending(identity="id", name=name, question=question)


@pytest.mark.parametrize("name", ["outer/pay", "outer/pay#2", "outer/pay#2+2"])
@pytest.mark.parametrize("said", ["outer/pay", "pay"])
def test_a_gate_is_found_by_its_node(name: str, said: str) -> None:
    assert Decisions(everywhere="yes", named={said: 7}).answer(_gate(name)) == 7


def test_the_nearest_name_wins() -> None:
    decisions = Decisions(named={"pay": 1, "outer/pay": 2, "outer/pay#2": 3})
    assert [decisions.answer(_gate(name)) for name in ("pay", "outer/pay", "outer/pay#2")] == [1, 2, 3]


def test_a_gate_that_nobody_decided_on_is_an_error() -> None:
    with pytest.raises(DecisionMissing, match=r"pay asked 'Sure\?'"):
        Decisions(named={"other": 1}).answer(_gate("pay", "Sure?"))


@pytest.mark.parametrize(
    ("decided", "other"),
    [(True, False), (False, True), ("yes", "no"), ("alice", None), (7, None), ({"a": 1}, None)],
)
def test_the_second_answer_is_the_opposite_where_there_is_one(decided: Json, other: Json) -> None:
    assert Decisions(everywhere=decided).other(_gate("pay")) == other


def test_the_second_answer_may_be_given() -> None:
    assert Decisions(everywhere=7, otherwise={"pay": 8}).other(_gate("pay")) == 8


def test_yes_and_no_are_given_in_the_form_of_the_human_in_the_loop_middleware() -> None:
    decisions, gate = Decisions(everywhere="yes"), _gate("after_model", _ASKED_FOR_TWO)
    assert decisions.answer(gate) == {"decisions": [{"type": "approve"}, {"type": "approve"}]}
    assert decisions.other(gate) == {"decisions": [{"type": "reject"}, {"type": "reject"}]}
