"""FI: the same interrupt gets a fork and a repeated delivery, and the plane tells them apart."""

import pytest
from histories import TWO_QUESTIONS, Protocol, cell, story

from resumption.contract.properties import Property
from resumption.contract.verdicts import Measured
from resumption.history.events import Intent
from resumption.history.workload import Interrupt, Task, Workload

FI = Property.FORK_INTENT
AGAIN = [Intent.RETRY, Intent.STRAY]
EFFECTLESS = Workload((Task("approve", (Interrupt("ok?"),)), Task("after")))


def with_retry(intent: Intent, *, fires: bool) -> Protocol:
    p = Protocol()
    p.to_the_end()
    p.deliver(True, intent=intent)
    if fires:
        p.passes_the_gate(True)
    else:
        p.returns("a", "approve=True", "c")
    return p


@pytest.mark.parametrize("intent", AGAIN)
def test_fork_with_its_own_outcome_beside_an_inert_retry_conforms(intent: Intent) -> None:
    p = with_retry(intent, fires=False)
    fork = p.fork(False)
    p.passes_the_gate(False)
    assert fork.number in cell(p, FI).witnesses


@pytest.mark.parametrize("intent", AGAIN)
def test_retry_that_acts_like_a_fork_breaches(intent: Intent) -> None:
    p = with_retry(intent, fires=True)
    p.fork(False)
    p.passes_the_gate(False)
    assert "a resume at a finished run fired effect `pay`" in story(cell(p, FI))


@pytest.mark.parametrize("intent", AGAIN)
def test_fork_that_acts_like_a_retry_breaches(intent: Intent) -> None:
    p = with_retry(intent, fires=False)
    p.fork(False)
    p.returns("a", "approve=True", "c")
    assert "was never consumed" in story(cell(p, FI))


def test_copy_of_the_store_is_no_discriminator() -> None:
    p = with_retry(Intent.RETRY, fires=False)
    p.deliver(False, branch="copy1")
    p.passes_the_gate(False)
    assert cell(p, FI).measured is Measured.UNEXERCISED


def test_fork_alone_or_retry_alone_is_unexercised() -> None:
    assert cell(with_retry(Intent.RETRY, fires=True), FI).measured is Measured.UNEXERCISED
    p = Protocol()
    p.to_the_end()
    p.fork(False)
    p.passes_the_gate(False)
    assert cell(p, FI).measured is Measured.UNEXERCISED


def test_fork_and_retry_at_two_interrupts_are_unexercised() -> None:
    p = Protocol(TWO_QUESTIONS)
    p.start()
    p.runs("a", sees=[])
    p.begins("approve", sees=["a"])
    p.parks("q1")
    p.deliver("yes", to="q1", name="d1")
    p.consumes("yes", interrupt="q1")
    p.parks("q2")
    p.deliver("yes", to="q1", name="d1", intent=Intent.RETRY)
    p.parks("q2")
    p.fork("no", to="q2")
    p.runs("approve", sees=["a"], decisions=("yes", "no"))
    p.returns("a", "approve=yes+no", "c")
    assert cell(p, FI).measured is Measured.UNEXERCISED


def test_fork_that_died_shows_nothing() -> None:
    p = with_retry(Intent.RETRY, fires=False)
    p.fork(False)
    p.dies()
    assert cell(p, FI).measured is Measured.UNEXERCISED


def passes_an_effectless_gate(p: Protocol, value: str) -> None:
    p.runs("approve", sees=[], decisions=(value,))
    p.runs("after", sees=[f"approve={value}"])
    p.returns(f"approve={value}", "after")


def effectless(intent: Intent, *, given: str, received: str) -> Protocol:
    """An effectless gate is answered with `yes`, forked with `no`, and then gets a decision again."""
    p = Protocol(EFFECTLESS)
    p.start()
    p.begins("approve", sees=[])
    p.parks()
    p.deliver("yes", name="first")
    passes_an_effectless_gate(p, "yes")
    p.fork("no")
    passes_an_effectless_gate(p, "no")
    p.deliver(given, intent=intent, name="first" if intent is Intent.RETRY else "second")
    passes_an_effectless_gate(p, received)
    return p


@pytest.mark.parametrize("intent", AGAIN)
def test_resume_that_decides_an_effectless_gate_again_breaches(intent: Intent) -> None:
    found = cell(effectless(intent, given="maybe", received="maybe"), FI)
    assert "a resume without fork intent decided interrupt `ok?` again on branch b0" in story(found)


def test_stray_that_replaces_a_decision_by_an_equal_one_breaches() -> None:
    assert cell(effectless(Intent.STRAY, given="yes", received="yes"), FI).measured is Measured.BREACHES


@pytest.mark.parametrize(("intent", "given"), [(Intent.RETRY, "yes"), (Intent.STRAY, "maybe")])
def test_gate_that_receives_its_recorded_decision_again_decides_nothing(intent: Intent, given: str) -> None:
    assert cell(effectless(intent, given=given, received="yes"), FI).measured is Measured.CONFORMS
