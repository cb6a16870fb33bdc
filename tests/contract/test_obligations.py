"""The user obligations: reload equals live, read inertness, loud addressing, no lost work, topology drift."""

from dataclasses import replace

import pytest
from histories import GATED, PLAIN, Protocol, cell, story

from resumption.contract.properties import Property
from resumption.contract.verdicts import Measured
from resumption.history.events import Drift, Durable, Intent, Json, Pending, Phase, TaskStart
from resumption.history.workload import Task, Workload

RL = Property.RELOAD_EQUALS_LIVE
RI = Property.READ_INERTNESS
LA = Property.LOUD_ADDRESSING
LW = Property.NO_LOST_WORK
TD = Property.TOPOLOGY_DRIFT


def test_state_read_back_as_it_was_returned_conforms() -> None:
    p = Protocol()
    p.to_the_end()
    p.inspect()
    p.shows("a", "approve=True", "c", finished=True)
    assert cell(p, RL).measured is Measured.CONFORMS


def test_state_read_back_while_parked_is_what_the_gate_saw() -> None:
    p = Protocol()
    p.to_the_gate()
    p.inspect()
    p.shows("a")
    assert cell(p, RL).measured is Measured.CONFORMS


@pytest.mark.parametrize(("shown", "measured"), [(("a",), Measured.CONFORMS), ((), Measured.BREACHES)])
def test_state_read_back_in_front_of_a_gate_that_has_not_started_holds_the_last_write(
    shown: tuple[str, ...], measured: Measured
) -> None:
    p = Protocol()
    p.start()
    p.runs("a", sees=[])
    p.parks("ok?")
    p.inspect()
    p.shows(*shown)
    assert cell(p, RL).measured is measured


def test_state_read_back_otherwise_breaches() -> None:
    p = Protocol()
    p.to_the_end()
    p.inspect()
    p.shows("a", finished=True)
    assert 'saw ["a", "approve=True", "c"], and another process read back ["a"]' in story(cell(p, RL))


def test_state_that_cannot_be_read_back_breaches() -> None:
    p = Protocol()
    p.to_the_end()
    p.inspect()
    p.raises()
    assert "read back an error" in story(cell(p, RL))


@pytest.mark.parametrize("end", ["raises", "dies"])
def test_run_that_ended_without_a_state_has_nothing_to_compare(end: str) -> None:
    p = Protocol(PLAIN)
    p.start()
    getattr(p, end)()
    p.inspect()
    p.shows()
    assert cell(p, RL).measured is Measured.UNEXERCISED


def test_inspection_with_no_run_before_it_has_nothing_to_compare() -> None:
    p = Protocol()
    p.inspect()
    p.shows()
    assert cell(p, RL).measured is Measured.UNEXERCISED


def test_run_that_parked_before_any_task_saw_no_state() -> None:
    p = Protocol()
    p.start()
    p.parks()
    p.inspect()
    p.shows()
    assert cell(p, RL).measured is Measured.UNEXERCISED


def test_run_that_died_in_a_task_has_nothing_to_compare() -> None:
    p = Protocol()
    p.start()
    p.begins("a", sees=[])
    p.dies()
    p.inspect()
    p.shows("a")
    assert cell(p, RL).measured is Measured.UNEXERCISED


def test_process_that_reads_its_own_state_reloads_nothing() -> None:
    p = Protocol()
    p.to_the_end()
    p.inspect()
    number = p.shows("a")
    runner = next(e.process for e in reversed(p.events) if isinstance(e, TaskStart))
    p.events[number - 2 : number] = [replace(e, process=runner) for e in p.events[number - 2 : number]]
    assert cell(p, RL).measured is Measured.UNEXERCISED


def test_inspection_whose_process_died_read_nothing() -> None:
    p = Protocol()
    p.to_the_end()
    p.inspect()
    p.dies()
    assert cell(p, RL).measured is Measured.UNEXERCISED


def test_inspection_without_a_trace_conforms() -> None:
    p = Protocol()
    p.to_the_gate()
    for _ in range(2):
        p.inspect()
        p.shows("a")
    assert len(cell(p, RI).witnesses) == 4


@pytest.mark.parametrize("act", ["begins", "fires", "stores"])
def test_inspection_that_does_something_breaches(act: str) -> None:
    p = Protocol()
    p.to_the_gate()
    p.inspect()
    {"begins": lambda: p.begins("c", sees=[]), "fires": lambda: p.fires("ship"), "stores": lambda: p.stores("c")}[act]()
    p.shows("a")
    assert cell(p, RI).findings[0].summary == "inspecting the state was not inert"


def test_storage_operation_that_only_began_has_changed_nothing() -> None:
    p = Protocol()
    p.to_the_gate()
    p.inspect()
    p.stores("c", phase=Phase.BEGIN)
    p.shows("a")
    assert cell(p, RI).measured is Measured.CONFORMS


@pytest.mark.parametrize(
    "change", [{"trail": []}, {"finished": True}, {"pending": (Pending(identity="#1", name="ok?"),)}], ids=str
)
def test_looking_twice_and_seeing_two_states_breaches(change: dict[str, object]) -> None:
    p = Protocol()
    p.to_the_gate()
    for _ in range(2):
        p.inspect()
        number = p.shows("a")
    assert cell(p, RI).measured is Measured.CONFORMS
    p.events[number - 1] = replace(p.events[number - 1], **change)
    assert cell(p, RI).findings[0].summary == "looking twice showed two states"


def test_states_with_a_resume_between_them_may_differ() -> None:
    p = Protocol()
    p.to_the_gate()
    p.inspect()
    p.shows("a")
    p.deliver(True)
    p.passes_the_gate(True)
    p.inspect()
    p.shows("a", "approve=True", "c", finished=True)
    assert cell(p, RI).measured is Measured.CONFORMS


def test_states_with_a_fork_between_them_may_differ() -> None:
    p = Protocol()
    p.to_the_end()
    p.inspect()
    p.shows("a", "approve=True", "c", finished=True)
    p.fork(False)
    p.passes_the_gate(False)
    for _ in range(2):
        p.inspect()
        number = p.shows("a", "approve=False", "c", finished=True)
    assert cell(p, RI).measured is Measured.CONFORMS
    p.events[number - 1] = replace(p.events[number - 1], trail=["a"])
    assert cell(p, RI).findings[0].summary == "looking twice showed two states"


def test_states_with_a_resume_under_way_between_them_may_differ() -> None:
    p = Protocol()
    p.to_the_gate()
    resume = p.deliver(True)
    p.inspect()
    p.shows("a")
    p.on(resume).passes_the_gate(True)
    p.inspect()
    p.shows("a", "approve=True", "c", finished=True)
    assert cell(p, RI).measured is Measured.CONFORMS


def test_run_that_nobody_inspected_is_unexercised() -> None:
    p = Protocol()
    p.to_the_end()
    assert cell(p, RI).measured is Measured.UNEXERCISED


def test_stray_that_is_refused_conforms() -> None:
    p = Protocol()
    p.to_the_end()
    p.deliver(False, intent=Intent.STRAY)
    p.raises("AlreadyConsumed")
    assert cell(p, LA).measured is Measured.CONFORMS


@pytest.mark.parametrize("end", ["parks", "returns"])
def test_stray_that_looks_accepted_breaches(end: str) -> None:
    p = Protocol()
    p.to_the_end()
    p.deliver(False, intent=Intent.STRAY, to="nobody?")
    getattr(p, end)()
    assert "was accepted without a signal" in story(cell(p, LA))


@pytest.mark.parametrize("act", ["consumes", "fires"])
def test_stray_that_was_acted_on_before_its_error_breaches(act: str) -> None:
    p = Protocol()
    p.to_the_end()
    p.deliver(False, intent=Intent.STRAY)
    p.begins("approve", sees=["a"])
    {"consumes": lambda: p.consumes(False), "fires": lambda: p.fires("pay")}[act]()
    p.raises()
    assert "was acted on before its error" in story(cell(p, LA))


def test_empty_answer_that_its_gate_received_before_an_error_conforms() -> None:
    p = Protocol()
    p.to_the_gate()
    p.deliver(None)
    p.begins("approve", sees=["a"])
    p.consumes(None)
    p.raises()
    assert cell(p, LA).measured is Measured.CONFORMS


def test_stray_whose_process_died_got_no_answer() -> None:
    p = Protocol()
    p.to_the_end()
    p.deliver(False, intent=Intent.STRAY)
    p.dies()
    assert cell(p, LA).measured is Measured.UNEXERCISED


def test_resumed_run_that_ran_every_task_conforms() -> None:
    p = Protocol()
    p.to_the_end()
    assert cell(p, LW).measured is Measured.CONFORMS


def test_recovery_that_reads_as_finished_without_a_task_breaches() -> None:
    p = Protocol(PLAIN)
    p.start()
    p.runs("a", sees=[])
    p.dies()
    p.recover()
    p.returns("a")
    assert "the run on branch b0 reads as finished, and never ran `b`, `c`" in story(cell(p, LW))


def test_fork_does_not_inherit_what_the_parent_ran_behind_the_interrupt() -> None:
    p = Protocol()
    p.to_the_end()
    p.fork(False)
    p.runs("approve", sees=["a"], decisions=(False,))
    p.dies()
    p.inspect("b0.1")
    p.shows("a", "approve=False", finished=True)
    assert cell(p, LW).findings[0].summary == "the run on branch b0.1 reads as finished, and never ran `c`"


def test_run_that_nobody_resumed_lost_nothing_in_a_resume() -> None:
    p = Protocol(PLAIN)
    p.start()
    p.returns("a")
    assert cell(p, LW).measured is Measured.UNEXERCISED


def test_open_run_is_not_missing_anything() -> None:
    p = Protocol()
    p.to_the_gate()
    p.deliver(True)
    p.dies()
    p.inspect()
    p.shows("a")
    assert cell(p, LW).measured is Measured.UNEXERCISED


@pytest.mark.parametrize("nothing", [None, "", {}, []])
def test_empty_answer_that_vanishes_breaches(nothing: Json) -> None:
    p = Protocol()
    p.to_the_gate()
    p.deliver(nothing)
    p.parks()
    assert "the empty answer d2 was accepted without a signal" in story(cell(p, LA))


def test_empty_answer_that_reaches_the_gate_or_is_refused_conforms() -> None:
    served, refused = Protocol(), Protocol()
    served.to_the_end(None)
    refused.to_the_gate()
    refused.deliver(None)
    refused.raises()
    assert cell(served, LA).measured is cell(refused, LA).measured is Measured.CONFORMS


def look_between(p: Protocol, *digests: str) -> None:
    for digest in digests:
        p.events.append(Durable(process=0, of="store", sha256=digest))
        p.inspect()
        p.shows("a")


def test_inspection_after_which_something_else_is_stored_breaches() -> None:
    p = Protocol()
    p.to_the_gate()
    look_between(p, "1", "2")
    assert "inspecting the state changed what is stored" in story(cell(p, RI))


def test_what_is_stored_may_change_where_the_run_goes_on() -> None:
    p = Protocol()
    p.to_the_gate()
    look_between(p, "1", "1")
    p.deliver(True)
    p.passes_the_gate(True)
    look_between(p, "2", "2")
    assert cell(p, RI).measured is Measured.CONFORMS


def drifted(*tasks: Task) -> Protocol:
    p = Protocol()
    p.to_the_gate()
    p.events.append(Drift(process=0, workload=Workload(tasks)))
    p.deliver(True)
    return p


def test_resume_of_a_changed_program_that_is_refused_conforms() -> None:
    p = drifted(*GATED.tasks, Task("added"))
    p.raises()
    assert cell(p, TD).measured is Measured.CONFORMS


def test_changed_program_whose_every_task_ran_conforms() -> None:
    p = drifted(*GATED.tasks)
    p.passes_the_gate(True)
    assert cell(p, TD).measured is Measured.CONFORMS


def test_changed_program_that_ends_without_a_task_breaches() -> None:
    p = drifted(Task("added"), *GATED.tasks)
    p.passes_the_gate(True)
    assert "which then read as finished and never ran `added`" in story(cell(p, TD))


def test_changed_program_that_only_parks_shows_nothing() -> None:
    p = drifted(*GATED.tasks)
    p.parks()
    assert cell(p, TD).measured is Measured.UNEXERCISED


def test_no_other_property_is_judged_of_a_changed_program() -> None:
    p = drifted(*GATED.tasks)
    p.passes_the_gate(True)
    assert cell(p, LW).measured is Measured.UNDETERMINED
