"""LV: whether a run that stood still came to its end."""

import pytest
from histories import INVALID, PLAIN, TWO_QUESTIONS, Protocol, cell, story

from resumption.contract.properties import Property
from resumption.contract.verdicts import Measured
from resumption.history.events import Intent, Phase

LV = Property.LIVENESS


def test_parked_run_that_an_answer_completes_conforms() -> None:
    p = Protocol()
    p.to_the_end()
    assert cell(p, LV).measured is Measured.CONFORMS


def test_crashed_run_that_a_recovery_completes_conforms() -> None:
    p = Protocol()
    p.to_the_gate()
    p.deliver(True)
    p.dies()
    p.recover()
    p.passes_the_gate(True)
    p.deliver(False, intent=Intent.STRAY)
    p.raises()
    assert cell(p, LV).measured is Measured.CONFORMS


def test_recovery_that_raises_breaches() -> None:
    p = Protocol()
    p.to_the_gate()
    p.deliver(True)
    p.dies()
    p.recover()
    p.raises("GraphRuntimeError")
    assert story(cell(p, LV)) == (
        "the last attempt to bring the run on branch b0 to its end raised GraphRuntimeError\n"
        "  #8 the run parked at `ok?`\n"
        "  #12 a recovery (form no-input) was asked for on branch b0, in process 3\n"
        "  #13 the operation raised GraphRuntimeError: no"
    )


def test_answer_after_which_the_run_parks_at_the_same_question_breaches() -> None:
    p = Protocol()
    p.to_the_gate()
    for _ in range(2):
        p.deliver(True, intent=Intent.ANSWER)
        p.parks()
    assert "parked again at `ok?`, which it was answering" in story(cell(p, LV))


def test_run_that_reads_as_finished_without_a_task_breaches() -> None:
    p = Protocol()
    p.to_the_gate()
    p.deliver(True)
    p.returns("a", "approve=True")
    assert "returned as finished without `c`" in story(cell(p, LV))


def test_fork_that_never_finishes_breaches_though_the_main_line_did() -> None:
    p = Protocol()
    p.to_the_end()
    p.fork(False)
    p.dies()
    p.recover("b0.1")
    p.returns("a", "approve=False")
    assert "on branch b0.1" in story(cell(p, LV))


@pytest.mark.parametrize("end", ["parks", "dies"])
def test_last_attempt_that_died_or_left_a_question_has_not_failed_yet(end: str) -> None:
    p = Protocol()
    p.to_the_gate()
    p.deliver(True)
    p.dies()
    p.recover()
    getattr(p, end)()
    assert cell(p, LV).measured is Measured.UNEXERCISED


def test_answer_that_died_or_led_to_the_next_question_has_not_failed_yet() -> None:
    p = Protocol()
    p.to_the_gate()
    p.deliver(True)
    p.dies()
    assert cell(p, LV).measured is Measured.UNEXERCISED
    q = Protocol(TWO_QUESTIONS)
    q.start()
    q.begins("a", sees=[])
    q.parks("q1")
    q.deliver(True, to="q1")
    q.parks("q2")
    assert cell(q, LV).measured is Measured.UNEXERCISED


@pytest.mark.parametrize(("began", "measured"), [(False, Measured.UNEXERCISED), (True, Measured.BREACHES)])
def test_a_run_that_died_before_its_first_task_can_be_refused(began: bool, measured: Measured) -> None:
    p = Protocol()
    p.start()
    p.stores(phase=Phase.END)
    if began:
        p.begins("a", sees=[])
    p.dies()
    p.recover()
    p.raises("EmptyInputError")
    assert cell(p, LV).measured is measured


def test_run_that_never_stood_still_is_unexercised() -> None:
    p = Protocol(PLAIN)
    p.start()
    for task, sees in (("a", []), ("b", ["a"]), ("c", ["a", "b"])):
        p.runs(task, sees=sees)
    p.returns("a", "b", "c")
    p.recover()
    p.returns("a", "b", "c")
    assert cell(p, LV).measured is Measured.UNEXERCISED


def test_run_that_nobody_resumed_is_unexercised() -> None:
    p = Protocol()
    p.to_the_gate()
    assert cell(p, LV).measured is Measured.UNEXERCISED


def test_program_that_hands_over_an_invalid_write_shows_nothing() -> None:
    p = Protocol(INVALID)
    p.start()
    p.raises()
    p.recover()
    p.raises()
    assert "no conforming plane completes it" in cell(p, LV).reason
