"""LangChain's agents through their adapters: what a person decides on, what is durable when, what is asked at once."""

from __future__ import annotations

import importlib

import pytest
from driving import APPROVAL, TWO_QUESTIONS, deliver, fail_in_notify, park
from recording import Persisted, RecordingInstruments

from resumption.history.events import Intent
from resumption.history.workload import Corrupt, Effect, Interrupt, Shape, Task, Workload, WriteFault
from resumption.planes.interface import Capability, Completed, Failed, Operation, Parked, Store
from resumption.planes.langgraph.spec import AGENT, AGENT_PER_CALL

pytest.importorskip("langchain")

GATES = Workload(
    tuple(Task(name, (Interrupt(f"{name}?"), Effect(f"pay {name}"))) for name in ("left", "right")), Shape.FAN_OUT
)


@pytest.fixture(params=["memory", "sqlite", "memory-async", "sqlite-async"])
def store(request, tmp_path):
    return Store(request.param, tmp_path)


@pytest.fixture(params=[AGENT, AGENT_PER_CALL], ids=lambda spec: spec.path)
def open_run(request):
    return importlib.import_module(request.param.adapter).open_run


@pytest.fixture
def seen():
    return RecordingInstruments()


@pytest.mark.parametrize("form", ["bare", "map"])
def test_a_tool_is_reviewed_before_it_starts_and_gets_the_decision(open_run, store, seen, form):
    run = park(open_run, APPROVAL, store, seen)
    assert seen.tasks == ["draft"]
    assert deliver(run, "yes", form=form) == Completed(["draft", "approve=yes", "notify"])
    assert seen.consumed == [("sure?", "yes")]
    assert seen.fired == [("write", None), ("pay", "yes"), ("mail", "yes")]


def test_questions_of_one_tool_are_asked_one_after_the_other(open_run, store, seen):
    run = park(open_run, TWO_QUESTIONS, store, seen)
    second = deliver(run, "a", target="first?", form="map")
    assert [pending.name for pending in second.pending] == ["second?"]
    assert deliver(run, "b", target="second?", form="map") == Completed(["ask=a+b", "after"])


def test_a_tools_writes_cover_its_task_and_so_does_the_checkpoint_that_holds_its_message(open_run, store, seen):
    deliver(park(open_run, APPROVAL, store, seen), "yes")
    writes = {persisted.name: persisted.covers for persisted in seen.persisted if persisted.covers}
    for task in ("draft", "approve", "notify"):
        assert writes[f"put_writes({task})"] == (task,)
    steps = [persisted for persisted in seen.persisted if persisted.name.startswith("put(")]
    assert steps[-1].covers == ("draft", "approve", "notify")


@pytest.mark.parametrize("form", [form.name for form in AGENT.forms_of(Operation.RECOVER) if form.name != "input"])
def test_a_recovery_runs_only_the_tool_that_had_not_ended(open_run, store, seen, form):
    fail_in_notify(open_run, store)
    assert open_run(APPROVAL, store, seen).recover(form).wait() == Completed(["draft", "approve=True", "notify"])
    assert seen.tasks == ["notify"]


def test_the_original_input_again_asks_the_agent_for_everything_once_more(open_run, store, seen):
    fail_in_notify(open_run, store)
    assert isinstance(open_run(APPROVAL, store, seen).recover("input").wait(), Parked)
    assert seen.tasks == ["draft"]


@pytest.mark.parametrize("form", ["two-call", "replay", "update-state"])
def test_a_fork_that_asks_again_has_its_own_decision(open_run, store, seen, form):
    run = park(open_run, APPROVAL, store, seen)
    address = run.address()
    deliver(run, 1)
    forked = deliver(run, 2, address=address, form=form, intent=Intent.FORK)
    assert forked == Completed(["draft", "approve=2", "notify"])


def test_an_invalid_write_is_stored_with_the_error_that_it_raises(open_run, store, seen):
    run = open_run(Workload((Task("bad", (Corrupt(WriteFault.NULL),)),)), store, seen)
    assert isinstance(run.start({}).wait(), Failed)
    assert Persisted("put_writes(bad:__error__)", ("bad",)) in seen.persisted
    with pytest.raises(TypeError):
        run.inspect()


def test_calls_of_one_message_are_reviewed_in_one_interrupt_or_in_one_each(store):
    asked = {}
    for spec in (AGENT, AGENT_PER_CALL):
        run = importlib.import_module(spec.adapter).open_run(
            GATES, Store(store.backend, store.location, spec.path), RecordingInstruments()
        )
        asked[spec.path] = sorted(pending.name for pending in run.start({}).wait().pending)
    assert asked == {"agent": ["left?"], "agent-per-call": ["left?", "right?"]}
    assert Capability.PARALLEL_GATES in AGENT.lacks
    assert Capability.PARALLEL_GATES not in AGENT_PER_CALL.lacks
