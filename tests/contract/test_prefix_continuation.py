"""PC: where a resumed run goes on, and with which state."""

from dataclasses import replace

import pytest
from histories import INVALID, PLAIN, Protocol, cell, story

from resumption.contract.properties import Property
from resumption.contract.verdicts import Measured
from resumption.history.events import Intent, Phase
from resumption.history.workload import Shape

PC = Property.PREFIX_CONTINUATION


def crashed_after_a() -> Protocol:
    """`a` is durable, and the process dies in `b`."""
    p = Protocol(PLAIN)
    p.start()
    p.runs("a", sees=[])
    p.begins("b", sees=["a"])
    p.dies()
    return p


def test_recovery_that_goes_on_at_the_frontier_conforms() -> None:
    p = crashed_after_a()
    recovery = p.recover()
    start = p.begins("b", sees=["a"])
    p.returns("a", "b", "c")
    assert cell(p, PC).witnesses == (recovery.number, start)


def test_recovery_that_runs_a_durable_task_with_its_effect_breaches() -> None:
    p = crashed_after_a()
    p.recover()
    p.runs("a", sees=[])
    p.runs("b", sees=["a"])
    p.returns("a", "b", "c")
    (finding,) = cell(p, PC).findings
    assert finding.summary == "task `a` was durable, and ran again with its effects on branch b0"
    assert [step.number for step in finding.story] == [6, 9, 10, 11]


def test_memoised_replay_that_serves_the_effects_from_the_record_conforms() -> None:
    p = crashed_after_a()
    p.recover()
    p.begins("a", sees=[])
    p.ends("a", write=["a"])
    p.runs("b", sees=["a"])
    p.returns("a", "b", "c")
    assert cell(p, PC).measured is Measured.CONFORMS


def test_recovery_is_not_blamed_for_the_effects_of_a_later_one() -> None:
    p = crashed_after_a()
    p.recover()
    p.begins("a", sees=[])
    p.dies()
    second = p.recover()
    p.runs("a", sees=[])
    p.returns("a", "b", "c")
    blamed = [finding for finding in cell(p, PC).findings if "ran again" in finding.summary]
    assert len(blamed) == 1
    assert second.number in {step.number for step in blamed[0].story}


def test_memoised_replay_that_gets_no_further_still_exercised_the_prefix() -> None:
    p = crashed_after_a()
    p.recover()
    replay = p.begins("a", sees=[])
    p.dies()
    assert cell(p, PC).measured is Measured.CONFORMS
    assert replay in cell(p, PC).witnesses


@pytest.mark.parametrize("trail", [[], ["b"], ["a", "a"], ["a", "b"], ["x"], None, "a"])
def test_recovery_that_goes_on_from_another_state_than_the_durable_one_breaches(trail: object) -> None:
    p = crashed_after_a()
    p.recover()
    p.begins("b", sees=trail)
    p.returns("a", "b", "c")
    found = cell(p, PC)
    assert found.measured is Measured.BREACHES
    assert "which the durable writes of `a` don't explain" in story(found)


@pytest.mark.parametrize(
    ("trail", "measured"),
    [
        (["a", "b"], Measured.CONFORMS),
        (["a"], Measured.BREACHES),
        (["a", "x"], Measured.BREACHES),
        (["b"], Measured.BREACHES),
        (["a", "b", "b"], Measured.BREACHES),
    ],
)
def test_write_whose_storage_was_cut_may_be_there_but_its_task_may_not_be_skipped(
    trail: list[str], measured: Measured
) -> None:
    p = Protocol(PLAIN)
    p.start()
    p.runs("a", sees=[])
    p.begins("b", sees=["a"])
    p.ends("b", write=["b"])
    p.stores("b", phase=Phase.BEGIN)
    p.dies()
    p.recover()
    p.begins("c", sees=trail)
    p.returns("a", "b", "c")
    assert cell(p, PC).measured is measured


def test_recovery_that_skips_a_task_which_was_not_durable_breaches() -> None:
    p = crashed_after_a()
    p.recover()
    p.runs("c", sees=["a"])
    p.returns("a", "c")
    assert 'saw ["a"] in `c`, and skipped `b`, never durable' in story(cell(p, PC))


@pytest.mark.parametrize("trail", [["a", "a", "b"], ["a", "b", "b"], ["b"], ["a"]])
def test_every_later_task_of_the_resumed_run_must_see_each_write_once(trail: list[str]) -> None:
    p = crashed_after_a()
    p.recover()
    p.runs("b", sees=["a"])
    p.runs("c", sees=trail)
    p.returns("a", "b", "c")
    assert len(cell(p, PC).findings) == 1


def test_later_tasks_of_the_resumed_run_are_witnesses() -> None:
    p = crashed_after_a()
    recovery = p.recover()
    first = p.begins("b", sees=["a"])
    p.ends("b", write=["b"])
    second = p.begins("c", sees=["a", "b"])
    p.returns("a", "b", "c")
    assert cell(p, PC).witnesses == (recovery.number, first, second)


def test_task_that_starts_from_its_own_write_breaches() -> None:
    p = Protocol(PLAIN)
    p.start()
    p.runs("a", sees=[])
    p.begins("b", sees=["a"])
    p.ends("b", write=["b"])
    p.stores("b", phase=Phase.BEGIN)
    p.dies()
    p.recover()
    p.begins("b", sees=["a", "b"])
    p.returns("a", "b", "b", "c")
    assert 'saw ["a", "b"]' in story(cell(p, PC))


def test_write_that_came_later_explains_nothing() -> None:
    p = crashed_after_a()
    p.recover()
    p.begins("c", sees=["a", "b"])
    p.runs("b", sees=["a"])
    p.returns("a", "b", "c")
    assert 'saw ["a", "b"]' in story(cell(p, PC))


def test_answer_that_returns_without_running_anything_is_left_to_liveness() -> None:
    p = Protocol()
    p.to_the_gate()
    p.deliver(True)
    p.returns()
    assert cell(p, PC).measured is Measured.UNEXERCISED


def test_recovery_that_returns_what_is_durable_without_running_anything_conforms() -> None:
    p = Protocol(PLAIN)
    p.start()
    for task, sees in (("a", []), ("b", ["a"]), ("c", ["a", "b"])):
        p.runs(task, sees=sees)
    p.dies()
    p.recover()
    p.returns("a", "b", "c")
    assert cell(p, PC).measured is Measured.CONFORMS


def test_recovery_that_returns_without_a_durable_write_breaches() -> None:
    p = crashed_after_a()
    p.recover()
    p.returns()
    assert "returned []" in story(cell(p, PC))


def test_answer_after_a_park_goes_on_from_the_gate() -> None:
    p = Protocol()
    p.to_the_end()
    assert cell(p, PC).measured is Measured.CONFORMS


def test_answer_that_runs_the_prefix_again_breaches() -> None:
    p = Protocol()
    p.to_the_gate()
    p.deliver(True)
    p.runs("a", sees=[])
    p.passes_the_gate(True)
    assert "task `a` was durable" in story(cell(p, PC))


def test_loser_of_a_race_that_runs_the_durable_gate_is_no_matter_of_the_prefix() -> None:
    p = Protocol()
    p.to_the_gate()
    p.deliver(True, intent=Intent.RACE)
    p.passes_the_gate(True)
    p.deliver(True, intent=Intent.RACE)
    p.passes_the_gate(True)
    assert cell(p, PC).measured is Measured.CONFORMS


def test_fork_continues_from_its_own_prefix_not_from_the_parents_end() -> None:
    p = Protocol()
    p.to_the_end()
    p.fork(False)
    p.passes_the_gate(False)
    assert cell(p, PC).measured is Measured.CONFORMS
    q = Protocol()
    q.to_the_end()
    q.fork(False)
    q.begins("approve", sees=["a", "approve=True", "c"])
    q.returns("a", "approve=False")
    assert "on branch b0.1" in story(cell(q, PC))


@pytest.mark.parametrize("intent", [Intent.STRAY, Intent.RETRY])
def test_stray_and_retry_are_not_meant_to_continue(intent: Intent) -> None:
    p = Protocol()
    p.to_the_gate()
    p.deliver(True)
    p.dies()
    p.deliver(True, intent=intent)
    p.runs("a", sees=[])
    p.passes_the_gate(True)
    assert cell(p, PC).measured is Measured.UNEXERCISED


@pytest.mark.parametrize("end", ["parks", "raises", "dies"])
def test_recovery_that_runs_nothing_shows_nothing(end: str) -> None:
    p = crashed_after_a()
    p.recover()
    getattr(p, end)()
    assert cell(p, PC).measured is Measured.UNEXERCISED


def test_recovery_with_nothing_durable_has_no_prefix_to_continue() -> None:
    p = Protocol(PLAIN)
    p.start()
    p.begins("a", sees=[])
    p.dies()
    p.recover()
    p.runs("a", sees=[])
    p.returns("a")
    assert cell(p, PC).measured is Measured.UNEXERCISED


def test_trail_with_a_write_that_breaks_the_schema_is_left_to_checkpoint_validity() -> None:
    p = Protocol(INVALID)
    p.start()
    p.runs("a", sees=[])
    p.begins("bad", sees=["a"])
    p.ends("bad", write=[None])
    p.stores("bad")
    p.dies()
    p.recover()
    p.returns("a", None)
    assert cell(p, PC).measured is Measured.CONFORMS


# Tasks that run at once ---------------------------------------------------------------------------------------------


def fan_out_with_the_second_on_record() -> Protocol:
    """Of three tasks that ran at once, the one in the middle is durable when the process dies."""
    p = Protocol(replace(PLAIN, shape=Shape.FAN_OUT))
    p.start()
    p.runs("b", sees=[])
    p.begins("a", sees=[])
    p.dies()
    p.recover()
    return p


def test_a_fan_out_that_goes_on_with_what_is_not_on_record_conforms() -> None:
    p = fan_out_with_the_second_on_record()
    starts = [p.begins(task, sees=[]) for task in ("a", "c")]
    p.returns("a", "b", "c")
    found = cell(p, PC)
    assert found.measured is Measured.CONFORMS
    assert set(starts) <= set(found.witnesses)


def test_a_task_of_a_fan_out_that_was_on_record_must_not_run_again_wherever_it_stands() -> None:
    p = fan_out_with_the_second_on_record()
    p.begins("a", sees=[])
    p.runs("b", sees=[])
    p.returns("a", "b", "c")
    (finding,) = cell(p, PC).findings
    assert finding.summary == "task `b` was durable, and ran again with its effects on branch b0"


def test_a_task_of_a_fan_out_that_sees_what_another_wrote_breaches() -> None:
    p = fan_out_with_the_second_on_record()
    p.begins("a", sees=["b"])
    p.returns("a", "b", "c")
    (finding,) = cell(p, PC).findings
    assert 'saw ["b"]' in finding.summary
