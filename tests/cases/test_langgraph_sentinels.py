"""Four reports that older releases of LangGraph bear out, and what the installed one does (docs/sentinels.md)."""

from __future__ import annotations

import pytest

pytest.importorskip("langgraph")

import sentinels


def test_7361_an_answer_at_the_heads_checkpoint_id_goes_on_inside_the_subgraph() -> None:
    assert sentinels.resume_at_the_head_of_a_subgraph() == ["gate"]


def test_6792_a_task_of_a_nested_entrypoint_does_not_run_again_when_its_interrupt_is_answered() -> None:
    assert sentinels.resume_of_a_nested_entrypoint() == 1


def test_8579_a_bare_answer_is_refused_while_two_interrupts_of_one_subgraph_are_pending() -> None:
    assert sentinels.one_answer_to_two_interrupts_of_a_subgraph() == "refused"


def test_6956_a_node_at_its_second_interrupt_is_next() -> None:
    assert sentinels.next_after_a_second_interrupt() == ["ask"]
