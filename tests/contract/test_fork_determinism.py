"""FD: each decision at one interrupt has its own outcome."""

from dataclasses import replace

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
        "  #26 interrupt `ok?` consumed true on branch b0.1, in process 3"
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


@pytest.mark.parametrize(("end", "how"), [("raises", "the operation raised"), ("parks", "the run parked there again")])
@pytest.mark.parametrize("recovered", [False, True])
def test_third_decision_that_was_consumed_and_came_to_nothing_breaches(end: str, how: str, recovered: bool) -> None:
    p = answered()
    p.fork(False)
    p.passes_the_gate(False)
    p.fork("later")
    p.begins("approve", sees=["a"])
    p.acts("approve", ("later",))
    if recovered:
        p.dies()
        p.recover("b0.2")
    getattr(p, end)()
    assert f"on branch b0.2 was consumed, but never came to an outcome: {how}" in story(cell(p, FD))


@pytest.mark.parametrize("end", ["raises", "parks"])
def test_decision_that_came_to_nothing_is_not_excused_by_the_one_that_replaced_it(end: str) -> None:
    p = answered()
    p.fork(False)
    p.begins("approve", sees=["a"])
    p.consumes(False)
    getattr(p, end)()
    p.deliver("later", branch="b0.1")
    p.passes_the_gate("later")
    assert "the decision false at interrupt `ok?` on branch b0.1 was consumed, but never" in story(cell(p, FD))


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


def test_outcome_that_is_no_list_holds_no_decision() -> None:
    p = answered()
    p.fork(False)
    p.runs("approve", sees=["a"], decisions=(False,))
    number = p.returns()
    p.events[number - 1] = replace(p.events[number - 1], trail=None)
    assert "the run returned without `approve=False`" in story(cell(p, FD))


def test_answer_that_was_lost_in_a_crash_and_given_again_is_judged_by_the_second() -> None:
    p = Protocol()
    p.to_the_gate()
    p.deliver("yes", name="lost")
    p.begins("approve", sees=["a"])
    p.consumes("yes")
    p.dies()
    p.recover()
    p.parks()
    second = p.deliver("maybe")
    p.passes_the_gate("maybe")
    p.fork("no")
    p.passes_the_gate("no")
    found = cell(p, FD)
    assert found.measured is Measured.CONFORMS
    assert found.witnesses[0] == second.number


def test_stray_on_the_forks_branch_does_not_end_what_the_fork_began() -> None:
    p = answered()
    fork = p.fork(False)
    p.begins("approve", sees=["a"])
    p.consumes(False)
    p.dies()
    p.deliver("other", intent=Intent.STRAY, branch="b0.1")
    p.raises()
    p.recover("b0.1")
    p.passes_the_gate(False)
    assert fork.number in cell(p, FD).witnesses


def test_fork_delivered_again_under_its_name_is_the_same_decision() -> None:
    p = answered()
    p.fork(False)
    p.begins("approve", sees=["a"])
    p.consumes(False)
    p.dies()
    p.deliver(False, name="d3", intent=Intent.RETRY, branch="b0.1")
    p.passes_the_gate(False)
    assert cell(p, FD).measured is Measured.CONFORMS


def test_effect_that_a_stray_fired_is_not_the_forks() -> None:
    p = answered()
    p.fork(False)
    p.begins("approve", sees=["a"])
    p.consumes(False)
    p.returns("a", "approve=False", "c")
    p.deliver("other", intent=Intent.STRAY, branch="b0.1")
    p.fires("pay")
    p.raises()
    assert "its effect `pay` never fired" in story(cell(p, FD))


def test_two_answers_on_copies_of_the_store_are_no_fork() -> None:
    p = answered()
    p.deliver(False, branch="copy1")
    p.passes_the_gate(False)
    assert cell(p, FD).measured is Measured.UNEXERCISED


# Two questions in one task -------------------------------------------------------------------------------------------


def at_the_second_question() -> Protocol:
    p = Protocol(TWO_QUESTIONS)
    p.start()
    p.runs("a", sees=[])
    p.begins("approve", sees=["a"])
    p.parks("q1")
    p.deliver("yes", to="q1")
    passes_the_first_question(p, "yes")
    return p


def passes_the_first_question(p: Protocol, value: str) -> None:
    p.begins("approve", sees=["a"])
    p.consumes(value, interrupt="q1")
    p.fires("hold")
    p.parks("q2")


def passes_the_second_question(p: Protocol, first: str, second: str, *, trail: str) -> None:
    p.begins("approve", sees=["a"])
    p.consumes(first, interrupt="q1")
    p.consumes(second, interrupt="q2")
    p.fires("pay")
    p.returns("a", trail, "c")


def test_decision_has_its_outcome_once_the_next_question_is_asked() -> None:
    p = at_the_second_question()
    p.fork("no", to="q1")
    passes_the_first_question(p, "no")
    assert cell(p, FD).measured is Measured.CONFORMS


def test_decision_after_which_the_same_question_is_asked_breaches() -> None:
    p = at_the_second_question()
    p.fork("no", to="q1")
    p.begins("approve", sees=["a"])
    p.consumes("no", interrupt="q1")
    p.parks("q1")
    assert "never came to an outcome: the run parked there again" in story(cell(p, FD))


def test_first_decision_must_still_show_after_the_second_question() -> None:
    p = at_the_second_question()
    p.fork("no", to="q1")
    passes_the_first_question(p, "no")
    p.deliver("yes", to="q2", branch="b0.1")
    passes_the_second_question(p, "no", "yes", trail="approve=yes+yes")
    assert "the run returned without `approve=no+yes`" in story(cell(p, FD))


def test_outcome_that_a_missing_second_answer_leaves_open_is_not_compared() -> None:
    p = at_the_second_question()
    p.fork("no", to="q1")
    p.begins("approve", sees=["a"])
    p.consumes("no", interrupt="q1")
    p.fires("hold")
    p.returns("a", "c")
    assert cell(p, FD).measured is Measured.CONFORMS


def test_answer_to_another_question_is_no_decision_at_this_one() -> None:
    p = at_the_second_question()
    p.fork("no", to="q2")
    passes_the_second_question(p, "yes", "no", trail="approve=yes+no")
    assert cell(p, FD).measured is Measured.UNEXERCISED


def test_fork_at_the_second_question_keeps_the_first_answer() -> None:
    p = at_the_second_question()
    p.deliver("yes", to="q2")
    passes_the_second_question(p, "yes", "yes", trail="approve=yes+yes")
    p.fork("no", to="q2")
    passes_the_second_question(p, "yes", "no", trail="approve=yes+no")
    assert cell(p, FD).measured is Measured.CONFORMS
    assert cell(p, Property.CONSUME_ONCE_COUNT).measured is Measured.CONFORMS
