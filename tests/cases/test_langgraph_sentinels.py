"""Four reports that older releases of LangGraph bear out, and what the installed one does (docs/sentinels.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("langgraph")

import sentinels

from resumption.contract.verdicts import Label
from resumption.harness.comparison import Change, Comparison, compare
from resumption.harness.receipts import read_receipt

_RECEIPTS = Path(__file__).parents[2] / "results" / "langgraph"


def test_7361_an_answer_at_the_heads_checkpoint_id_goes_on_inside_the_subgraph() -> None:
    assert sentinels.resume_at_the_head_of_a_subgraph() == ["gate"]


def test_6792_a_task_of_a_nested_entrypoint_does_not_run_again_when_its_interrupt_is_answered() -> None:
    assert sentinels.resume_of_a_nested_entrypoint() == 1


def test_8579_a_bare_answer_is_refused_while_two_interrupts_of_one_subgraph_are_pending() -> None:
    assert sentinels.one_answer_to_two_interrupts_of_a_subgraph() == "refused"


def test_6956_a_node_at_its_second_interrupt_is_next() -> None:
    assert sentinels.next_after_a_second_interrupt() == ["ask"]


# What the committed receipts of two releases say of each other -------------------------------------------------------


@pytest.fixture(scope="module")
def changed() -> Comparison:
    before, after = (read_receipt(_RECEIPTS / f"langgraph-{release}.json") for release in ("1.2.9", "1.2.24"))
    return compare(before, after, names=("1.2.9", "1.2.24"))


def test_siblings_in_a_subgraph_and_the_order_of_a_delta_channel_are_fixed(changed: Comparison) -> None:
    forms = ("no-input", "command", "command-checkpoint")
    assert {change.identity for change in changed.of(Change.FIXED)} == {
        "langgraph/graph-delta/sqlite/RL",
        *(f"langgraph/subgraph/sqlite/{property_}/recover/{form}" for property_ in ("EO", "PC") for form in forms),
        *(f"langgraph/graph/sqlite/{property_}/recover/command-checkpoint" for property_ in ("EO", "PC")),
    }


def test_forks_validity_and_consumption_are_unchanged(changed: Comparison) -> None:
    same = {cell.identity: cell.label for cell in changed.unchanged}
    for cell in ("graph/sqlite/FD/fork/direct", "graph/sqlite/CV", "graph/sqlite/CO-c"):
        assert same[f"langgraph/{cell}"] is Label.VIOLATES
    assert same["langgraph/functional/sqlite/CO-c/deliver/bare"] is Label.VIOLATES
    assert changed.count(Change.REGRESSED) == 0
