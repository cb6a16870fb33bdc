"""Failures of LangGraph that its users reported in public, measured in real processes on the installed release.

Each test names its source. Where the suite has a probe for the kind, the test points to what that probe measured.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from resumption.contract.verdicts import Label, Measured
from resumption.harness.receipts import Cell, Part, Receipt
from resumption.history.events import Raise, TaskStart
from resumption.history.ndjson import decode_history

Cells = Callable[[str], Cell]
Parts = Callable[[str, str], Part]


def test_6663_a_second_decision_at_one_checkpoint_is_served_the_first(cell: Cells) -> None:
    direct = cell("FD/fork/direct")
    assert direct.label is Label.VIOLATES
    assert 'was served "yes" instead' in direct.parts[0].findings[0].summary


def test_6663_a_fork_can_be_had_in_two_calls(cell: Cells) -> None:
    assert cell("FD/fork/two-call").measured is Measured.CONFORMS


def test_8837_one_answer_is_taken_by_two_interrupts(part: Parts) -> None:
    taken = part("CO-c", "consume/one-answer-two-interrupts")
    assert taken.label is Label.VIOLATES
    assert "was consumed by 2 interrupts: `first`, `second`" in taken.findings[0].summary


@pytest.mark.parametrize("place", ["terminal", "middle"])
def test_6491_a_write_of_none_is_stored_against_the_schema(place: str, part: Parts) -> None:
    stored = part("CV", f"validity/{place}/null")
    assert stored.label is Label.VIOLATES
    assert stored.findings[0].silent_corruption


def test_8836_an_answer_to_an_id_that_nobody_issued_is_a_silent_no_op(part: Parts) -> None:
    ignored = part("LA/deliver/map", "address/unknown")
    assert ignored.measured is Measured.BREACHES
    assert "was accepted without a signal" in ignored.findings[0].summary


def test_6208_effects_in_front_of_an_interrupt_fire_once_for_each_answer(part: Parts) -> None:
    repeated = part("EO/deliver/bare", "interrupt/effects-between-questions")
    assert repeated.label is Label.DIVERGENT
    assert "effect `notify`" in repeated.findings[0].summary


def test_8039_work_is_repeated_exactly_where_its_writes_were_not_durable(part: Parts) -> None:
    assert part("EO/recover/no-input/window", "crash/frozen-prefix").measured is Measured.BREACHES
    assert part("EO/recover/no-input", "crash/frozen-prefix").measured is Measured.CONFORMS


def test_paper_probe_159_every_racer_fires_the_gate_s_effect(part: Parts) -> None:
    raced = part("CO-c/deliver/bare", "consume/race-4-processes")
    assert raced.label is Label.VIOLATES
    assert "4 of 4" in raced.note


def test_8764_a_run_that_died_before_its_first_checkpoint_can_not_be_recovered_without_input(receipt: Receipt) -> None:
    history = decode_history(receipt.histories["langgraph/graph/sqlite/case/nothing-durable/no-input#1"].encode())
    (refused,) = history.of(Raise)
    assert refused.error == "EmptyInputError"
    assert not history.fires()


def test_8764_such_a_run_starts_anew_with_its_input(receipt: Receipt) -> None:
    history = decode_history(receipt.histories["langgraph/graph/sqlite/case/nothing-durable/input#1"].encode())
    assert [start.task for start in history.of(TaskStart)] == ["a", "approve"]
    assert len(history.fires()) == 1
