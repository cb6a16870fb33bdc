"""CV: what becomes of a write that breaks the state schema."""

import pytest
from histories import INVALID, Protocol, cell, story

from resumption.contract.properties import Property
from resumption.contract.verdicts import Measured
from resumption.history.workload import Corrupt, Task, Workload, WriteFault

CV = Property.CHECKPOINT_VALIDITY
MID_GRAPH = Workload((Task("a"), Task("bad", (Corrupt(WriteFault.NULL_ITEM),)), Task("c")))


def handed_over(workload: Workload = INVALID, *, stored: bool = False) -> Protocol:
    p = Protocol(workload)
    p.start()
    p.runs("a", sees=[])
    p.begins("bad", sees=["a"])
    p.ends("bad", write=[None])
    if stored:
        p.stores("bad")
    return p


def test_write_that_was_refused_and_left_no_trace_conforms() -> None:
    p = handed_over()
    refused = p.raises("InvalidCheckpoint")
    p.inspect()
    looked = p.shows("a")
    found = cell(p, CV)
    assert found.measured is Measured.CONFORMS
    assert {refused, looked} <= set(found.witnesses)


def test_write_that_was_stored_without_any_error_is_silent_corruption() -> None:
    p = handed_over(stored=True)
    p.returns("a", None)
    p.inspect()
    p.shows("a", None, finished=True)
    (finding,) = cell(p, CV).findings
    assert finding.silent_corruption
    assert str(finding) == (
        "the invalid write of task `bad` was stored: the run holds it\n"
        "  #6 task `bad` ended, and wrote [null]\n"
        "  #7 the storage operation put(bad) ended: task `bad` durable\n"
        '  #8 the run returned as finished, with ["a", null]'
    )


def test_write_that_was_durable_before_the_error_and_bricks_the_run_is_silent_corruption() -> None:
    p = handed_over(MID_GRAPH, stored=True)
    p.raises("ValidationError")
    p.inspect()
    p.raises("ValidationError")
    (finding,) = cell(p, CV).findings
    assert finding.silent_corruption
    assert "was stored before any error was raised: the run can't be read or resumed any more" in finding.summary


def test_write_that_was_durable_before_the_error_breaches_though_a_look_does_not_show_it() -> None:
    p = handed_over(stored=True)
    p.raises("ValidationError")
    p.inspect()
    p.shows("a")
    (finding,) = cell(p, CV).findings
    assert finding.silent_corruption
    assert "was stored before any error was raised: its storage operation is on record" in finding.summary


def test_write_that_became_durable_after_the_error_breaches_but_not_in_silence() -> None:
    p = handed_over()
    served = p.now
    p.raises("ValidationError")
    p.on(served).stores("bad")
    p.inspect()
    p.shows("a")
    (finding,) = cell(p, CV).findings
    assert not finding.silent_corruption
    assert "was stored despite its error" in finding.summary


def test_recovery_that_records_the_task_without_its_write_stored_nothing_invalid() -> None:
    p = handed_over()
    p.raises("ValidationError")
    p.recover()
    p.stores("bad")
    p.returns("a")
    p.inspect()
    p.shows("a", finished=True)
    assert cell(p, CV).measured is Measured.CONFORMS


def test_write_that_a_recovery_chokes_on_bricks_the_run() -> None:
    p = handed_over(MID_GRAPH, stored=True)
    p.raises("ValidationError")
    p.recover()
    p.raises("ValidationError")
    assert "can't be read or resumed any more" in story(cell(p, CV))


def test_recovery_that_hands_over_the_same_write_and_is_refused_again_conforms() -> None:
    p = handed_over()
    p.raises()
    p.recover()
    p.begins("bad", sees=["a"])
    p.ends("bad", write=[None])
    p.raises()
    p.inspect()
    p.shows("a")
    assert cell(p, CV).measured is Measured.CONFORMS


def test_write_that_was_stored_despite_its_error_breaches_but_not_in_silence() -> None:
    p = handed_over()
    p.raises()
    p.inspect()
    p.shows("a", None)
    (finding,) = cell(p, CV).findings
    assert not finding.silent_corruption
    assert finding.summary == "the invalid write of task `bad` was stored: the run holds it"


def test_next_task_that_sees_the_write_breaches() -> None:
    p = handed_over(MID_GRAPH)
    p.begins("c", sees=["a", None])
    p.raises()
    (finding,) = cell(p, CV).findings
    assert finding.silent_corruption


def test_write_that_vanished_in_silence_breaches() -> None:
    p = handed_over()
    p.returns("a")
    p.inspect()
    p.shows("a", finished=True)
    (finding,) = cell(p, CV).findings
    assert "neither refused nor stored" in finding.summary
    assert not finding.silent_corruption


@pytest.mark.parametrize("trail", [None, 7, ["a", 7], {"!repr": "x"}])
def test_every_state_that_is_no_list_of_strings_is_invalid(trail: object) -> None:
    p = handed_over()
    p.returns("a")
    p.inspect()
    p.shows(finished=True)
    assert cell(p, CV).findings[0].summary.endswith("vanished in silence")
    q = handed_over()
    q.begins("bad", sees=trail)
    q.raises()
    assert cell(q, CV).measured is Measured.BREACHES


@pytest.mark.parametrize("end", ["raises", "returns"])
def test_nobody_looking_afterwards_is_undetermined(end: str) -> None:
    p = handed_over()
    getattr(p, end)()
    found = cell(p, CV)
    assert found.measured is Measured.UNDETERMINED
    assert "no inspection showed the state" in found.reason


def test_inspection_that_raises_without_sight_of_the_store_is_undetermined() -> None:
    p = handed_over()
    p.raises()
    p.inspect()
    p.raises()
    assert cell(p, CV).measured is Measured.UNDETERMINED


def test_state_shown_on_another_branch_says_nothing() -> None:
    p = handed_over()
    p.raises()
    p.inspect("copy1")
    p.shows("a")
    assert cell(p, CV).measured is Measured.CONFORMS
    q = Protocol(INVALID)
    q.start()
    q.now = q.recover("copy1")
    q.begins("bad", sees=[])
    q.ends("bad", write=[None])
    q.raises()
    q.inspect("b0")
    q.shows("a")
    assert cell(q, CV).measured is Measured.UNDETERMINED


def test_write_that_outlived_its_process_breaches() -> None:
    p = handed_over(stored=True)
    p.dies()
    p.inspect()
    p.shows("a", None)
    (finding,) = cell(p, CV).findings
    assert finding.silent_corruption


def test_process_that_died_with_the_write_in_hand_shows_nothing() -> None:
    p = handed_over()
    p.dies()
    p.inspect()
    p.shows("a")
    assert cell(p, CV).measured is Measured.UNEXERCISED


def test_program_without_an_invalid_write_is_unexercised() -> None:
    p = Protocol()
    p.to_the_end()
    assert cell(p, CV).measured is Measured.UNEXERCISED


def test_an_object_that_was_stored_as_some_text_is_silent_corruption() -> None:
    p = handed_over(stored=True)
    p.returns("a", "<Unserialisable object>")
    p.inspect()
    p.shows("a", "<Unserialisable object>", finished=True)
    (finding,) = cell(p, CV).findings
    assert finding.silent_corruption
    assert "was stored: the run holds it" in finding.summary
