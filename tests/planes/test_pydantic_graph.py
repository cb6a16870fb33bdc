"""pydantic-graph through its adapter: what its spec says, and every form on the real thing, in one process."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from recording import Persisted, RecordingInstruments
from stating import is_quoted
from surveyed import assert_consistent, random_workload

from resumption.harness.probes.workloads import EFFECT_BEFORE_INTERRUPT, SEQUENCE, TWO_INTERRUPTS, corrupting
from resumption.history.events import Intent
from resumption.history.workload import Interrupt, Task, Workload, WriteFault
from resumption.planes.interface import Address, Completed, Decision, Failed, Parked, Store
from resumption.planes.pydantic_graph.spec import GRAPH, SPECS
from resumption.planes.statements import load

adapter = pytest.importorskip(GRAPH.adapter)


@pytest.fixture
def store(tmp_path):
    return Store("json-file", tmp_path)


@pytest.fixture
def seen():
    return RecordingInstruments()


def deliver(run, value, target="approve", *, at=None, form="load-next"):
    address = at or run.address()
    decision = Decision(value=value, target=target, address=address, form=form, intent=Intent.ANSWER, delivery="d1")
    return run.deliver(decision).wait()


def fail_in(effect, store):
    """Answer the question, and fail in the task of an effect behind it."""
    outage = RecordingInstruments(failing=effect)
    run = adapter.open_run(SEQUENCE, store, outage)
    run.start({}).wait()
    assert deliver(run, "yes") == Failed("ConnectionError", f"{effect} is out of reach")


# What the spec says -------------------------------------------------------------------------------------------------


def test_what_is_said_of_the_plane_hangs_together():
    assert_consistent(SPECS, undocumented=frozenset({"reset-status", "history"}))


@pytest.mark.parametrize(
    "found", [found for found in load(GRAPH) if found.place.startswith("pydantic_graph")], ids=lambda found: found.id
)
def test_a_docstring_is_quoted_word_for_word(found):
    assert is_quoted(found.text, found.place)


def test_a_release_without_state_persistence_says_so():
    script = (
        "import sys; sys.modules['pydantic_graph.persistence'] = None\n"
        "try: import resumption.planes.pydantic_graph.graph\n"
        "except ImportError as error: print(error)"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert "from 2.0 there is no plane to measure" in told


# The life of a run --------------------------------------------------------------------------------------------------


def test_a_run_parks_at_its_gate_and_completes_in_another_process_s_hands(store, seen):
    parked = adapter.open_run(SEQUENCE, store, seen).start({}).wait()
    assert [pending.name for pending in parked.pending] == ["approve"]
    run = adapter.open_run(SEQUENCE, store, seen)
    assert run.inspect().trail == ["a"]
    assert run.inspect().pending == parked.pending
    assert deliver(run, "yes") == Completed(["a", "approve=yes", "b", "c"])
    assert run.inspect().finished
    assert seen.tasks == ["a", "approve", "b", "c"]
    assert seen.fired == [("a", None), ("charge", "yes"), ("b", "yes"), ("c", "yes")]


def test_a_task_is_cut_at_its_questions_so_that_no_part_runs_twice(store, seen):
    run = adapter.open_run(EFFECT_BEFORE_INTERRUPT, store, seen)
    run.start({}).wait()
    assert deliver(run, "yes") == Completed(["approve=yes", "b"])
    assert [effect for effect, _ in seen.fired] == ["notify", "charge", "b"]


def test_two_questions_of_one_task_are_asked_one_after_the_other(store, seen):
    run = adapter.open_run(TWO_INTERRUPTS, store, seen)
    run.start({}).wait()
    second = deliver(run, "yes", "first")
    assert [pending.name for pending in second.pending] == ["second"]
    assert deliver(run, "no", "second") == Completed(["a", "approve=yes+no"])


def test_a_run_can_begin_at_a_gate(store, seen):
    run = adapter.open_run(Workload((Task("approve", (Interrupt("approve"),)),)), store, seen)
    assert isinstance(run.start({}).wait(), Parked)
    assert deliver(run, "yes") == Completed(["approve=yes"])


@pytest.mark.parametrize("seed", range(6))
def test_a_random_workload_fires_each_effect_once(store, seen, seed):
    workload, gate = random_workload(seed)
    names = [task.name for task in workload.tasks]
    run = adapter.open_run(workload, store, seen)
    run.start({}).wait()
    assert deliver(run, "go", f"{names[gate]}?") == Completed([*names[:gate], f"{names[gate]}=go", *names[gate + 1 :]])
    assert [effect for effect, _ in seen.fired] == [f"{name}!" for name in names]


# Second decisions and forks -----------------------------------------------------------------------------------------


def test_a_second_answer_is_refused_because_the_snapshot_is_claimed(store, seen):
    run = adapter.open_run(SEQUENCE, store, seen)
    run.start({}).wait()
    deliver(run, "yes")
    refused = deliver(run, "no")
    assert refused == Failed("NotWaiting", "load_next() returned None: no snapshot waits to be run")
    assert [effect for effect, _ in seen.fired].count("charge") == 1


def test_a_claimed_node_that_is_no_question_takes_no_answer(store, seen):
    fail_in("b", store)
    _set_status(store, "created")
    refused = deliver(adapter.open_run(SEQUENCE, store, seen), "no")
    assert isinstance(refused, Failed)
    assert "which is no question" in refused.message
    assert seen.fired == []


def test_a_fork_from_the_history_has_a_file_of_its_own_and_leaves_the_run_alone(store, seen):
    run = adapter.open_run(SEQUENCE, store, seen)
    run.start({}).wait()
    address = run.address()
    deliver(run, "yes")
    assert deliver(run, "no", at=address, form="history") == Completed(["a", "approve=no", "b", "c"])
    assert run.inspect().trail == ["a", "approve=yes", "b", "c"]
    assert [effect for effect, _ in seen.fired].count("a") == 1
    assert sorted(path.name for path in store.location.glob("*.json")) == ["run-d1.json", "run.json"]


def test_a_fork_at_an_id_that_nobody_issued_is_refused(store, seen):
    run = adapter.open_run(SEQUENCE, store, seen)
    run.start({}).wait()
    address = Address(requests={"approve": "Question:0"})
    assert deliver(run, "no", at=address, form="history") == Failed(
        "NotWaiting", "load_all() shows no question Question:0"
    )


# Crashes ------------------------------------------------------------------------------------------------------------


def test_a_run_that_failed_in_a_node_is_refused(store, seen):
    fail_in("b", store)
    refused = adapter.open_run(SEQUENCE, store, seen).recover("iter-from-persistence").wait()
    assert refused == Failed("GraphRuntimeError", "Unable to restore snapshot from state persistence.")
    assert seen.tasks == []


def test_a_status_written_over_lets_it_go_on_where_it_failed(store, seen):
    fail_in("b", store)
    run = adapter.open_run(SEQUENCE, store, seen)
    assert run.recover("reset-status").wait() == Completed(["a", "approve=yes", "b", "c"])
    assert seen.tasks == ["b", "c"]


@pytest.mark.parametrize("form", ["iter-from-persistence", "reset-status"])
def test_a_recovery_leaves_a_question_unclaimed(store, seen, form):
    run = adapter.open_run(SEQUENCE, store, seen)
    parked = run.start({}).wait()
    assert run.recover(form).wait() == parked
    assert isinstance(deliver(run, "yes"), Completed)


def _set_status(store, status):
    file = store.location / "run.json"
    snapshots = json.loads(file.read_bytes())
    snapshots[-1]["status"] = status
    file.write_text(json.dumps(snapshots))


# Validity -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [WriteFault.NULL_ITEM, WriteFault.NULL, WriteFault.WRONG_TYPE])
def test_an_invalid_write_is_stored_before_any_error_and_makes_the_file_unreadable(store, seen, fault):
    run = adapter.open_run(corrupting(fault, terminal=False), store, seen)
    assert run.start({}).wait().error == "ValidationError"
    assert Persisted("snapshot(b)", ("a", "corrupt")) in seen.persisted
    with pytest.raises(ValueError, match=r"state\.trail"):
        run.inspect()
    assert run.address().requests == {}
    assert run.recover("iter-from-persistence").wait().error == "ValidationError"


def test_a_file_that_was_tampered_with_is_refused(store, seen):
    run = adapter.open_run(SEQUENCE, store, seen)
    run.start({}).wait()
    adapter.tamper(store)
    assert deliver(run, "yes", at=Address()).error == "ValidationError"
    assert seen.tasks == ["a"]


# The persistence seam -----------------------------------------------------------------------------------------------


def test_storage_operations_have_names_and_say_what_they_cover(store, seen):
    run = adapter.open_run(SEQUENCE, store, seen)
    run.start({}).wait()
    assert seen.persisted == [
        Persisted("snapshot(a)", ()),
        Persisted("running(a)", ()),
        Persisted("success(a)", ()),
        Persisted("snapshot(approve?)", ("a",)),
    ]


def test_a_form_that_nobody_listed_is_an_error(store, seen):
    run = adapter.open_run(SEQUENCE, store, seen)
    with pytest.raises(ValueError, match="no resume form 'telepathy'"):
        run.recover("telepathy")
    with pytest.raises(ValueError, match="no resume form 'telepathy'"):
        deliver(run, "yes", at=Address(), form="telepathy")
