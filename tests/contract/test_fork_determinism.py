"""FD: each decision at one interrupt has its own outcome."""

import pytest
from histories import TWO_QUESTIONS, Protocol, cell, story

from resumption.contract.properties import Property
from resumption.contract.verdicts import Measured
from resumption.history.events import Intent

FD = Property.FORK_DETERMINISM


def answered(value: object = True) -> Protocol:
    p = Protocol()
    p.to_the_end(value)
    return p


def test_each_decision_with_its_own_outcome_conforms() -> None:
    p = answered()
    forks = []
    for value in (False, "later"):
        forks.append(p.fork(value).number)
        p.passes_the_gate(value)
    found = cell(p, FD)
    assert found.measured is Measured.CONFORMS
    assert set(forks) <= set(found.witnesses)


def test_fork_that_is_served_the_first_answer_breaches() -> None:
    p = answered()
    p.fork(False)
    p.passes_the_gate(True)
    assert story(cell(p, FD)) == (
        "the decision false at interrupt `ok?` on branch b0.1 was served true instead\n"
        "  #24 delivery d3 (fork, form bare) brought false for interrupt `ok?` on branch b0.1, in process 3\n"
        "  #26 interrupt `ok?` consumed true on branch b0.1"
    )


def test_true_and_one_are_two_decisions() -> None:
    p = answered(True)
    p.fork(1)
    p.passes_the_gate(True)
    assert "the decision 1 at interrupt `ok?` on branch b0.1 was served true instead" in story(cell(p, FD))


@pytest.mark.parametrize(
    ("end", "how"), [("returns", "never consumed"), ("parks", "never consumed"), ("raises", "refused")]
)
def test_fork_that_the_gate_never_received_breaches(end: str, how: str) -> None:
    p = answered()
    p.fork(False)
    getattr(p, end)()
    assert f"on branch b0.1 was {how}" in story(cell(p, FD))


def test_fork_whose_effect_never_fired_breaches() -> None:
    p = answered()
    p.fork(False)
    p.begins("approve", sees=["a"])
    p.consumes(False)
    p.ends("approve", write=["approve=False"])
    p.returns("a", "approve=False", "c")
    assert "was consumed, but its effect `pay` never fired" in story(cell(p, FD))


def test_fork_whose_effect_fired_twice_breaches() -> None:
    p = answered()
    p.fork(False)
    p.begins("approve", sees=["a"])
    p.consumes(False)
    p.fires("pay")
    p.fires("pay")
    p.returns("a", "approve=False", "c")
    assert "fired its effect `pay` 2 times" in story(cell(p, FD))


def test_fork_whose_decision_is_missing_from_the_outcome_breaches() -> None:
    p = answered()
    p.fork(False)
    p.runs("approve", sees=["a"], decisions=(False,))
    p.returns("a", "approve=True", "c")
    assert "the run returned without `approve=False`" in story(cell(p, FD))


def test_fork_that_a_recovery_brought_to_its_end_counts() -> None:
    p = answered()
    p.fork(False)
    p.begins("approve", sees=["a"])
    p.consumes(False)
    p.dies()
    p.recover("b0.1")
    p.passes_the_gate(False)
    assert cell(p, FD).measured is Measured.CONFORMS


def test_effect_that_a_recovery_repeats_is_left_to_exactly_once() -> None:
    p = answered()
    p.fork(False)
    p.begins("approve", sees=["a"])
    p.acts("approve", (False,))
    p.dies()
    p.recover("b0.1")
    p.passes_the_gate(False)
    assert cell(p, FD).measured is Measured.CONFORMS


@pytest.mark.parametrize("consumed", [True, False])
def test_fork_that_died_and_was_left_alone_has_no_outcome(consumed: bool) -> None:
    p = answered()
    p.fork(False)
    p.begins("approve", sees=["a"])
    if consumed:
        p.consumes(False)
    p.dies()
    assert cell(p, FD).measured is Measured.UNEXERCISED


def test_one_answer_is_no_fork() -> None:
    assert cell(answered(), FD).measured is Measured.UNEXERCISED


def test_stray_on_the_main_line_does_not_count_as_a_decision() -> None:
    p = answered()
    p.deliver(False, intent=Intent.STRAY)
    p.passes_the_gate(False)
    p.fork("x")
    p.passes_the_gate("x")
    assert cell(p, FD).measured is Measured.CONFORMS


def test_fork_at_the_second_question_keeps_the_first_answer() -> None:
    p = Protocol(TWO_QUESTIONS)
    p.start()
    p.runs("a", sees=[])
    p.begins("approve", sees=["a"])
    p.parks("q1")
    p.deliver("yes", to="q1")
    p.begins("approve", sees=["a"])
    p.consumes("yes", interrupt="q1")
    p.fires("hold")
    p.parks("q2")
    p.deliver("yes", to="q2")
    p.begins("approve", sees=["a"])
    for question in ("q1", "q2"):
        p.consumes("yes", interrupt=question)
    p.fires("pay")
    p.returns("a", "approve=yes+yes", "c")
    p.fork("no", to="q2")
    p.begins("approve", sees=["a"])
    p.consumes("yes", interrupt="q1")
    p.consumes("no", interrupt="q2")
    p.fires("pay")
    p.returns("a", "approve=yes+no", "c")
    assert cell(p, FD).measured is Measured.CONFORMS
    assert cell(p, Property.CONSUME_ONCE_COUNT).measured is Measured.CONFORMS
