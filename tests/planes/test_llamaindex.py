"""LlamaIndex Workflows through their adapters: what the specs say, and every path on the real thing, in one process."""

from __future__ import annotations

import importlib
from dataclasses import replace
from importlib import metadata

import pytest
from recording import Persisted, RecordingInstruments
from stating import is_quoted
from surveyed import assert_consistent, random_workload

from resumption.harness.probes.workloads import FAN_OUT, PARALLEL_GATES, SEQUENCE, TWO_INTERRUPTS, corrupting
from resumption.history.events import Intent
from resumption.history.workload import WriteFault
from resumption.planes.interface import Address, Capability, Completed, Decision, Failed, Parked, Store
from resumption.planes.llamaindex.spec import SPECS, TWO_STEP, WAIT_WITH_REQUIREMENTS
from resumption.planes.statements import load

pytest.importorskip("workflows")

CITATIONS = {found.id: found for spec in SPECS for found in load(spec)}.values()


@pytest.fixture(params=SPECS, ids=lambda spec: spec.path)
def adapter(request):
    return importlib.import_module(request.param.adapter)


@pytest.fixture
def two_step():
    return importlib.import_module(TWO_STEP.adapter)


@pytest.fixture
def required():
    return importlib.import_module(WAIT_WITH_REQUIREMENTS.adapter)


@pytest.fixture(params=SPECS[:2], ids=lambda spec: spec.path)
def typed(request):
    """The paths whose answers have a type for each question."""
    return importlib.import_module(request.param.adapter)


@pytest.fixture
def store(tmp_path):
    return Store("json-file", tmp_path)


@pytest.fixture
def seen():
    return RecordingInstruments()


def deliver(run, value, target="approve", *, at=None, form="send-event"):
    address = at or run.address()
    decision = Decision(value=value, target=target, address=address, form=form, intent=Intent.ANSWER, delivery="d1")
    return run.deliver(decision).wait()


def names(parked):
    assert isinstance(parked, Parked)
    return [pending.name for pending in parked.pending]


# What the specs say -------------------------------------------------------------------------------------------------


def test_what_is_said_of_the_planes_hangs_together():
    assert_consistent(SPECS, undocumented=frozenset({"snapshot"}))


@pytest.mark.parametrize("found", [f for f in CITATIONS if f.place.startswith("workflows.")], ids=lambda f: f.id)
def test_a_docstring_is_quoted_word_for_word(found):
    assert is_quoted(found.text, found.place)


@pytest.mark.parametrize("found", [f for f in CITATIONS if f.place.startswith("README of ")], ids=lambda f: f.id)
def test_a_readme_is_quoted_word_for_word(found):
    text = metadata.metadata(found.place.removeprefix("README of ")).get_payload()
    assert found.text in " ".join(text.replace("*", "").split())


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.path)
def test_the_framework_makes_what_the_caller_saves(spec):
    assert spec.reason_against(spec.backends[0], Capability.OWN_WRITES) == ""
    alone = replace(spec, framework_snapshots=False)
    assert alone.reason_against(alone.backends[0], Capability.OWN_WRITES).endswith(spec.snapshots)


# The life of a run --------------------------------------------------------------------------------------------------


def test_a_run_parks_at_its_gate_and_completes_from_its_snapshot(adapter, store, seen):
    assert names(adapter.open_run(SEQUENCE, store, seen).start({}).wait()) == ["approve"]
    run = adapter.open_run(SEQUENCE, store, seen)
    assert (run.inspect().trail, run.inspect().finished) == (["a"], False)
    assert [pending.name for pending in run.inspect().pending] == ["approve"]
    assert deliver(run, "yes") == Completed(["a", "approve=yes", "b", "c"])
    assert run.inspect().finished
    assert seen.fired == [("a", None), ("charge", "yes"), ("b", "yes"), ("c", "yes")]


@pytest.mark.parametrize("seed", range(4))
def test_a_random_workload_fires_each_effect_once(adapter, store, seen, seed):
    workload, gate = random_workload(seed)
    tasks = [task.name for task in workload.tasks]
    run = adapter.open_run(workload, store, seen)
    run.start({}).wait()
    assert deliver(run, "go", f"{tasks[gate]}?") == Completed([*tasks[:gate], f"{tasks[gate]}=go", *tasks[gate + 1 :]])
    assert [effect for effect, _ in seen.fired] == [f"{name}!" for name in tasks]


def test_tasks_that_run_at_once_see_nothing_of_each_other(adapter, store, seen):
    assert adapter.open_run(FAN_OUT, store, seen).start({}).wait() == Completed(["a", "b", "c"])
    assert sorted(seen.started) == [("a", []), ("b", []), ("c", [])]


def test_a_recovery_leaves_a_question_and_an_end_alone(adapter, store, seen):
    run = adapter.open_run(SEQUENCE, store, seen)
    parked = run.start({}).wait()
    assert run.recover("run-context").wait() == parked
    ended = deliver(run, "yes")
    assert run.recover("run-context").wait() == ended
    assert seen.fired.count(("a", None)) == 1


def test_a_run_goes_on_at_the_step_that_failed(adapter, store, seen):
    outage = RecordingInstruments(failing="b")
    run = adapter.open_run(SEQUENCE, store, outage)
    run.start({}).wait()
    assert isinstance(deliver(run, "yes"), Failed)
    recovered = adapter.open_run(SEQUENCE, store, seen).recover("run-context").wait()
    assert recovered == Completed(["a", "approve=yes", "b", "c"])
    assert seen.tasks == ["b", "c"]


def test_without_a_snapshot_there_is_nothing_to_go_on_from(adapter, store, seen):
    run = adapter.open_run(SEQUENCE, store, seen)
    assert run.recover("run-context").wait().error == "NothingSaved"
    assert run.address() == Address()


def test_a_fork_has_a_file_of_its_own_and_leaves_the_run_alone(adapter, store, seen):
    run = adapter.open_run(SEQUENCE, store, seen)
    run.start({}).wait()
    address = run.address()
    deliver(run, "yes")
    assert deliver(run, "no", at=address, form="snapshot") == Completed(["a", "approve=no", "b", "c"])
    assert run.inspect().trail == ["a", "approve=yes", "b", "c"]


def test_a_form_that_nobody_listed_is_an_error(adapter, store, seen):
    run = adapter.open_run(SEQUENCE, store, seen)
    with pytest.raises(ValueError, match="no resume form 'telepathy'"):
        run.recover("telepathy")
    with pytest.raises(ValueError, match="no resume form 'telepathy'"):
        deliver(run, "yes", at=Address(), form="telepathy")


# Answers ------------------------------------------------------------------------------------------------------------


def test_an_answer_to_a_question_that_nobody_asked_is_refused_by_its_type(typed, store, seen):
    run = typed.open_run(SEQUENCE, store, seen)
    run.start({}).wait()
    refused = deliver(run, "yes", at=Address(requests={"approve": "approve-2"}))
    assert isinstance(refused, Failed)
    assert refused.error == "NotTaken"
    assert seen.consumed == []


class Interrupting(RecordingInstruments):
    """Holds task `b` back, the first time, until another answer has come to its end."""

    def __init__(self):
        super().__init__()
        self.beside = None

    def fire(self, effect, *, task, value):
        super().fire(effect, task=task, value=value)
        if task == "b" and self.beside:
            beside, self.beside = self.beside, None
            beside()


def test_an_answer_that_comes_while_the_run_is_live_fires_again_in_two_steps(two_step, store):
    seen = Interrupting()
    run = two_step.open_run(SEQUENCE, store, seen)
    run.start({}).wait()
    at = run.address()
    outcomes = []
    seen.beside = lambda: outcomes.append(deliver(run, "no", at=at))
    deliver(run, "yes", at=at)
    assert [value for effect, value in seen.fired if effect == "charge"] == ["yes", "no"]
    assert outcomes == [Completed(["a", "approve=yes", "approve=no", "b", "c"])]


def test_two_questions_of_one_task_get_their_own_answers_by_their_types(typed, store, seen):
    run = typed.open_run(TWO_INTERRUPTS, store, seen)
    run.start({}).wait()
    assert names(deliver(run, "yes", "first")) == ["second"]
    assert deliver(run, "no", "second") == Completed(["a", "approve=yes+no"])


def test_the_second_answer_is_taken_for_both_where_a_restored_step_has_requirements(required, store, seen):
    run = required.open_run(TWO_INTERRUPTS, store, seen)
    run.start({}).wait()
    assert names(deliver(run, "yes", "first")) == ["second"]
    assert deliver(run, "no", "second") == Completed(["a", "approve=no+no"])


def test_a_restored_step_with_requirements_takes_an_answer_that_does_not_meet_them(required, store, seen):
    run = required.open_run(SEQUENCE, store, seen)
    run.start({}).wait()
    taken = deliver(run, "yes", at=Address(requests={"approve": "approve-2"}))
    assert taken == Completed(["a", "approve=yes", "b", "c"])


def test_two_gates_that_ask_at_once_get_their_own_answers_by_their_types(typed, store, seen):
    run = typed.open_run(PARALLEL_GATES, store, seen)
    assert names(run.start({}).wait()) == ["left", "right"]
    assert names(deliver(run, "no", "right")) == ["left"]
    assert deliver(run, "yes", "left") == Completed(["a", "left=yes", "right=no"])


# Validity -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [WriteFault.NULL_ITEM, WriteFault.NULL, WriteFault.WRONG_TYPE])
def test_an_invalid_write_is_saved_and_the_snapshot_can_not_be_restored(two_step, store, seen, fault):
    run = two_step.open_run(corrupting(fault, terminal=False), store, seen)
    run.start({}).wait()
    assert Persisted("save(b)", ("a", "corrupt")) in seen.persisted
    with pytest.raises(ValueError, match="trail"):
        run.inspect()


def test_what_no_codec_takes_is_refused(two_step, store, seen):
    run = two_step.open_run(corrupting(WriteFault.UNSERIALISABLE, terminal=False), store, seen)
    assert run.start({}).wait().error == "ValueError"
    assert run.inspect().trail == ["a"]


def test_a_snapshot_that_was_tampered_with_is_refused(adapter, store, seen):
    run = adapter.open_run(SEQUENCE, store, seen)
    run.start({}).wait()
    at = run.address()
    adapter.tamper(store)
    with pytest.raises(ValueError, match="trail"):
        run.inspect()
    assert isinstance(deliver(run, "yes", at=at), Failed)
    assert seen.tasks.count("b") == 0


# The persistence seam -----------------------------------------------------------------------------------------------


def test_snapshots_have_names_and_say_what_they_cover(two_step, store, seen):
    run = two_step.open_run(SEQUENCE, store, seen)
    run.start({}).wait()
    deliver(run, "yes")
    assert seen.persisted == [
        Persisted("save(a)", ()),
        Persisted("save(approve)", ("a",)),
        Persisted("save(approve?)", ("a",)),
        Persisted("save(approve-1)", ("a",)),
        Persisted("save(b)", ("a", "approve")),
        Persisted("save(c)", ("a", "approve", "b")),
        Persisted("save(end)", ("a", "approve", "b", "c")),
    ]
