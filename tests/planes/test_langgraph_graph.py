"""LangGraph's graph API through its adapter: every form on every backend, in one process, on the real thing."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest
from driving import APPROVAL, TWO_QUESTIONS, deliver, fail_in_notify, park
from recording import Persisted, RecordingInstruments

from resumption.history.events import Intent
from resumption.history.workload import Corrupt, Task, Workload, WriteFault
from resumption.planes.interface import Completed, Failed, Operation, Parked, PastStates, Store
from resumption.planes.langgraph.spec import GRAPH

open_run = pytest.importorskip(GRAPH.adapter).open_run


@pytest.fixture(params=[backend.name for backend in GRAPH.backends if not backend.server])
def store(request, tmp_path):
    return Store(request.param, tmp_path)


@pytest.fixture
def seen():
    return RecordingInstruments()


# The life of a run --------------------------------------------------------------------------------------------------


def test_a_run_parks_at_its_gate_and_completes_when_answered(store, seen):
    run = open_run(APPROVAL, store, seen)
    parked = run.start({}).wait()
    assert [pending.name for pending in parked.pending] == ["sure?"]
    assert run.address().requests == {"sure?": parked.pending[0].identity}
    assert deliver(run, True) == Completed(["draft", "approve=True", "notify"])
    assert seen.started == [
        ("draft", []),
        ("approve", ["draft"]),
        ("approve", ["draft"]),
        ("notify", ["draft", "approve=True"]),
    ]
    assert seen.consumed == [("sure?", True)]
    assert seen.fired == [("write", None), ("pay", True), ("mail", "True")]


def test_opening_executes_and_stores_nothing(store, seen):
    run = open_run(APPROVAL, store, seen)
    snapshot = run.inspect()
    assert not snapshot.finished
    assert snapshot.pending == ()
    assert run.address().requests == {}
    assert (seen.started, seen.persisted) == ([], [])


def test_a_second_opening_finds_the_parked_run(store, seen):
    park(open_run, APPROVAL, store, seen).close()
    later = RecordingInstruments()
    run = open_run(APPROVAL, store, later)
    assert [pending.name for pending in run.inspect().pending] == ["sure?"]
    assert deliver(run, False) == Completed(["draft", "approve=False", "notify"])
    assert later.tasks == ["approve", "notify"]


def test_looking_stores_nothing(store, seen):
    run = park(open_run, APPROVAL, store, seen)
    before = list(seen.persisted)
    snapshot = run.inspect()
    run.address()
    assert snapshot.trail == ["draft"]
    assert not snapshot.finished
    deliver(run, True)
    finished = run.inspect()
    assert (finished.trail, finished.pending, finished.finished) == (["draft", "approve=True", "notify"], (), True)
    assert seen.persisted[: len(before)] == before


def test_two_threads_of_one_store_are_two_runs(store, seen):
    park(open_run, APPROVAL, store, seen)
    other = open_run(APPROVAL, Store(store.backend, store.location, "other"), seen)
    assert not other.inspect().pending


def test_an_error_of_a_task_is_the_outcome(store):
    outage = fail_in_notify(open_run, store)
    assert [name for name, _ in outage.fired] == ["write", "pay"]


def test_a_form_or_a_backend_that_nobody_listed_is_an_error(store, seen, tmp_path):
    run = park(open_run, APPROVAL, store, seen)
    with pytest.raises(ValueError, match="no resume form 'telepathy'"):
        run.recover("telepathy")
    with pytest.raises(ValueError, match="no resume form 'telepathy'"):
        deliver(run, True, form="telepathy")
    with pytest.raises(ValueError, match="no backend 'paper'"):
        open_run(APPROVAL, Store("paper", tmp_path), seen)


# The forms ----------------------------------------------------------------------------------------------------------


def test_every_form_of_the_spec_is_tested_here():
    assert {form.name for form in GRAPH.forms_of(Operation.DELIVER)} == {"bare", "map"}
    assert {form.name for form in GRAPH.forms_of(Operation.FORK)} == {"direct", *FORKS_THAT_ASK_AGAIN}
    assert {form.name for form in GRAPH.forms_of(Operation.RECOVER)} == {"input", *RECOVERIES_FROM_THE_FRONTIER}


@pytest.mark.parametrize("form", ["bare", "map"])
def test_a_delivery_answers_the_question(store, seen, form):
    run = park(open_run, APPROVAL, store, seen)
    assert deliver(run, "yes", form=form) == Completed(["draft", "approve=yes", "notify"])


RECOVERIES_FROM_THE_FRONTIER = ["no-input", "command", "checkpoint", "command-checkpoint"]


@pytest.mark.parametrize("form", RECOVERIES_FROM_THE_FRONTIER)
def test_a_recovery_runs_only_what_had_not_ended(store, seen, form):
    fail_in_notify(open_run, store)
    run = open_run(APPROVAL, store, seen)
    assert run.recover(form).wait() == Completed(["draft", "approve=True", "notify"])
    assert seen.tasks == ["notify"]


def test_the_original_input_again_starts_over_on_the_same_thread(store, seen):
    fail_in_notify(open_run, store)
    run = open_run(APPROVAL, store, seen)
    assert isinstance(run.recover("input").wait(), Parked)
    assert seen.tasks == ["draft", "approve"]
    assert run.inspect().trail == ["draft", "approve=True", "draft"]


FORKS_THAT_ASK_AGAIN = ["two-call", "replay", "update-state"]


@pytest.mark.parametrize("form", FORKS_THAT_ASK_AGAIN)
def test_a_fork_that_asks_again_gives_each_branch_its_own_decision(store, seen, form):
    run = park(open_run, APPROVAL, store, seen)
    address = run.address()
    deliver(run, 1)
    for value in (2, 3):
        forked = deliver(run, value, address=address, form=form, intent=Intent.FORK)
        assert forked == Completed(["draft", f"approve={value}", "notify"])
    assert [value for name, value in seen.fired if name == "pay"] == [1, 2, 3]
    assert seen.tasks.count("draft") == 1


def test_a_fork_at_the_old_checkpoint_is_served_the_first_decision(store, seen):
    run = park(open_run, APPROVAL, store, seen)
    address = run.address()
    deliver(run, 1)
    for value in (2, 3):
        forked = deliver(run, value, address=address, form="direct", intent=Intent.FORK)
        assert forked == Completed(["draft", "approve=1", "notify"])
    assert [value for name, value in seen.fired if name == "pay"] == [1, 1, 1]


# Two questions in one task ------------------------------------------------------------------------------------------


def test_two_questions_of_one_task_are_asked_one_after_the_other(store, seen):
    run = park(open_run, TWO_QUESTIONS, store, seen)
    first = run.address()
    second = deliver(run, "a", target="first?")
    assert [pending.name for pending in second.pending] == ["second?"]
    assert set(run.address().requests) == {"second?"}
    assert run.address().checkpoint == first.checkpoint
    assert deliver(run, "b", target="second?", form="map") == Completed(["ask=a+b", "after"])


@pytest.mark.parametrize("form", ["bare", "map"])
def test_the_first_answer_sent_again_is_taken_by_the_second_question(store, seen, form):
    run = park(open_run, TWO_QUESTIONS, store, seen)
    first = run.address()
    deliver(run, "a", address=first, target="first?", form=form)
    again = deliver(run, "a", address=first, target="first?", form=form, intent=Intent.RETRY)
    assert again == Completed(["ask=a+a", "after"])


# Writes that break the schema ---------------------------------------------------------------------------------------


def corrupt(fault: WriteFault, *rest: Task) -> Workload:
    return Workload((Task("fine"), Task("bad", (Corrupt(fault),)), *rest))


def test_a_null_item_in_the_last_write_is_stored_and_returned_in_silence(store, seen):
    run = open_run(corrupt(WriteFault.NULL_ITEM), store, seen)
    assert run.start({}).wait() == Completed(["fine", None])
    run.close()
    assert open_run(corrupt(WriteFault.NULL_ITEM), store, seen).inspect().trail == ["fine", None]


@pytest.mark.parametrize(
    ("fault", "error", "rest"),
    [
        (WriteFault.NULL_ITEM, "ValidationError", (Task("next"),)),
        (WriteFault.NULL, "TypeError", ()),
        (WriteFault.NULL, "TypeError", (Task("next"),)),
        (WriteFault.WRONG_TYPE, "TypeError", ()),
        (WriteFault.WRONG_TYPE, "TypeError", (Task("next"),)),
    ],
)
def test_any_other_invalid_write_bricks_the_thread(store, seen, fault, error, rest):
    run = open_run(corrupt(fault, *rest), store, seen)
    failed = run.start({}).wait()
    assert isinstance(failed, Failed)
    assert failed.error == error
    assert Persisted("put_writes(bad)", ("bad",)) in seen.persisted
    assert run.recover("no-input").wait() == failed
    with pytest.raises((TypeError, ValueError)) as caught:
        run.inspect()
    assert type(caught.value).__name__ == error


def test_past_states_are_listed_as_far_as_they_can_be_read(store, seen):
    run = open_run(corrupt(WriteFault.NULL_ITEM), store, seen)
    run.start({}).wait()
    assert run.past_states() == PastStates((["fine", None], ["fine"], [], []))
    refused = open_run(corrupt(WriteFault.NULL), Store(store.backend, store.location, "refused"), seen)
    refused.start({}).wait()
    assert refused.past_states() == PastStates((["fine"], [], []))
    bricked = open_run(corrupt(WriteFault.NULL_ITEM, Task("next")), Store(store.backend, store.location, "mid"), seen)
    bricked.start({}).wait()
    assert bricked.past_states() == PastStates((), "ValidationError")


# The persistence seam -----------------------------------------------------------------------------------------------


def test_storage_operations_have_reproducible_names_and_say_what_they_cover(store, seen):
    run = park(open_run, APPROVAL, store, seen)
    asked = Counter(seen.persisted)
    assert asked == Counter(
        [
            Persisted("put(input,step=-1)", ()),
            Persisted("put_writes(__start__)", ()),
            Persisted("put(step=0)", ()),
            Persisted("put_writes(draft)", ("draft",)),
            Persisted("put(step=1)", ("draft",)),
            Persisted("put_writes(approve:__interrupt__)", ()),
        ]
    )
    deliver(run, True)
    assert Counter(seen.persisted) - asked == Counter(
        [
            Persisted("put_writes(__resume__)", ()),
            Persisted("put_writes(approve)", ("approve",)),
            Persisted("put(step=2)", ("draft", "approve")),
            Persisted("put_writes(notify)", ("notify",)),
            Persisted("put(step=3)", ("draft", "approve", "notify")),
        ]
    )


def test_a_second_run_has_the_same_operations(store, tmp_path):
    first, second = RecordingInstruments(), RecordingInstruments()
    for thread, seen in (("one", first), ("two", second)):
        deliver(park(open_run, APPROVAL, Store(store.backend, tmp_path, thread), seen), True)
    assert Counter(first.persisted) == Counter(second.persisted)


def test_a_task_that_failed_or_asked_again_covers_nothing(store, seen):
    outage = fail_in_notify(open_run, store)
    assert outage.persisted.count(Persisted("put_writes(notify:__error__)", ())) == 1
    run = park(open_run, TWO_QUESTIONS, Store(store.backend, store.location, "other"), seen)
    deliver(run, "a", target="first?", form="map")
    assert seen.persisted.count(Persisted("put_writes(ask:__interrupt__)", ())) == 2


def test_a_fork_is_told_from_a_step_by_its_name(store, seen):
    run = park(open_run, APPROVAL, store, seen)
    address = run.address()
    deliver(run, True)
    for form, name in (("two-call", "put(fork,step=2)"), ("update-state", "put(update,step=2)")):
        deliver(run, False, address=address, form=form, intent=Intent.FORK)
        assert Persisted(name, ("draft",)) in seen.persisted


# The spec -----------------------------------------------------------------------------------------------------------


def test_the_spec_and_its_statements_are_read_without_the_framework():
    program = (
        "import sys\n"
        "from resumption.planes.langgraph.spec import GRAPH\n"
        "from resumption.planes.statements import load\n"
        "assert load(GRAPH)\n"
        "print(*(name for name in sys.modules if name.split('.')[0] in ('langgraph', 'langchain_core', 'pydantic')))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == ""
