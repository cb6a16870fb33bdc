"""CO-e: what a resume without fork intent fires, once the interrupt is consumed or the run is finished."""

import pytest
from histories import EARLY_EFFECT, Protocol, Served, cell, story

from resumption.contract.properties import Property
from resumption.contract.verdicts import Measured
from resumption.history.events import Intent

CO_E = Property.CONSUME_ONCE_EFFECTS
WITHOUT_FORK_INTENT = [Intent.STRAY, Intent.RETRY, Intent.RACE]


def live() -> Protocol:
    """The gate was answered and is durable; the run is at `c`, which has not fired."""
    p = Protocol()
    p.to_the_gate()
    p.deliver(True)
    p.runs("approve", sees=["a"], decisions=(True,))
    p.begins("c", sees=["a", "approve=True"])
    return p


def race(p: Protocol) -> list[Served]:
    p.to_the_gate()
    return [p.deliver(True, intent=Intent.RACE) for _ in range(3)]


@pytest.mark.parametrize("intent", WITHOUT_FORK_INTENT)
def test_finished_run_that_ignores_a_resume_conforms(intent: Intent) -> None:
    p = Protocol()
    p.to_the_end()
    late = p.deliver(False, intent=intent)
    p.returns("a", "approve=True", "c")
    assert late.number in cell(p, CO_E).witnesses


@pytest.mark.parametrize("intent", WITHOUT_FORK_INTENT)
def test_finished_run_that_fires_anything_breaches(intent: Intent) -> None:
    p = Protocol()
    p.to_the_end()
    p.deliver(False, intent=intent)
    p.runs("c", sees=["a", "approve=True"])
    p.returns("a", "approve=True", "c")
    assert "a resume at a finished run fired effect `ship` on branch b0" in story(cell(p, CO_E))


def test_recovery_of_a_finished_run_that_fires_breaches() -> None:
    p = Protocol()
    p.to_the_end()
    p.recover()
    p.runs("a", sees=[])
    p.returns("a")
    assert cell(p, CO_E).measured is Measured.BREACHES


@pytest.mark.parametrize("intent", [Intent.STRAY, Intent.RETRY])
@pytest.mark.parametrize("effect", ["charge", "pay"])
def test_resume_of_a_live_run_that_fires_again_breaches(intent: Intent, effect: str) -> None:
    p = live()
    p.dies()
    p.deliver(False, intent=intent)
    p.fires(effect)
    p.returns("a")
    found = cell(p, CO_E)
    assert found.findings[0].summary == (
        f"a resume without fork intent fired effect `{effect}` on branch b0 again, after interrupt `ok?` was consumed"
    )


def test_stray_that_repeats_a_fire_cut_off_before_its_record_breaches() -> None:
    p = Protocol()
    p.to_the_gate()
    p.deliver(True)
    p.begins("approve", sees=["a"])
    p.acts("approve", (True,))
    p.dies()
    p.deliver(False, intent=Intent.STRAY)
    p.passes_the_gate(False)
    assert cell(p, CO_E).measured is Measured.BREACHES


@pytest.mark.parametrize("resume", ["recover", "retry"])
def test_what_was_cut_off_before_its_record_is_left_to_the_window(resume: str) -> None:
    p = Protocol()
    p.to_the_gate()
    p.deliver(True, name="d1")
    p.begins("approve", sees=["a"])
    p.acts("approve", (True,))
    p.dies()
    if resume == "recover":
        p.recover()
    else:
        p.deliver(True, name="d1", intent=Intent.RETRY)
    p.passes_the_gate(True)
    assert cell(p, CO_E).measured is Measured.CONFORMS


def test_recovery_that_runs_what_never_fired_conforms() -> None:
    p = live()
    p.dies()
    recovery = p.recover()
    p.runs("c", sees=["a", "approve=True"])
    p.returns("a", "approve=True", "c")
    assert recovery.number in cell(p, CO_E).witnesses


def test_recovery_that_fires_the_effect_of_the_durable_gate_again_breaches() -> None:
    p = live()
    p.dies()
    p.recover()
    p.passes_the_gate(True)
    assert "effect `pay` on branch b0 again" in story(cell(p, CO_E))


def test_recovery_that_repeats_the_effect_of_another_task_is_left_to_exactly_once() -> None:
    p = live()
    p.dies()
    p.recover()
    p.runs("a", sees=[])
    p.returns("a", "approve=True", "c")
    assert cell(p, CO_E).measured is Measured.CONFORMS


def test_race_in_which_only_the_winner_fires_conforms() -> None:
    p = Protocol()
    winner, *losers = race(p)
    p.on(winner).passes_the_gate(True)
    for loser in losers:
        p.on(loser).raises("AlreadyConsumed")
    assert {loser.number for loser in losers} <= set(cell(p, CO_E).witnesses)


def test_race_in_which_losers_fire_too_breaches_once_for_each() -> None:
    p = Protocol()
    for racer in race(p):
        p.on(racer).begins("approve", sees=["a"])
        p.acts("approve", (True,))
        p.returns("a", "approve=True", "c")
    assert len(cell(p, CO_E).findings) == 2


def test_idempotent_race_with_two_consumptions_but_one_fire_conforms() -> None:
    p = Protocol()
    for place, racer in enumerate(race(p)):
        p.on(racer).begins("approve", sees=["a"])
        p.consumes(True)
        if place == 0:
            p.fires("pay")
        p.returns("a", "approve=True", "c")
    assert cell(p, CO_E).measured is Measured.CONFORMS
    assert cell(p, Property.CONSUME_ONCE_COUNT).measured is Measured.BREACHES


def test_loser_of_a_race_that_fires_only_behind_the_gate_breaches() -> None:
    p = Protocol()
    winner, loser, refused = race(p)
    p.on(winner).passes_the_gate(True)
    p.on(refused).raises("AlreadyConsumed")
    p.on(loser).runs("c", sees=["a", "approve=True"])
    p.returns("a", "approve=True", "c")
    (finding,) = cell(p, CO_E).findings
    assert "effect `ship`" in finding.summary


def cut_off_in_the_gate() -> Protocol:
    """The answer was consumed, and the process died before the gate's effect."""
    p = Protocol()
    p.to_the_gate()
    p.deliver(True)
    p.begins("approve", sees=["a"])
    p.consumes(True)
    p.dies()
    return p


@pytest.mark.parametrize("end", ["returns", "dies"])
def test_recoveries_that_run_the_gate_at_the_same_time_breach(end: str) -> None:
    p = cut_off_in_the_gate()
    first, second = p.recover(), p.recover()
    for recovery in (first, second):
        p.on(recovery).fires("pay")
    getattr(p.on(first), end)()
    p.on(second).returns("a", "approve=True")
    (finding,) = cell(p, CO_E).findings
    assert second.number in {step.number for step in finding.story}


def test_recovery_that_repeats_the_code_in_front_of_the_interrupt_is_left_to_exactly_once() -> None:
    p = Protocol(EARLY_EFFECT)
    p.start()
    p.begins("approve", sees=[])
    p.fires("notify")
    p.parks()
    p.deliver(True)
    p.begins("approve", sees=[])
    p.consumes(True)
    p.dies()
    p.recover()
    p.runs("approve", sees=[], decisions=(True,))
    p.returns("approve=True")
    assert cell(p, CO_E).measured is Measured.CONFORMS
    assert cell(p, Property.EFFECT_EXACTLY_ONCE).measured is Measured.BREACHES


def test_effect_in_front_of_the_raced_interrupt_is_not_consumed_by_it() -> None:
    p = Protocol(EARLY_EFFECT)
    p.start()
    p.begins("approve", sees=[])
    p.fires("notify")
    p.parks()
    first, second = (p.deliver(True, intent=Intent.RACE) for _ in range(2))
    p.on(first).runs("approve", sees=[], decisions=(True,))
    p.on(second).fires("notify")
    p.raises("AlreadyConsumed")
    p.on(first).returns("approve=True")
    assert cell(p, CO_E).measured is Measured.CONFORMS


def test_stray_that_fires_before_anything_was_consumed_is_left_to_exactly_once() -> None:
    p = Protocol()
    p.to_the_gate()
    p.deliver("early", intent=Intent.STRAY)
    p.fires("charge")
    p.raises()
    p.deliver(True)
    p.passes_the_gate(True)
    assert cell(p, CO_E).measured is Measured.UNEXERCISED
    assert cell(p, Property.EFFECT_EXACTLY_ONCE).measured is Measured.BREACHES


def test_effect_that_one_operation_fires_twice_is_left_to_exactly_once() -> None:
    p = live()
    p.dies()
    p.deliver(True, intent=Intent.RETRY)
    p.begins("c", sees=["a", "approve=True"])
    for _ in range(2):
        p.fires("ship")
    p.returns("a", "approve=True", "c")
    assert cell(p, CO_E).measured is Measured.CONFORMS


def test_race_whose_loser_was_refused_before_the_consumption_shows_nothing() -> None:
    p = Protocol()
    winner, *losers = race(p)
    for loser in losers:
        p.on(loser).raises("RunBusy")
    p.on(winner).passes_the_gate(True)
    assert cell(p, CO_E).measured is Measured.UNEXERCISED


def test_fork_is_no_resume_without_fork_intent() -> None:
    p = Protocol()
    p.to_the_end()
    p.fork(False)
    p.passes_the_gate(False)
    assert cell(p, CO_E).measured is Measured.UNEXERCISED


@pytest.mark.parametrize("intent", [Intent.STRAY, Intent.RETRY])
def test_live_run_that_passes_the_gate_again_for_a_late_decision_breaches(intent: Intent) -> None:
    p = live()
    under_way = p.now
    p.deliver(False, intent=intent)
    p.returns("a", "approve=True")
    p.on(under_way)
    p.fires("pay", value=False)
    p.returns("a", "approve=True", "c")
    assert "the run that was under way when a resume without fork intent came fired effect `pay`" in story(
        cell(p, CO_E)
    )


def test_live_run_that_goes_on_beside_a_late_decision_conforms() -> None:
    p = live()
    under_way = p.now
    stray = p.deliver(False, intent=Intent.STRAY)
    p.raises()
    p.on(under_way)
    p.fires("ship")
    p.returns("a", "approve=True", "c")
    assert stray.number in cell(p, CO_E).witnesses


def test_late_decision_that_runs_what_the_live_run_is_about_to_run_breaches() -> None:
    p = live()
    under_way = p.now
    p.deliver(False, intent=Intent.STRAY)
    p.fires("ship")
    p.returns("a", "approve=True", "c")
    p.on(under_way)
    p.fires("ship")
    p.returns("a", "approve=True", "c")
    assert "fired effect `ship` on branch b0 again after it" in story(cell(p, CO_E))
