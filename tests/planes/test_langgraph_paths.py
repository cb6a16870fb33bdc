"""LangGraph's subgraphs and functional API through their adapters: what they share with graphs, and what they don't."""

from __future__ import annotations

import importlib
from collections import Counter

import pytest
from driving import APPROVAL, TWO_QUESTIONS, deliver, fail_in_notify, park
from recording import Persisted, RecordingInstruments

from resumption.history.events import Intent
from resumption.history.workload import Corrupt, Task, Workload, WriteFault
from resumption.planes.interface import Capability, Completed, Failed, Operation, Parked, Store
from resumption.planes.langgraph.spec import FUNCTIONAL, SUBGRAPH

pytest.importorskip("langgraph")

PATHS = {spec.path: importlib.import_module(spec.adapter).open_run for spec in (SUBGRAPH, FUNCTIONAL)}
subgraph, functional = PATHS["subgraph"], PATHS["functional"]


@pytest.fixture(params=[backend.name for backend in FUNCTIONAL.backends if not backend.server])
def store(request, tmp_path):
    return Store(request.param, tmp_path)


@pytest.fixture(params=list(PATHS.values()), ids=list(PATHS))
def open_run(request):
    return request.param


@pytest.fixture
def seen():
    return RecordingInstruments()


def forms_of(spec, operation: Operation) -> set[str]:
    return {form.name for form in spec.forms_of(operation)}


# What both share with graphs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["bare", "map"])
def test_a_run_parks_and_completes_in_another_opening(open_run, store, seen, form):
    park(open_run, APPROVAL, store, seen).close()
    later = RecordingInstruments()
    run = open_run(APPROVAL, store, later)
    assert not run.inspect().finished
    assert set(run.address().requests) == {"sure?"}
    assert deliver(run, "yes", form=form) == Completed(["draft", "approve=yes", "notify"])
    assert later.tasks == ["approve", "notify"]
    finished = run.inspect()
    assert (finished.trail, finished.pending, finished.finished) == (["draft", "approve=yes", "notify"], (), True)


def test_opening_executes_and_stores_nothing(open_run, store, seen):
    snapshot = open_run(APPROVAL, store, seen).inspect()
    assert (snapshot.trail, snapshot.pending, snapshot.finished) == (None, (), False)
    assert (seen.started, seen.persisted) == ([], [])


@pytest.mark.parametrize("form", ["no-input", "command", "command-checkpoint"])
def test_a_recovery_runs_only_what_had_not_ended(open_run, store, seen, form):
    fail_in_notify(open_run, store)
    assert open_run(APPROVAL, store, seen).recover(form).wait() == Completed(["draft", "approve=True", "notify"])
    assert seen.tasks == ["notify"]


def test_a_recovery_at_the_head_checkpoint_starts_from_scratch(open_run, store, seen):
    fail_in_notify(open_run, store)
    assert isinstance(open_run(APPROVAL, store, seen).recover("checkpoint").wait(), Parked)
    assert seen.tasks == ["draft", "approve"]


@pytest.mark.parametrize("form", ["two-call", "replay"])
def test_a_fork_that_asks_again_has_its_own_decision_and_runs_the_prefix_again(open_run, store, seen, form):
    run = park(open_run, APPROVAL, store, seen)
    address = run.address()
    deliver(run, 1)
    for value in (2, 3):
        forked = deliver(run, value, address=address, form=form, intent=Intent.FORK)
        assert forked == Completed(["draft", f"approve={value}", "notify"])
    assert [value for name, value in seen.fired if name == "pay"] == [1, 2, 3]
    assert seen.tasks.count("draft") == 3


def test_a_fork_at_the_old_checkpoint_is_served_the_first_decision(open_run, store, seen):
    run = park(open_run, APPROVAL, store, seen)
    address = run.address()
    deliver(run, 1)
    forked = deliver(run, 2, address=address, form="direct", intent=Intent.FORK)
    assert forked == Completed(["draft", "approve=1", "notify"])


def test_two_questions_of_one_task_are_asked_one_after_the_other(open_run, store, seen):
    run = park(open_run, TWO_QUESTIONS, store, seen)
    second = deliver(run, "a", target="first?", form="map")
    assert [pending.name for pending in second.pending] == ["second?"]
    assert deliver(run, "b", target="second?", form="map") == Completed(["ask=a+b", "after"])


# Subgraphs ----------------------------------------------------------------------------------------------------------


def test_a_parked_subgraph_shows_its_own_trail(store, seen):
    run = park(subgraph, APPROVAL, store, seen)
    assert run.inspect().trail == ["draft"]
    assert [config["checkpoint_ns"].partition(":")[0] for config in run.address().checkpoint] == ["", "inner"]


def test_a_fork_at_the_root_checkpoint_of_a_subgraph_runs_nothing(store, seen):
    run = park(subgraph, APPROVAL, store, seen)
    address = run.address()
    deliver(run, 1)
    before = list(seen.tasks)
    deliver(run, 2, address=address, form="direct", intent=Intent.FORK)
    assert seen.tasks == before


def test_a_fork_at_the_subgraphs_own_checkpoint_keeps_the_prefix(store, seen):
    run = park(subgraph, APPROVAL, store, seen)
    address = run.address()
    deliver(run, 1)
    forked = deliver(run, 2, address=address, form="direct-inner", intent=Intent.FORK)
    assert forked == Completed(["draft", "approve=2", "notify"])
    assert seen.tasks.count("draft") == 1


def test_a_fork_by_update_of_a_subgraph_asks_again_from_scratch(store, seen):
    run = park(subgraph, APPROVAL, store, seen)
    address = run.address()
    deliver(run, 1)
    forked = deliver(run, 2, address=address, form="update-state", intent=Intent.FORK)
    assert forked == Completed(["draft", "approve=2", "notify"])
    assert seen.tasks.count("draft") == 2


def test_an_invalid_write_in_a_subgraph_is_stored_in_silence_at_its_end_and_raises_before_a_next_node(store, seen):
    bad = Task("bad", (Corrupt(WriteFault.NULL_ITEM),))
    assert subgraph(Workload((bad,)), store, seen).start({}).wait() == Completed([None])
    other = Store(store.backend, store.location, "other")
    failed = subgraph(Workload((bad, Task("next"))), other, seen).start({}).wait()
    assert isinstance(failed, Failed)
    assert failed.error == "ValidationError"


def test_the_operations_of_a_subgraph_are_named_by_where_they_belong(store, seen):
    deliver(park(subgraph, APPROVAL, store, seen), True, form="map")
    everything = ("draft", "approve", "notify")
    assert Counter(seen.persisted) == Counter(
        [
            Persisted("put(input,step=-1)", ()),
            Persisted("put_writes(__start__)", ()),
            Persisted("put(step=0)", ()),
            Persisted("inner/put(input,step=-1)", ()),
            Persisted("inner/put_writes(__start__)", ()),
            Persisted("inner/put(step=0)", ()),
            Persisted("inner/put_writes(draft)", ("draft",)),
            Persisted("inner/put(step=1)", ("draft",)),
            Persisted("inner/put_writes(approve:__interrupt__)", ()),
            Persisted("put_writes(inner:__interrupt__)", ()),
            Persisted("inner/put_writes(approve)", ("approve",)),
            Persisted("inner/put(step=2)", ("draft", "approve")),
            Persisted("inner/put_writes(notify)", ("notify",)),
            Persisted("inner/put(step=3)", everything),
            Persisted("put_writes(inner)", everything),
            Persisted("put(step=1)", everything),
        ]
    )


# The functional API -------------------------------------------------------------------------------------------------


def test_an_entrypoint_has_no_schema_and_no_fork_by_update():
    assert Capability.SCHEMA in FUNCTIONAL.lacks
    assert forms_of(FUNCTIONAL, Operation.FORK) == {"direct", "two-call", "replay"}
    assert forms_of(SUBGRAPH, Operation.FORK) == {"direct", "two-call", "replay", "update-state", "direct-inner"}


def test_a_form_that_another_path_has_is_an_error(store, seen):
    run = park(functional, APPROVAL, store, seen)
    with pytest.raises(ValueError, match="no resume form 'update-state'"):
        deliver(run, True, form="update-state", intent=Intent.FORK)


def test_the_operations_of_an_entrypoint_are_named_by_its_tasks(store, seen):
    deliver(park(functional, APPROVAL, store, seen), True, form="map")
    everything = ("draft", "approve", "notify")
    assert Counter(seen.persisted) == Counter(
        [
            Persisted("put(input,step=-1)", ()),
            Persisted("put_writes(draft)", ("draft",)),
            Persisted("put_writes(approve:__interrupt__)", ()),
            Persisted("put_writes(workflow:__interrupt__)", ()),
            Persisted("put_writes(approve)", ("approve",)),
            Persisted("put_writes(notify)", ("notify",)),
            Persisted("put_writes(workflow)", everything),
            Persisted("put(step=0)", everything),
        ]
    )


def test_the_original_input_again_runs_every_task_again_and_asks_again(store, seen):
    fail_in_notify(functional, store, form="map")
    assert isinstance(functional(APPROVAL, store, seen).recover("input").wait(), Parked)
    assert seen.tasks == ["draft", "approve"]


def test_an_answer_to_a_finished_entrypoint_is_taken_by_the_next_run_of_the_thread(store, seen):
    run = park(functional, APPROVAL, store, seen)
    deliver(run, "first", form="map")
    address = run.address()
    assert deliver(run, "stray", address=address, intent=Intent.STRAY) == Completed(
        ["draft", "approve=first", "notify"]
    )
    assert run.start({}).wait() == Completed(["draft", "approve=stray", "notify"])


def test_a_bare_answer_of_a_failed_entrypoint_is_taken_by_the_next_run_of_the_thread(store, seen):
    fail_in_notify(functional, store)
    next_run = functional(APPROVAL, store, seen)
    assert next_run.start({}).wait() == Completed(["draft", "approve=True", "notify"])
    assert seen.consumed == [("sure?", True)]


def test_an_answer_to_a_finished_graph_is_not_taken_by_the_next_run_of_the_thread(store, seen):
    run = park(subgraph, APPROVAL, store, seen)
    deliver(run, "first", form="map")
    deliver(run, "stray", intent=Intent.STRAY)
    assert isinstance(run.start({}).wait(), Parked)
