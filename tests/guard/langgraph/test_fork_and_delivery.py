"""Second outcomes are asked for by name; deliveries with an id happen once."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.graph import START

from resumption.langgraph import (
    AlreadyConsumed,
    AmbiguousAnswer,
    DeliveryMismatch,
    NothingToFork,
    SupersededCheckpoint,
    ThreadTaken,
    UnknownAddress,
    UnsupportedSaver,
    fork,
)

from .programs import THREAD, answer, pending

INPUT: Any = {"trail": []}


def test_each_fork_has_an_outcome_and_effects_of_its_own(bench):
    """LangGraph #6663: all of them were served the first decision."""
    app = bench.approval()
    app.invoke(INPUT, THREAD)
    parked = app.get_state(THREAD).config
    app.invoke(answer("one"), THREAD)
    assert [fork(app, parked, value)["trail"][1] for value in ("two", "three")] == ["pay=two", "pay=three"]
    assert bench.fired() == ["draft", *(f for n in ("one", "two", "three") for f in (f"pay={n}", "notify"))]


def test_a_fork_at_a_second_interrupt_keeps_the_first_answer(bench):
    app = bench.guarded(bench.builder(pay=bench.gate("pay", "first?", "second?")))
    app.invoke(INPUT, THREAD)
    app.invoke(answer("A"), THREAD)
    parked, (second,) = app.get_state(THREAD).config, pending(app)
    app.invoke(answer("B"), THREAD)
    assert fork(app, parked, "C", interrupt=second)["trail"] == ["pay=A,C"]


def test_a_fork_where_two_interrupts_were_raised_names_one(bench):
    builder = bench.builder(left=bench.gate("left"))
    builder.add_node("right", bench.gate("right"))
    builder.add_edge(START, "right")
    app = bench.guarded(builder)
    app.invoke(INPUT, THREAD)
    parked = app.get_state(THREAD).config
    app.invoke(answer(dict.fromkeys(pending(app), "A")), THREAD)
    with pytest.raises(AmbiguousAnswer, match="2 interrupts"):
        fork(app, parked, "C")


def test_a_fork_in_a_subgraph_runs_nothing_before_the_gate_again(bench):
    inner = bench.builder(draft=bench.step("draft"), pay=bench.gate("pay")).compile()
    app = bench.guarded(bench.builder(inner=inner, notify=bench.step("notify")))
    app.invoke(INPUT, THREAD)
    parked = app.get_state(THREAD).config
    app.invoke(answer("yes"), THREAD)
    assert fork(app, parked, "no")["trail"][-2:] == ["pay=no", "notify"]
    assert bench.fired() == ["draft", "pay=yes", "notify", "pay=no", "notify"]


def test_a_fork_of_the_functional_api_has_its_own_decision(bench):
    app = bench.functional()
    app.invoke(1, THREAD)
    parked = app.get_state(THREAD).config
    app.invoke(answer("yes"), THREAD)
    assert fork(app, parked, "no") == ["draft", "pay=no"]


def test_a_fork_does_not_disturb_a_repetition_of_the_first_decision(bench):
    app = bench.approval()
    app.invoke(INPUT, THREAD)
    parked = app.get_state(THREAD).config
    app.invoke(answer("yes"), THREAD)
    fork(app, parked, "no")
    app.invoke(answer("yes"), parked)
    with pytest.raises(AlreadyConsumed):
        app.invoke(answer("other"), parked)
    assert bench.fired().count("notify") == 2


def test_a_checkpoint_id_is_no_fork_intent(bench):
    app = bench.approval()
    app.invoke(INPUT, THREAD)
    parked = app.get_state(THREAD).config
    app.invoke(answer("yes"), parked)
    before = bench.fired()
    with pytest.raises(SupersededCheckpoint, match="fork"):
        app.invoke(None, parked)
    with pytest.raises(UnknownAddress):
        app.invoke(None, {"configurable": {"thread_id": "t", "checkpoint_id": "1f000000-0000-6000-8000-000000000000"}})
    assert bench.fired() == before


def test_only_an_interrupt_can_be_forked(bench):
    app = bench.approval()
    app.invoke(INPUT, THREAD)
    first = list(app.get_state_history(THREAD))[-1].config
    with pytest.raises(NothingToFork):
        fork(app, first, "no")


def test_only_a_guarded_graph_can_be_forked(bench):
    stock = bench.builder(draft=bench.step("draft")).compile(checkpointer=bench.saver())
    with pytest.raises(UnsupportedSaver, match="isn't guarded"):
        fork(stock, THREAD, "no")


def nested(bench: Any) -> Any:
    inner = bench.builder(draft=bench.step("draft"), pay=bench.gate("pay")).compile()
    return bench.guarded(bench.builder(inner=inner, notify=bench.step("notify")))


SHAPES = {
    "graph": (lambda bench: bench.approval(), INPUT),
    "subgraph": (nested, INPUT),
    "functional": (lambda bench: bench.functional(), 1),
}


@pytest.mark.parametrize("answered", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_fork_into_a_thread_of_its_own_runs_nothing_before_the_gate_again(bench, shape, answered):
    """In every shape of program, whether or not the first decision was taken."""
    build, given = SHAPES[shape]
    app = build(bench)
    app.invoke(given, THREAD)
    parked = app.get_state(THREAD).config
    first = app.invoke(answer("yes"), THREAD) if answered else None
    before = bench.fired()
    fork(app, parked, "no", into="branch")
    assert [one for one in bench.fired()[len(before) :] if one != "notify"] == ["pay=no"]
    assert bench.fired().count("draft") == 1
    if answered:
        assert app.invoke(answer("yes"), THREAD) == first
    else:
        app.invoke(answer("yes"), THREAD)
    branch = {"configurable": {"thread_id": "branch"}}
    app.invoke(answer("no"), branch)
    with pytest.raises(AlreadyConsumed):
        app.invoke(answer("maybe"), branch)
    assert bench.fired().count("pay=yes") == bench.fired().count("pay=no") == 1


def test_a_fork_into_a_thread_keeps_the_answers_that_were_given_before(bench):
    app = bench.guarded(bench.builder(pay=bench.gate("pay", "first?", "second?")))
    app.invoke(INPUT, THREAD)
    app.invoke(answer("A"), THREAD)
    parked, (second,) = app.get_state(THREAD).config, pending(app)
    app.invoke(answer("B"), THREAD)
    assert fork(app, parked, "C", interrupt=second, into="branch")["trail"] == ["pay=A,C"]


def test_a_fork_into_a_thread_asks_again_what_was_answered_later(bench):
    builder = bench.builder(left=bench.gate("left"))
    builder.add_node("right", bench.gate("right"))
    builder.add_edge(START, "right")
    app = bench.guarded(builder)
    app.invoke(INPUT, THREAD)
    parked, (left, right) = app.get_state(THREAD).config, pending(app)
    app.invoke(answer({left: "A"}), THREAD)
    app.invoke(answer({right: "B"}), THREAD)
    forked = fork(app, parked, "C", interrupt=left, into="branch")
    assert [one.id for one in forked["__interrupt__"]] == [right]
    branch = {"configurable": {"thread_id": "branch"}}
    assert sorted(app.invoke(answer({right: "D"}), branch)["trail"]) == ["left=C", "right=D"]


def test_a_fork_overwrites_no_thread(bench):
    app = bench.approval()
    app.invoke(INPUT, THREAD)
    parked = app.get_state(THREAD).config
    other = {"configurable": {"thread_id": "other"}}
    app.invoke(INPUT, other)
    with pytest.raises(ThreadTaken):
        fork(app, parked, "no", into="other")
    assert app.invoke(answer("yes"), other)["trail"] == ["draft", "pay=yes", "notify"]


# Delivery ids ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by_config", [False, True])
def test_a_delivery_that_is_repeated_returns_its_recorded_outcome(bench, by_config):
    app = bench.approval()

    def deliver(payload: Any, name: str) -> Any:
        if by_config:
            return app.invoke(payload, {"configurable": {"thread_id": "t", "delivery_id": name}})
        return app.invoke(payload, THREAD, delivery_id=name)

    started = deliver(INPUT, "start")
    assert deliver(INPUT, "start") == started
    finished = deliver(answer("yes"), "approve")
    assert deliver(answer("yes"), "approve") == finished
    assert deliver(INPUT, "start")["__interrupt__"] == started["__interrupt__"]
    assert bench.fired() == ["draft", "pay=yes", "notify"]


def test_a_delivery_id_with_another_payload_is_refused(bench):
    app = bench.approval()
    app.invoke(INPUT, THREAD, delivery_id="start")
    app.invoke(answer("yes"), THREAD, delivery_id="approve")
    with pytest.raises(DeliveryMismatch):
        app.invoke(answer("no"), THREAD, delivery_id="approve")
    with pytest.raises(DeliveryMismatch):
        app.invoke({"trail": ["other"]}, THREAD, delivery_id="start")


def test_a_delivery_that_failed_can_be_made_again(bench):
    failing = [True]

    def fail_once() -> None:
        if failing.pop():
            raise ConnectionError("the bank is out of reach")

    app = bench.guarded(bench.builder(draft=bench.step("draft"), pay=bench.gate("pay", before=fail_once)))
    app.invoke(INPUT, THREAD, delivery_id="start")
    with pytest.raises(ConnectionError):
        app.invoke(answer("yes"), THREAD, delivery_id="approve")
    failing.append(False)
    assert app.invoke(answer("yes"), THREAD, delivery_id="approve")["trail"] == ["draft", "pay=yes"]
    assert bench.fired() == ["draft", "pay=yes"]


@pytest.mark.parametrize("into", [None, "branch"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_fork_that_is_delivered_twice_happens_once(bench, shape, into):
    build, given = SHAPES[shape]
    app = build(bench)
    app.invoke(given, THREAD)
    parked = app.get_state(THREAD).config
    app.invoke(answer("yes"), THREAD)
    forked = fork(app, parked, "no", into=into, delivery_id="fork")
    before = bench.fired()
    assert fork(app, parked, "no", into=into, delivery_id="fork") == forked
    assert bench.fired() == before
    with pytest.raises(DeliveryMismatch):
        fork(app, parked, "maybe", into=into, delivery_id="fork")


@pytest.mark.parametrize("into", [None, "branch"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_fork_that_failed_can_be_delivered_again(bench, shape, into, monkeypatch):
    build, given = SHAPES[shape]
    app = build(bench)
    app.invoke(given, THREAD)
    parked = app.get_state(THREAD).config
    app.invoke(answer("yes"), THREAD)
    fire, failing = bench.fire, ["pay=no"]

    def fail_once(what: str) -> None:
        if what in failing:
            failing.remove(what)
            raise ConnectionError("the bank is out of reach")
        fire(what)

    monkeypatch.setattr(bench, "fire", fail_once)
    with pytest.raises(ConnectionError):
        fork(app, parked, "no", into=into, delivery_id="fork")
    forked = fork(app, parked, "no", into=into, delivery_id="fork")
    assert bench.fired().count("pay=no") == 1
    assert fork(app, parked, "no", into=into, delivery_id="fork") == forked
    assert bench.fired().count("pay=no") == 1


def test_a_fork_is_no_repetition_of_an_answer_of_the_same_value(bench):
    app = bench.approval()
    app.invoke(INPUT, THREAD)
    parked = app.get_state(THREAD).config
    app.invoke(answer("yes"), THREAD, delivery_id="approve")
    with pytest.raises(DeliveryMismatch):
        fork(app, parked, "yes", delivery_id="approve")
