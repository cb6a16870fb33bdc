"""Answers that were given are never stripped, whether or not their slot has to be read for that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from resumption.guard.langgraph.slots import NULL_TASK, RESUME, putting
from resumption.guard.langgraph.tenure import KEY, Tenure

from .programs import THREAD, answer

AT = ("", "1", "task")


@pytest.fixture
def slot(bench: Any) -> Iterator[Slot]:
    keeper = bench.guarded(bench.builder(pay=bench.gate("pay"))).checkpointer
    found = Slot(keeper, Tenure("t", keeper.guard_locks.attempt("t")))
    yield found
    found.tenure.end()


class Slot:
    """A task's slot for answers, on SQLite."""

    def __init__(self, keeper: Any, tenure: Tenure) -> None:
        self._keeper = keeper
        self.tenure = tenure
        self._config = {
            "configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": "1", KEY: tenure},
        }

    def offer(self, *answers: str) -> int:
        """The task writes its answers; returns how often the slot was read for that."""
        asked: list[str] = []
        self._keeper.conn.set_trace_callback(asked.append)
        self._keeper.put_writes(self._config, [(RESUME, list(answers))], "task")
        self._keeper.conn.set_trace_callback(None)
        return sum(text.startswith("SELECT type, value") for text in asked)

    @property
    def answers(self) -> Any:
        """What it has."""
        found = self._keeper.conn.execute("SELECT type, value FROM writes WHERE task_id = 'task'").fetchone()
        return self._keeper.serde.loads_typed(found)


def test_a_task_that_hands_back_fewer_answers_than_it_was_given_keeps_all(slot):
    slot.offer("a", "b")
    slot.offer("a")
    assert slot.answers == ["a", "b"]
    slot.offer("a", "b", "c")
    assert slot.answers == ["a", "b", "c"]


def test_a_slot_that_this_tenure_wrote_is_read_only_for_an_offer_that_may_be_too_short(slot):
    assert slot.offer("a", "b") == 1  # by whom it was written before isn't known
    assert slot.offer("a", "b") == 0
    assert slot.offer("a") == 1
    assert slot.answers == ["a", "b"]


def test_a_write_that_failed_leaves_nothing_that_a_shorter_offer_would_be_taken_by(slot, monkeypatch):
    """Three answers were offered and not stored: two aren't fewer than what the slot has."""
    slot.offer("a", "b")
    with monkeypatch.context() as patched:
        patched.setattr("resumption.guard.langgraph.savers.base.spent", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            slot.offer("a", "b", "c")
    slot.offer("a", "x")
    assert slot.answers == ["a", "x"]


def test_the_answer_that_a_call_claimed_is_known_to_its_tenure(bench):
    app = bench.guarded(bench.builder(pay=bench.gate("pay")))
    app.invoke({"trail": []}, THREAD)
    asked: list[str] = []
    app.checkpointer.conn.set_trace_callback(asked.append)
    app.invoke(answer("yes"), THREAD)
    assert not [text for text in asked if text.startswith("SELECT type, value")]
    assert bench.fired() == ["pay=yes"]


def test_an_answer_that_was_left_for_anybody_is_served_to_nobody_once_another_is_claimed(bench):
    """As stock LangGraph leaves one, should it die after recording it."""
    app = bench.guarded(bench.builder(pay=bench.gate("pay", "sure?", "really?")))
    app.invoke({"trail": []}, THREAD)
    keeper, head = app.checkpointer, app.get_state(THREAD).config["configurable"]["checkpoint_id"]
    at = ("", head, NULL_TASK)
    keeper.guard_write(None, lambda: putting(keeper.guard_slots, "t", at, RESUME, keeper.serde.dumps_typed("left")))
    app.invoke(answer("yes"), THREAD)
    assert bench.fired() == []
    app.invoke(answer("indeed"), THREAD)
    assert bench.fired() == ["pay=yes,indeed"]
