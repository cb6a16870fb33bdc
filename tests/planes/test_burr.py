"""Burr's plane: what it says of itself, and real applications on real files."""

from __future__ import annotations

import importlib
import inspect
import random
from pathlib import Path

import pytest
from pydantic import ValidationError
from recording import Persisted, RecordingInstruments
from surveyed import assert_consistent, random_workload

from resumption.history.events import Intent
from resumption.history.workload import Corrupt, Effect, Interrupt, Shape, Task, Workload, WriteFault
from resumption.planes.burr.application import ApplicationRun, open_run, tamper
from resumption.planes.burr.spec import APPLICATION, SPECS
from resumption.planes.interface import Address, Completed, Decision, Failed, Outcome, Parked, Snapshot, Store
from resumption.planes.statements import load

APPROVAL = Workload(
    (
        Task("draft", (Effect("write"),)),
        Task("approve", (Interrupt("sure?"), Effect("pay"))),
        Task("notify", (Effect("mail"),)),
    )
)


def answer(run: ApplicationRun, value: object, *, at: Address | None = None, form: str = "inputs") -> Outcome:
    """Answer the pending gate, or fork at an address that was kept."""
    intent = Intent.ANSWER if form == "inputs" else Intent.FORK
    where = at or run.address()
    return run.deliver(
        Decision(value=value, target="sure?", address=where, form=form, intent=intent, delivery="d1")
    ).wait()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store("sqlite", tmp_path)


def test_forms_statements_and_locks_hang_together() -> None:
    assert_consistent(SPECS)


@pytest.mark.parametrize(
    "found", [found for found in load(APPLICATION) if found.place.startswith("burr.")], ids=lambda found: found.id
)
def test_a_docstring_is_quoted_word_for_word(found) -> None:
    module, _, name = found.place.partition(":")
    target = importlib.import_module(module)
    for part in name.split("."):
        target = getattr(target, part)
    assert found.text in inspect.getdoc(target)


def test_a_run_parks_survives_its_process_and_ends(store: Store) -> None:
    first, second = RecordingInstruments(), RecordingInstruments()
    run = open_run(APPROVAL, store, first)
    parked = run.start({"trail": []}).wait()
    assert isinstance(parked, Parked)
    assert [pending.name for pending in parked.pending] == ["sure?"]
    run.close()
    again = open_run(APPROVAL, store, second)
    assert again.inspect() == Snapshot(["draft"], parked.pending, False)
    assert answer(again, "yes") == Completed(["draft", "approve=yes", "notify"])
    assert again.inspect() == Snapshot(["draft", "approve=yes", "notify"], (), True)
    assert (first.fired, second.fired) == ([("write", None)], [("pay", "yes"), ("mail", "yes")])


def test_each_action_is_durable_in_one_operation_that_names_it(store: Store) -> None:
    seen = RecordingInstruments()
    run = open_run(APPROVAL, store, seen)
    run.start({"trail": []}).wait()
    answer(run, "yes")
    names = ["draft", "approve", "notify"]
    assert seen.persisted == [Persisted(f"save({name})", (name,)) for name in names]


def test_opening_a_run_executes_nothing(store: Store) -> None:
    seen = RecordingInstruments()
    assert open_run(APPROVAL, store, seen).inspect() == Snapshot([], (), False)
    assert (seen.started, seen.persisted) == ([], [])


def test_a_fork_has_an_outcome_and_an_identity_of_its_own(store: Store) -> None:
    seen = RecordingInstruments()
    run = open_run(APPROVAL, store, seen)
    run.start({"trail": []}).wait()
    where = run.address()
    assert answer(run, "yes", at=where) == Completed(["draft", "approve=yes", "notify"])
    forked = answer(run, "no", at=where, form="fork-from-sequence-id")
    assert forked == Completed(["draft", "approve=no", "notify"])
    assert seen.tasks == ["draft", "approve", "notify", "approve", "notify"]
    assert run.address().checkpoint["app_id"] != where.checkpoint["app_id"]


def test_a_second_fork_under_one_app_id_fires_and_then_fails(store: Store) -> None:
    """The conflict is detected by the row's primary key, which is behind the effect."""
    seen = RecordingInstruments()
    run = open_run(APPROVAL, store, seen)
    run.start({"trail": []}).wait()
    where = run.address()
    answer(run, "no", at=where, form="fork-from-sequence-id")
    failed = answer(run, "yes", at=where, form="fork-from-sequence-id")
    assert isinstance(failed, Failed)
    assert failed.error == "IntegrityError"
    assert [fired for fired in seen.fired if fired[0] == "pay"] == [("pay", "no"), ("pay", "yes")]


def test_a_decision_that_comes_second_fires_and_then_fails(store: Store) -> None:
    """The row that both decisions were built from is claimed by neither: its successor's primary key decides."""
    second = RecordingInstruments()

    class Interrupted(RecordingInstruments):
        """Lets the other decision be served when this one's gate is about to pay."""

        def fire(self, effect: str, *, task: str, value: object) -> None:
            if effect == "pay":
                assert answer(open_run(APPROVAL, store, second), "no") == Completed(["draft", "approve=no", "notify"])
            super().fire(effect, task=task, value=value)

    first = Interrupted()
    run = open_run(APPROVAL, store, first)
    run.start({"trail": []}).wait()
    late = answer(run, "yes")
    assert isinstance(late, Failed)
    assert late.error == "IntegrityError"
    assert [*first.fired, *second.fired] == [("write", None), ("pay", "yes"), ("pay", "no"), ("mail", "no")]


@pytest.mark.parametrize("fault", [WriteFault.NULL_ITEM, WriteFault.NULL, WriteFault.WRONG_TYPE])
def test_a_typed_action_refuses_what_breaks_its_types(store: Store, fault: WriteFault) -> None:
    run = open_run(Workload((Task("first"), Task("bad", (Corrupt(fault),)))), store, RecordingInstruments())
    refused = run.start({"trail": []}).wait()
    assert isinstance(refused, Failed)
    assert refused.error == "ValidationError"
    assert run.inspect() == Snapshot(["first"], (), False)


def test_a_tampered_row_is_refused_by_whatever_reads_it_as_typed_state(store: Store) -> None:
    run = open_run(APPROVAL, store, RecordingInstruments())
    run.start({"trail": []}).wait()
    run.close()
    tamper(store)
    seen = RecordingInstruments()
    again = open_run(APPROVAL, store, seen)
    with pytest.raises(ValidationError, match="valid list"):
        again.inspect()
    refused = answer(again, "yes")
    assert isinstance(refused, Failed)
    assert refused.error == "ValidationError"
    assert seen.fired == []


def test_a_sub_application_that_ended_before_the_crash_does_not_run_again(store: Store) -> None:
    tasks = tuple(Task(name, (Effect(f"{name}!"),)) for name in ("one", "two", "three"))
    workload = Workload(tasks, Shape.FAN_OUT)
    outage, later = RecordingInstruments(failing="two!"), RecordingInstruments()
    run = open_run(workload, store, outage)
    assert run.start({"trail": []}).wait() == Failed("ConnectionError", "two! is out of reach")
    run.close()
    recovered = open_run(workload, store, later).recover("resume-at-next-action").wait()
    assert recovered == Completed(["one", "two", "three"])
    assert ("two!", None) in later.fired
    assert sorted([*outage.fired, *later.fired]) == [("one!", None), ("three!", None), ("two!", None)]


@pytest.mark.parametrize("seed", range(6))
def test_a_random_workload_parks_at_its_gate_and_fires_each_effect_once(store: Store, seed: int) -> None:
    workload, gate = random_workload(seed)
    names = [task.name for task in workload.tasks]
    first, second = RecordingInstruments(), RecordingInstruments()
    run = open_run(workload, store, first)
    parked = run.start({"trail": []}).wait()
    assert isinstance(parked, Parked)
    assert [pending.name for pending in parked.pending] == [f"{names[gate]}?"]
    run.close()
    completed = answer(open_run(workload, store, second), "go")
    assert completed == Completed([*names[:gate], f"{names[gate]}=go", *names[gate + 1 :]])
    assert (first.tasks, second.tasks) == (names[:gate], names[gate:])
    assert [name for name, _ in [*first.fired, *second.fired]] == [f"{name}!" for name in names]


@pytest.mark.parametrize("seed", range(6))
def test_a_random_workload_that_fails_goes_on_where_it_failed(store: Store, seed: int) -> None:
    workload, gate = random_workload(seed)
    names = [task.name for task in workload.tasks]
    failing = random.Random(seed).randrange(len(names))
    outage, later = RecordingInstruments(failing=f"{names[failing]}!"), RecordingInstruments()
    run = open_run(workload, store, outage)
    if isinstance(run.start({"trail": []}).wait(), Parked):
        assert isinstance(answer(run, "go"), Failed)
    run.close()
    again = open_run(workload, store, later)
    recovered = again.recover("resume-at-next-action").wait()
    if isinstance(recovered, Parked):  # the failure was in front of the gate, or in it, and took the answer with it
        assert failing <= gate
        recovered = answer(again, "go")
    assert recovered == Completed([*names[:gate], f"{names[gate]}=go", *names[gate + 1 :]])
    assert [name for name, _ in [*outage.fired, *later.fired]] == [f"{name}!" for name in names]


def test_a_form_that_the_plane_lacks_is_an_error(store: Store) -> None:
    run = open_run(APPROVAL, store, RecordingInstruments())
    with pytest.raises(ValueError, match="no resume form 'bare'"):
        answer(run, "yes", form="bare")
    with pytest.raises(ValueError, match="no resume form 'no-input'"):
        run.recover("no-input")
