"""One interrupt is consumed by one decision, and one decision by one interrupt."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.func import entrypoint
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

from resumption.langgraph import (
    AlreadyConsumed,
    AmbiguousAnswer,
    EmptyAnswer,
    NotPending,
    ProgramChanged,
    UnknownAddress,
    guard,
)

from .programs import THREAD, Bench, State, answer, pending

INPUT: Any = {"trail": []}


def test_a_decision_is_served_to_the_gate(bench):
    app = bench.approval()
    assert len(app.invoke(INPUT, THREAD)["__interrupt__"]) == 1
    assert app.invoke(answer("yes"), THREAD) == {"trail": ["draft", "pay=yes", "notify"]}
    assert bench.fired() == ["draft", "pay=yes", "notify"]


def test_the_same_decision_again_returns_the_outcome_and_fires_nothing(bench):
    app = bench.approval()
    app.invoke(INPUT, THREAD)
    first = app.invoke(answer("yes"), THREAD)
    assert app.invoke(answer("yes"), THREAD) == first
    assert bench.fired() == ["draft", "pay=yes", "notify"]


def test_another_decision_is_refused_by_name_and_fires_nothing(bench):
    app = bench.approval()
    app.invoke(INPUT, THREAD)
    (asked,) = pending(app)
    app.invoke(answer("yes"), THREAD)
    for second in (answer("no"), answer({asked: "no"})):
        with pytest.raises(AlreadyConsumed, match=asked):
            app.invoke(second, THREAD)
    assert bench.fired() == ["draft", "pay=yes", "notify"]


def test_a_repetition_can_be_refused_too(bench):
    app = bench.approval(on_conflict="raise")
    app.invoke(INPUT, THREAD)
    app.invoke(answer("yes"), THREAD)
    with pytest.raises(AlreadyConsumed, match="the same decision"):
        app.invoke(answer("yes"), THREAD)


def test_mappings_are_the_same_decision_in_any_order(bench):
    app = bench.approval()
    app.invoke(INPUT, THREAD)
    app.invoke(answer({"a": 1, "b": 2}), THREAD)
    app.invoke(answer({"b": 2, "a": 1}), THREAD)
    assert bench.fired().count("notify") == 1


def test_a_second_interrupt_is_not_answered_by_the_first_answer(bench):
    """LangGraph #8837: `invoke(None)` finished with A, A."""
    app = bench.guarded(bench.builder(pay=bench.gate("pay", "first?", "second?")))
    app.invoke(INPUT, THREAD)
    app.invoke(answer("A"), THREAD)
    assert "__interrupt__" in app.invoke(None, THREAD)
    assert bench.fired() == []
    assert app.invoke(answer("B"), THREAD)["trail"] == ["pay=A,B"]


def test_the_first_answer_again_does_not_answer_the_second_interrupt(bench):
    app = bench.guarded(bench.builder(pay=bench.gate("pay", "first?", "second?")))
    app.invoke(INPUT, THREAD)
    app.invoke(answer("A"), THREAD, delivery_id="first")
    app.invoke(answer("A"), THREAD, delivery_id="first")
    assert len(pending(app)) == 1
    assert app.invoke(answer("B"), THREAD)["trail"] == ["pay=A,B"]


def test_two_interrupts_of_a_node_are_answered_from_two_openings(bench):
    """G5; with a client that always sends the checkpoint it last saw (G9, G10)."""
    builder = bench.builder(pay=bench.gate("pay", "first?", "second?"))
    bench.guarded(builder).invoke(INPUT, THREAD)
    for value in ("A", "B"):
        app = bench.guarded(builder)
        outcome = app.invoke(answer(value), app.get_state(THREAD).config)
    assert outcome["trail"] == ["pay=A,B"]
    assert bench.fired() == ["pay=A,B"]


def _parallel(bench: Bench) -> Any:
    builder = bench.builder(left=bench.gate("left"))
    builder.add_node("right", bench.gate("right"))
    builder.add_edge(START, "right")
    return bench.guarded(builder)


def test_two_parallel_approvers_each_answer_their_own(bench):
    """G6."""
    _parallel(bench).invoke(INPUT, THREAD)
    first, second = pending(_parallel(bench))
    _parallel(bench).invoke(answer({first: "A"}), THREAD)
    assert sorted(_parallel(bench).invoke(answer({second: "B"}), THREAD)["trail"]) == ["left=A", "right=B"]
    assert sorted(bench.fired()) == ["left=A", "right=B"]


def test_a_bare_answer_to_several_interrupts_is_refused(bench):
    app = _parallel(bench)
    app.invoke(INPUT, THREAD)
    with pytest.raises(AmbiguousAnswer, match="2 could take it"):
        app.invoke(answer("A"), THREAD)
    assert len(pending(app)) == 2


def test_parallel_interrupts_are_answered_together(bench):
    app = _parallel(bench)
    app.invoke(INPUT, THREAD)
    first, second = pending(app)
    assert sorted(app.invoke(answer({first: "A", second: "B"}), THREAD)["trail"]) == ["left=A", "right=B"]


def test_an_answer_for_a_finished_parallel_task_is_refused(bench):
    """LangGraph #5952: it was ignored in silence."""
    app = _parallel(bench)
    app.invoke(INPUT, THREAD)
    first, _ = pending(app)
    app.invoke(answer({first: "A"}), THREAD)
    with pytest.raises(AlreadyConsumed):
        app.invoke(answer({first: "other"}), THREAD)


def test_an_interrupt_in_a_subgraph_is_answered_from_another_opening(bench):
    """G7: the code before the gate doesn't run again."""
    inner = bench.builder(draft=bench.step("draft"), pay=bench.gate("pay", "first?", "second?")).compile()
    outer = bench.builder(inner=inner, notify=bench.step("notify"))
    bench.guarded(outer).invoke(INPUT, THREAD)
    for value in ("A", "B"):
        outcome = bench.guarded(outer).invoke(answer(value), THREAD)
    assert outcome["trail"][-2:] == ["pay=A,B", "notify"]
    assert bench.fired() == ["draft", "pay=A,B", "notify"]


def test_an_interrupt_in_a_subgraph_that_keeps_nothing_is_answered_once(bench):
    inner = bench.builder(pay=bench.gate("pay")).compile(checkpointer=False)
    app = bench.guarded(bench.builder(inner=inner, notify=bench.step("notify")))
    app.invoke(INPUT, THREAD)
    app.invoke(answer("yes"), THREAD)
    app.invoke(answer("yes"), THREAD)
    assert bench.fired() == ["pay=yes", "notify"]


def test_an_interrupt_of_the_functional_api_is_answered_once(bench):
    bench.functional().invoke(1, THREAD)
    assert bench.functional().invoke(answer("yes"), THREAD) == ["draft", "pay=yes"]
    bench.functional().invoke(answer("yes"), THREAD)
    with pytest.raises(AlreadyConsumed):
        bench.functional().invoke(answer("no"), THREAD)
    assert bench.fired() == ["draft", "pay=yes"]


def test_a_task_that_was_sent_to_is_answered_by_name(bench):
    from langgraph.types import Send

    def ask(item: dict[str, str]) -> Any:
        bench.fire(f"{item['name']}={interrupt(item['name'])}")
        return {"trail": [item["name"]]}

    builder: StateGraph[Any] = StateGraph(State)
    builder.add_node("ask", ask)
    builder.add_conditional_edges(START, lambda _: [Send("ask", {"name": name}) for name in ("x", "y")], ["ask"])
    app = bench.guarded(builder)
    app.invoke(INPUT, THREAD)
    asked = {one.value: one.id for one in app.get_state(THREAD).interrupts}
    app.invoke(answer({asked["y"]: "Y"}), THREAD)
    app.invoke(answer({asked["x"]: "X"}), THREAD)
    assert sorted(bench.fired()) == ["x=X", "y=Y"]


def test_an_id_that_nobody_issued_is_refused(bench):
    """LangGraph #8836: it was ignored in silence."""
    app = bench.approval()
    app.invoke(INPUT, THREAD)
    with pytest.raises(UnknownAddress):
        app.invoke(answer({"0" * 32: "yes"}), THREAD)
    assert len(pending(app)) == 1


def test_an_empty_answer_is_refused(bench):
    app = bench.approval()
    app.invoke(INPUT, THREAD)
    with pytest.raises(EmptyAnswer):
        app.invoke(answer({}), THREAD)


def test_an_answer_to_a_thread_that_never_asked_is_refused(bench):
    app = bench.guarded(bench.builder(draft=bench.step("draft")))
    with pytest.raises(NotPending):
        app.invoke(answer("yes"), THREAD)
    app.invoke(INPUT, THREAD)
    with pytest.raises(NotPending):
        app.invoke(answer("yes"), THREAD)


@pytest.mark.parametrize("name", ["bare", "named"])
def test_an_answer_to_a_node_that_was_renamed_is_refused_and_kept_for_the_program_that_asked(bench, name):
    """Stock LangGraph takes the answer, and reads the run as finished."""
    app = bench.approval()
    app.invoke(INPUT, THREAD)
    (asked,) = pending(app)
    payload = answer("yes" if name == "bare" else {asked: "yes"})
    renamed = bench.guarded(bench.builder(draft=bench.step("draft"), consent=bench.gate("consent")))
    with pytest.raises(ProgramChanged, match=asked):
        renamed.invoke(payload, THREAD)
    assert bench.fired() == ["draft"]
    assert app.invoke(answer("no"), THREAD)["trail"] == ["draft", "pay=no", "notify"]


def test_an_answer_to_an_entrypoint_of_another_name_is_refused(bench):
    def program_of(name: str) -> Any:
        def program(_: Any) -> Any:
            return interrupt("sure?")

        program.__name__ = name
        return guard(entrypoint(checkpointer=bench.saver())(program))

    program_of("before").invoke(1, THREAD)
    with pytest.raises(ProgramChanged):
        program_of("after").invoke(answer("yes"), THREAD)
    assert program_of("before").invoke(answer("yes"), THREAD) == "yes"


def test_inspection_takes_nothing(bench):
    """G3, G4: a dashboard and a recovery worker look at a parked run."""
    app = bench.approval()
    app.invoke(INPUT, THREAD)
    for _ in range(3):
        bench.approval().get_state(THREAD)
        list(bench.approval().get_state_history(THREAD))
    assert "__interrupt__" in bench.approval().invoke(None, THREAD)
    assert app.invoke(answer("yes"), THREAD)["trail"][-1] == "notify"


def test_an_answer_at_a_breakpoint_is_served_to_the_gate_behind_it(bench):
    builder = bench.builder(draft=bench.step("draft"), pay=bench.gate("pay", "first?", "second?"))
    app = guard(builder.compile(checkpointer=bench.saver(), interrupt_before=["pay"]))
    app.invoke(INPUT, THREAD)
    app.invoke(answer("A"), THREAD)
    assert "__interrupt__" in app.invoke(None, THREAD)
    assert bench.fired() == ["draft"]
    assert app.invoke(answer("B"), THREAD)["trail"] == ["draft", "pay=A,B"]


def test_a_second_answer_to_a_run_that_was_cut_off_behind_its_gate_is_refused(bench):
    """It would recover the run, and wait for whatever is asked next: the gate that it was meant for has its answer."""
    failing = [True]

    def notify(state: State) -> Any:
        if failing:
            raise ConnectionError
        bench.fire("notify")
        return {"trail": ["notify"]}

    app = bench.guarded(bench.builder(pay=bench.gate("pay"), notify=notify, last=bench.gate("last")))
    app.invoke(INPUT, THREAD)
    with pytest.raises(ConnectionError):
        app.invoke(answer("yes"), THREAD)
    failing.clear()
    with pytest.raises(AlreadyConsumed):
        app.invoke(answer("no"), THREAD)
    assert bench.fired() == ["pay=yes"]
    assert "__interrupt__" in app.invoke(answer("yes"), THREAD)
    assert bench.fired() == ["pay=yes", "notify"]


def test_an_answer_behind_an_update_of_an_answered_run_is_served_to_the_next_gate(bench):
    app = bench.guarded(bench.builder(pay=bench.gate("pay"), last=bench.gate("last")))
    app.invoke(INPUT, THREAD)
    app.invoke(answer("yes"), THREAD)
    app.update_state(THREAD, {"trail": ["by hand"]}, as_node="pay")
    assert app.invoke(answer("no"), THREAD)["trail"] == ["pay=yes", "by hand", "last=no"]
    with pytest.raises(AlreadyConsumed, match=r"Thread 't' was given another decision at "):
        app.invoke(answer("yes"), THREAD)  # the first of the two wasn't for an interrupt that had an id yet


def test_an_answer_at_a_breakpoint_of_a_subgraph_is_served_to_the_gate_behind_it(bench):
    inner = bench.builder(draft=bench.step("draft"), send=bench.gate("send")).compile(interrupt_before=["send"])
    app = bench.guarded(bench.builder(pay=bench.gate("pay"), inner=inner))
    app.invoke(INPUT, THREAD)
    app.invoke(answer("A"), THREAD)
    assert bench.fired() == ["pay=A", "draft"]
    app.invoke(answer("B"), THREAD)
    assert bench.fired() == ["pay=A", "draft", "send=B"]


def test_an_answer_to_a_crashed_subgraph_is_served_to_its_next_gate_which_takes_no_other(bench):
    """It can't be told from an answer to a breakpoint. Nothing is pending then, so that no interrupt has its name."""
    failing = [True]

    def draft(state: State) -> Any:
        if failing:
            raise ConnectionError
        return {"trail": ["draft"]}

    app = bench.guarded(bench.builder(inner=bench.builder(draft=draft, pay=bench.gate("pay")).compile()))
    with pytest.raises(ConnectionError):
        app.invoke(INPUT, THREAD)
    failing.clear()
    app.invoke(answer("yes"), THREAD)
    with pytest.raises(AlreadyConsumed, match=r"^\[RSM-503\] Thread '\w+' was given another decision at"):
        app.invoke(answer("no"), THREAD)
    assert bench.fired() == ["pay=yes"]


def test_an_answer_comes_with_an_update(bench):
    app = bench.approval()
    app.invoke(INPUT, THREAD)
    command: Command[Any] = Command(resume="yes", update={"trail": ["by hand"]})
    assert app.invoke(command, THREAD)["trail"] == ["draft", "by hand", "pay=yes", "notify"]


def test_a_thread_is_handed_from_stock_to_guard_and_back(bench):
    class Values(TypedDict):
        trail: Annotated[list[str], operator.add]

    builder = bench.builder(pay=bench.gate("pay", "first?", "second?"))
    stock = builder.compile(checkpointer=bench.saver())
    stock.invoke(INPUT, THREAD)
    assert "__interrupt__" in bench.guarded(builder).invoke(answer("A"), THREAD)
    assert stock.invoke(answer("B"), THREAD)["trail"] == ["pay=A,B"]
