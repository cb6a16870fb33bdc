"""Lanes say what a history says: every event, in its order, in the lane of the process that it happened in."""

from __future__ import annotations

from dataclasses import replace

import pytest
from receipts import crashed, receipt, told

from resumption.contract.verdicts import Finding, Step
from resumption.errors import ReceiptUnreadable
from resumption.history.events import LeaseLoss, Oracle, Tamper
from resumption.report.lanes import Kind, histories_of, lanes, teller


def test_every_event_is_in_one_row_and_the_rows_are_in_order() -> None:
    history = crashed(rounds=3)
    numbers = [number for row in lanes(history).rows for number in range(row.first, row.last + 1)]
    assert numbers == [event.number for event in history.events]


def test_each_process_has_a_lane_and_the_harness_has_the_last() -> None:
    drawn = lanes(crashed())
    assert drawn.processes == (1, 2, 0)
    assert drawn.program == "approve(asks approve, fires charge)"


def test_a_death_is_in_the_lane_of_the_process_that_died() -> None:
    (death,) = [row for row in lanes(crashed()).rows if row.text == "dead, by signal 9"]
    assert (death.process, death.kind) == (1, Kind.CRASH)


def test_whether_an_effect_fired_is_the_effect_record_s_word() -> None:
    history = crashed()
    assert [row.kind for row in lanes(history).rows if row.text.startswith("effect")] == [Kind.EFFECT, Kind.EFFECT]
    events = tuple(replace(event, fired=("p2-1",)) if isinstance(event, Oracle) else event for event in history.events)
    unfired = lanes(replace(history, events=events))
    assert [row.kind for row in unfired.rows if row.text.startswith("effect")] == [Kind.UNFIRED, Kind.EFFECT]


def test_what_was_done_to_a_run_from_outside_is_not_told_as_a_reading_of_the_effect_record() -> None:
    history = crashed()
    oracle = next(event for event in history.events if isinstance(event, Oracle))
    said = {}
    for event in (LeaseLoss(process=0, number=oracle.number, leases=2), Tamper(process=0, number=oracle.number)):
        events = tuple(event if each is oracle else each for each in history.events)
        said[event.kind] = [row.text for row in lanes(replace(history, events=events)).rows][-1]
    assert said == {
        "lease-loss": "2 leases were taken from executors that live",
        "tamper": "the durable trail was made a number, from outside",
    }


def test_a_megabyte_is_cut_and_said_to_be_one() -> None:
    (row,) = [row for row in lanes(crashed("x" * 1_000_000)).rows if row.kind is Kind.CONSUMPTION and row.process == 1]
    assert len(row.text) < 400
    assert row.text.endswith("characters)")


def test_a_story_is_found_in_the_history_that_it_happened_in() -> None:
    histories = {"other": crashed("maybe"), "this": crashed("yes")}
    story = told(histories["this"])
    consumed = Finding("it", (Step(7, 'interrupt `approve` consumed "yes" on branch b0, in process 1'),))
    assert teller(story, ("this", "other"), histories) == "this"
    assert teller(consumed, ("other", "this"), histories) == "this"
    assert teller(Finding("it", (Step(999, "what?"),)), ("other", "this"), histories) == ""


def test_a_receipt_with_a_spoiled_history_is_refused() -> None:
    spoiled = replace(receipt(), histories={"h": "{}\n\n"})
    with pytest.raises(ReceiptUnreadable, match="The history h"):
        histories_of(spoiled)
