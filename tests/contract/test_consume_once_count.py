"""CO-c: how many deliveries one interrupt consumes, and how many interrupts one delivery."""

import pytest
from histories import TWO_QUESTIONS, Protocol, cell, story

from resumption.contract.properties import Property
from resumption.contract.verdicts import Measured
from resumption.history.events import Intent

CO_C = Property.CONSUME_ONCE_COUNT


def race(*values: object, served: int) -> Protocol:
    """Racing deliveries, of which the first `served` reach the gate."""
    p = Protocol()
    p.to_the_gate()
    racers = [p.deliver(value, intent=Intent.RACE, name=f"r{place}") for place, value in enumerate(values, 1)]
    for racer, value in zip(racers[:served], values, strict=False):
        p.on(racer).runs("approve", sees=["a"], decisions=(value,))
        p.returns("a", f"approve={value}", "c")
    for racer in racers[served:]:
        p.on(racer).raises("AlreadyConsumed")
    return p


def at_the_second_question() -> Protocol:
    p = Protocol(TWO_QUESTIONS)
    p.start()
    p.runs("a", sees=[])
    p.begins("approve", sees=["a"])
    p.parks("q1")
    p.deliver("yes", to="q1", name="d1")
    p.begins("approve", sees=["a"])
    p.consumes("yes", interrupt="q1")
    p.parks("q2")
    return p


def test_race_with_one_winner_conforms() -> None:
    found = cell(race(True, False, served=1), CO_C)
    assert found.measured is Measured.CONFORMS
    assert len(found.witnesses) == 2


def test_race_in_which_two_deliveries_are_consumed_breaches() -> None:
    found = cell(race(True, True, served=2), CO_C)
    assert story(found) == (
        "interrupt `ok?` on branch b0 consumed 2 deliveries: r1, r2\n"
        "  #10 delivery r1 (race, form bare) brought true for interrupt `ok?` on branch b0, in process 2\n"
        "  #11 delivery r2 (race, form bare) brought true for interrupt `ok?` on branch b0, in process 3\n"
        "  #13 interrupt `ok?` consumed true on branch b0, in process 2\n"
        "  #21 interrupt `ok?` consumed true on branch b0, in process 3"
    )


def test_stray_that_the_gate_receives_breaches() -> None:
    p = Protocol()
    p.to_the_end(True)
    p.deliver(False, intent=Intent.STRAY)
    p.passes_the_gate(False)
    assert cell(p, CO_C).measured is Measured.BREACHES


def test_stray_that_no_gate_receives_conforms() -> None:
    p = Protocol()
    p.to_the_end(True)
    stray = p.deliver(False, intent=Intent.STRAY)
    p.returns("a", "approve=True", "c")
    assert stray.number in cell(p, CO_C).witnesses


def test_stray_of_the_same_value_is_not_taken_for_the_record_when_its_own_operation_consumes() -> None:
    p = Protocol()
    p.to_the_end(True)
    p.deliver(True, intent=Intent.STRAY)
    p.passes_the_gate(True)
    assert cell(p, CO_C).measured is Measured.BREACHES


def test_recovery_that_reads_the_record_again_consumes_nothing_new() -> None:
    p = Protocol()
    p.to_the_gate()
    p.deliver(True)
    p.begins("approve", sees=["a"])
    p.consumes(True)
    p.dies()
    p.deliver(True, intent=Intent.STRAY)
    p.raises()
    p.recover()
    p.passes_the_gate(True)
    assert cell(p, CO_C).measured is Measured.CONFORMS


def test_delivery_made_again_under_its_name_is_the_same_delivery() -> None:
    p = Protocol()
    p.to_the_gate()
    p.deliver(True, name="d1")
    p.begins("approve", sees=["a"])
    p.consumes(True)
    p.dies()
    p.deliver(True, name="d1", intent=Intent.RETRY)
    p.passes_the_gate(True)
    assert cell(p, CO_C).measured is Measured.CONFORMS


def test_two_questions_with_an_answer_each_conform() -> None:
    p = at_the_second_question()
    p.deliver("yes", to="q2", name="d2")
    p.begins("approve", sees=["a"])
    for question in ("q1", "q2"):
        p.consumes("yes", interrupt=question)
    p.returns("a", "approve=yes+yes", "c")
    assert cell(p, CO_C).measured is Measured.CONFORMS


def test_first_answer_delivered_again_that_answers_the_second_question_breaches() -> None:
    p = at_the_second_question()
    p.deliver("yes", to="q1", name="d1", intent=Intent.RETRY)
    p.begins("approve", sees=["a"])
    for question in ("q1", "q2"):
        p.consumes("yes", interrupt=question)
    p.returns("a", "approve=yes+yes", "c")
    assert "delivery d1 was consumed by 2 interrupts: `q1`, `q2`" in story(cell(p, CO_C))


def test_fork_consumes_on_a_branch_of_its_own() -> None:
    p = Protocol()
    p.to_the_end(True)
    p.fork(False)
    p.passes_the_gate(False)
    assert cell(p, CO_C).measured is Measured.UNEXERCISED


def test_fork_served_the_stale_answer_is_no_second_consumption() -> None:
    p = Protocol()
    p.to_the_end(True)
    p.fork(False)
    p.passes_the_gate(True)
    assert cell(p, CO_C).measured is Measured.UNEXERCISED


def test_value_that_nobody_delivered_is_undetermined() -> None:
    p = Protocol()
    p.to_the_gate()
    p.deliver(True)
    number = p.consumes("forged")
    p.consumes("forged")
    p.returns("a")
    found = cell(p, CO_C)
    assert found.measured is Measured.UNDETERMINED
    assert found.reason == f"no resume brought the value that was consumed at #{number}"


def crashed_before_the_gate() -> Protocol:
    p = Protocol()
    p.start()
    p.runs("a", sees=[])
    p.dies()
    return p


def test_decision_that_a_recovery_brought_is_the_recoverys() -> None:
    p = crashed_before_the_gate()
    p.recover(value=True)
    p.passes_the_gate(True)
    stray = p.deliver(False, intent=Intent.STRAY)
    p.raises("AlreadyConsumed")
    found = cell(p, CO_C)
    assert found.measured is Measured.CONFORMS
    assert stray.number in found.witnesses


def test_decision_that_a_dead_recovery_had_brought_is_what_the_next_one_serves() -> None:
    p = crashed_before_the_gate()
    p.recover(value=True)
    p.dies()
    p.recover()
    p.passes_the_gate(True)
    assert cell(p, CO_C).measured is Measured.CONFORMS


def test_recovery_that_brings_none_is_not_the_source_of_an_empty_answer() -> None:
    p = crashed_before_the_gate()
    p.recover()
    p.passes_the_gate(None)
    assert cell(p, CO_C).measured is Measured.UNDETERMINED


def test_gate_that_takes_the_decisions_of_two_recoveries_breaches() -> None:
    p = crashed_before_the_gate()
    first = p.recover(value=True)
    second = p.recover(value=True)
    for recovery in (second, first):
        p.on(recovery).passes_the_gate(True)
    names = f"the recovery at #{first.number}, the recovery at #{second.number}"
    assert f"interrupt `ok?` on branch b0 consumed 2 resumes: {names}" in story(cell(p, CO_C))


def test_two_interrupts_that_take_one_recoverys_decision_breach() -> None:
    p = Protocol(TWO_QUESTIONS)
    p.start()
    p.dies()
    recovery = p.recover(value="yes")
    for question in ("q1", "q2"):
        p.consumes("yes", interrupt=question)
    p.returns("approve=yes+yes")
    summary = f"the recovery at #{recovery.number} was consumed by 2 interrupts: `q1`, `q2`"
    assert summary in story(cell(p, CO_C))


def test_value_that_was_delivered_only_later_or_only_on_a_sibling_is_undetermined() -> None:
    p = Protocol()
    p.to_the_gate()
    p.recover()
    p.consumes("x")
    p.parks()
    p.deliver("x")
    p.raises()
    assert cell(p, CO_C).measured is Measured.UNDETERMINED
    q = Protocol()
    q.to_the_end("yes")
    q.fork("maybe")
    q.passes_the_gate("maybe")
    q.fork("no")
    q.passes_the_gate("maybe")
    assert cell(q, CO_C).measured is Measured.UNDETERMINED


def test_breach_counts_though_another_consumption_is_unknown() -> None:
    p = Protocol()
    p.to_the_end(True)
    p.deliver(False, intent=Intent.STRAY)
    p.consumes(False)
    p.consumes("forged")
    p.returns("a")
    assert cell(p, CO_C).measured is Measured.BREACHES


def test_answer_that_a_recovery_serves_is_the_one_meant_for_that_question() -> None:
    p = at_the_second_question()
    p.deliver("yes", to="q2", name="d2")
    p.dies()
    p.recover()
    p.begins("approve", sees=["a"])
    for question in ("q1", "q2"):
        p.consumes("yes", interrupt=question)
    p.returns("a", "approve=yes+yes", "c")
    assert cell(p, CO_C).measured is Measured.CONFORMS


def test_breach_in_the_prefix_of_a_fork_is_the_parents_alone() -> None:
    p = at_the_second_question()
    p.deliver("no", to="q1", name="d2", intent=Intent.STRAY)
    p.consumes("no", interrupt="q1")
    p.parks("q2")
    p.fork("maybe", to="q2")
    p.consumes("maybe", interrupt="q2")
    p.returns("a")
    (finding,) = cell(p, CO_C).findings
    assert finding.summary == "interrupt `q1` on branch b0 consumed 2 deliveries: d1, d2"


@pytest.mark.parametrize("intent", [Intent.STRAY, Intent.RETRY])
def test_delivery_before_the_consumption_could_not_share_in_it(intent: Intent) -> None:
    p = Protocol()
    p.to_the_gate()
    p.deliver("early", intent=intent)
    p.raises()
    p.deliver(True)
    p.passes_the_gate(True)
    assert cell(p, CO_C).measured is Measured.UNEXERCISED


def test_second_answer_is_no_stray() -> None:
    p = Protocol()
    p.to_the_end(True)
    p.deliver(False, intent=Intent.ANSWER)
    p.raises()
    assert cell(p, CO_C).measured is Measured.UNEXERCISED


def test_one_answer_to_one_question_is_unexercised() -> None:
    p = Protocol()
    p.to_the_end()
    assert cell(p, CO_C).measured is Measured.UNEXERCISED
