"""EO fires once, on record and in the window, on every branch."""

from histories import EARLY_EFFECT, PLAIN, TWO_QUESTIONS, Protocol, Served, cell, story

from resumption.contract.judges import judge
from resumption.contract.properties import Property
from resumption.contract.verdicts import Facet, Measured
from resumption.history.events import Intent
from resumption.history.workload import Effect, Interrupt, Task, Workload

EO = Property.EFFECT_EXACTLY_ONCE


def crashed_in_b(*, b_fires: bool) -> Protocol:
    """`a` is durable, and the process dies in `b`, before or after its effect."""
    p = Protocol(PLAIN)
    p.start()
    p.runs("a", sees=[])
    p.begins("b", sees=["a"])
    if b_fires:
        p.fires("email")
    p.dies()
    return p


def test_recorded_effect_that_a_recovery_leaves_alone_conforms() -> None:
    p = crashed_in_b(b_fires=False)
    recovery = p.recover()
    p.runs("b", sees=["a"])
    p.returns("a", "b")
    assert cell(p, EO).measured is Measured.CONFORMS
    assert recovery.number in cell(p, EO).witnesses
    assert cell(p, EO, Facet.WINDOW).measured is Measured.UNEXERCISED


def test_recorded_effect_that_a_recovery_fires_again_breaches_the_cell() -> None:
    p = crashed_in_b(b_fires=False)
    p.recover()
    p.runs("a", sees=[])
    p.returns("a")
    found = cell(p, EO)
    assert found.measured is Measured.BREACHES
    assert story(found) == (
        "effect `charge` of task `a` fired again on branch b0, though its first fire was on durable record\n"
        "  #3 effect `charge` of task `a` fired on branch b0, in process 1\n"
        "  #6 the storage operation put(a) ended: task `a` durable\n"
        "  #9 a recovery (form no-input) was asked for on branch b0, in process 2\n"
        "  #11 effect `charge` of task `a` fired on branch b0, in process 2"
    )
    assert cell(p, EO, Facet.WINDOW).measured is Measured.UNEXERCISED


def test_effect_cut_off_before_its_record_and_fired_again_breaches_the_window_only() -> None:
    p = crashed_in_b(b_fires=True)
    p.recover()
    p.runs("b", sees=["a"])
    p.returns("a", "b")
    assert cell(p, EO).measured is Measured.CONFORMS
    window = cell(p, EO, Facet.WINDOW)
    assert window.measured is Measured.BREACHES
    assert "the run was cut off between the first fire and its durable record" in story(window)
    assert "process 1 died of signal 9" in story(window)


def test_effect_cut_off_inside_its_own_call_is_placed_before_the_exit() -> None:
    p = Protocol(PLAIN)
    p.start()
    p.begins("a", sees=[])
    p.fires("charge", returned=False)
    p.dies()
    p.recover()
    p.runs("a", sees=[])
    p.returns("a")
    assert cell(p, EO, Facet.WINDOW).measured is Measured.BREACHES


def test_effect_that_began_but_never_fired_may_fire_later() -> None:
    p = Protocol(PLAIN)
    p.start()
    p.begins("a", sees=[])
    p.fires("charge", fired=False)
    p.dies()
    p.recover()
    p.runs("a", sees=[])
    p.returns("a")
    assert cell(p, EO).measured is Measured.UNEXERCISED
    assert cell(p, EO, Facet.WINDOW).measured is Measured.UNEXERCISED


def test_effect_cut_off_before_its_record_and_not_fired_again_conforms_in_the_window() -> None:
    p = crashed_in_b(b_fires=True)
    p.recover()
    p.begins("b", sees=["a"])
    p.ends("b", write=["b"])
    p.stores("b")
    p.returns("a", "b")
    assert cell(p, EO, Facet.WINDOW).measured is Measured.CONFORMS


def test_effect_of_a_task_that_raised_and_is_tried_again_is_window() -> None:
    p = Protocol(PLAIN)
    p.start()
    p.begins("a", sees=[])
    p.fires("charge")
    p.raises("TimeoutError")
    p.recover()
    p.runs("a", sees=[])
    p.returns("a")
    assert "the operation raised TimeoutError: no" in story(cell(p, EO, Facet.WINDOW))


def test_effect_of_a_task_that_the_plane_retries_within_one_operation_is_window() -> None:
    p = Protocol(PLAIN)
    p.start()
    for _ in range(2):
        p.begins("a", sees=[])
        p.fires("charge")
    p.ends("a", write=["a"])
    p.stores("a")
    p.returns("a")
    window = cell(p, EO, Facet.WINDOW)
    assert "before the first fire was on durable record" in story(window)
    assert cell(p, EO).measured is Measured.UNEXERCISED


def test_first_fire_of_an_operation_that_was_cut_off_only_later_was_not_cut_off_then() -> None:
    p = Protocol(PLAIN)
    p.start()
    for _ in range(2):
        p.begins("a", sees=[])
        p.fires("charge")
    p.dies()
    assert "before the first fire was on durable record" in story(cell(p, EO, Facet.WINDOW))


def test_recovery_of_a_run_that_is_still_alive_exercises_neither_facet() -> None:
    p = Protocol(PLAIN)
    first = p.start()
    p.begins("a", sees=[])
    p.fires("charge")
    p.recover()
    p.raises("RunBusy")
    p.on(first).dies()
    assert cell(p, EO).measured is Measured.UNEXERCISED
    assert cell(p, EO, Facet.WINDOW).measured is Measured.UNEXERCISED


def test_answer_after_an_unrecorded_effect_of_a_run_that_was_not_cut_off_exercises_neither_facet() -> None:
    p = Protocol(PLAIN)
    p.start()
    p.begins("a", sees=[])
    p.fires("charge")
    p.returns("a")
    p.recover()
    p.returns("a")
    assert cell(p, EO).measured is Measured.UNEXERCISED
    assert cell(p, EO, Facet.WINDOW).measured is Measured.UNEXERCISED


def test_racing_processes_that_fire_one_effect_breach_the_race_and_nothing_else() -> None:
    p = Protocol()
    p.to_the_gate()
    racers = [p.deliver(True, intent=Intent.RACE) for _ in range(2)]
    for racer in racers:
        p.on(racer).begins("approve", sees=["a"])
        p.acts("approve", (True,))
    for racer in racers:
        p.on(racer).returns("a", "approve=True", "c")
    assert cell(p, EO, Facet.RACE).measured is Measured.BREACHES
    assert cell(p, EO, Facet.WINDOW).measured is Measured.UNEXERCISED
    assert cell(p, EO).measured is Measured.CONFORMS


def overtaken(p: Protocol) -> tuple[Served, Served]:
    """A crashed run's recovery, and another one beside it that has run `a` and recorded it."""
    p.start()
    p.dies()
    slow = p.recover()
    p.begins("a", sees=[])
    rival = p.recover()
    p.runs("a", sees=[])
    return slow, rival


def test_a_recovery_that_fires_what_another_one_beside_it_has_recorded_breaches_the_race_not_the_cell() -> None:
    p = Protocol(PLAIN)
    slow, rival = overtaken(p)
    p.on(slow).fires("charge")
    p.on(rival).returns("a", "b", "c")
    p.on(slow).returns("a", "b", "c")
    assert "by two operations that were under way at once" in story(cell(p, EO, Facet.RACE))
    assert cell(p, EO).measured is Measured.UNEXERCISED
    assert cell(p, EO, Facet.WINDOW).measured is Measured.UNEXERCISED


def test_a_second_recovery_that_the_process_of_the_first_executes_breaches_the_race() -> None:
    p = Protocol(PLAIN)
    p.start()
    p.dies()
    first = p.recover()
    p.runs("a", sees=[])
    second = p.recover()
    p.on(first).fires("charge")
    p.returns("a", "b", "c")
    p.on(second).returns("a", "b", "c")
    assert cell(p, EO, Facet.RACE).measured is Measured.BREACHES
    assert cell(p, EO).measured is Measured.UNEXERCISED


def test_a_recovery_that_is_refused_beside_another_one_conforms_in_the_race() -> None:
    p = Protocol(PLAIN)
    slow, rival = overtaken(p)
    fired = next(fire.begin for fire in p.history().fires())
    p.on(slow).raises("Fenced")
    p.on(rival).returns("a", "b", "c")
    race = cell(p, EO, Facet.RACE)
    assert race.measured is Measured.CONFORMS
    assert race.witnesses == (slow.number, rival.number, fired)


def test_operations_one_after_the_other_are_no_race() -> None:
    p = Protocol(PLAIN)
    p.start()
    p.fires("charge")
    p.dies()
    p.recover()
    p.fires("charge")
    p.returns("a", "b", "c")
    assert all(judgement.facet is not Facet.RACE for judgement in judge(p.history(), EO))


def test_effect_in_front_of_an_interrupt_is_on_record_once_the_run_parked_there() -> None:
    p = Protocol(EARLY_EFFECT)
    p.start()
    p.begins("approve", sees=[])
    p.fires("notify")
    p.parks()
    p.deliver(True)
    p.runs("approve", sees=[], decisions=(True,))
    p.returns("approve=True")
    found = cell(p, EO)
    assert found.measured is Measured.BREACHES
    assert "the run parked at `ok?`" in story(found)
    assert cell(p, EO, Facet.WINDOW).measured is Measured.UNEXERCISED


def test_effect_between_two_questions_fires_once_per_gate_passage() -> None:
    p = Protocol(TWO_QUESTIONS)
    p.start()
    p.runs("a", sees=[])
    p.begins("approve", sees=["a"])
    p.parks("q1")
    p.deliver(True, to="q1")
    p.begins("approve", sees=["a"])
    p.consumes(True, interrupt="q1")
    p.fires("hold")
    p.parks("q2")
    p.deliver(False, to="q2")
    p.begins("approve", sees=["a"])
    p.consumes(False, interrupt="q2")
    p.fires("pay")
    p.returns("a", "approve=True+False", "c")
    assert cell(p, EO).measured is Measured.CONFORMS


def test_fork_fires_the_effect_behind_the_interrupt_on_its_own_branch() -> None:
    p = Protocol()
    p.to_the_end()
    fork = p.fork(False)
    p.passes_the_gate(False)
    found = cell(p, EO)
    assert found.measured is Measured.CONFORMS
    assert fork.number in found.witnesses


def test_fork_that_fires_an_effect_of_its_prefix_breaches() -> None:
    p = Protocol()
    p.to_the_end()
    p.fork(False)
    p.runs("a", sees=[])
    p.passes_the_gate(False)
    (finding,) = cell(p, EO).findings
    assert finding.summary.startswith("effect `charge` of task `a` fired again on branch b0.1")


def test_copy_of_the_store_inherits_what_had_fired() -> None:
    p = crashed_in_b(b_fires=False)
    p.recover("copy1")
    p.runs("a", sees=[])
    p.returns("a")
    assert "on branch copy1" in story(cell(p, EO))


def test_effects_of_one_name_in_a_task_are_not_judged_since_one_may_be_served_from_the_record() -> None:
    p = Protocol(Workload((Task("gate", (Effect("ping"), Interrupt("ok?"), Effect("ping"))),)))
    p.start()
    p.begins("gate", sees=[])
    p.fires("ping")
    p.parks()
    p.deliver("yes")
    p.begins("gate", sees=[])
    p.consumes("yes")
    p.fires("ping")
    p.ends("gate", write=["gate=yes"])
    p.returns("gate=yes")
    found = cell(p, EO)
    assert found.measured is Measured.UNDETERMINED
    assert found.reason == "task `gate` has 2 effects called `ping`, which can't be told apart"


def test_effects_of_one_name_in_two_tasks_are_two_effects() -> None:
    p = Protocol(Workload((Task("a", (Effect("ping"),)), Task("b", (Effect("ping"),)))))
    p.start()
    p.runs("a", sees=[])
    p.dies()
    p.recover()
    p.runs("b", sees=["a"])
    p.returns("a", "b")
    assert cell(p, EO).measured is Measured.CONFORMS


def test_run_that_nobody_resumed_exercises_neither_facet() -> None:
    p = Protocol(PLAIN)
    p.start()
    p.runs("a", sees=[])
    p.returns("a")
    assert cell(p, EO).measured is Measured.UNEXERCISED
    assert cell(p, EO, Facet.WINDOW).reason == (
        "no run was cut off between an effect and its durable record, and then resumed"
    )
