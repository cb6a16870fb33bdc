"""Tasks that run at once, on the paths of LangGraph that have them."""

from __future__ import annotations

import importlib

import pytest
from driving import deliver, park
from recording import RecordingInstruments

from resumption.history.workload import Effect, Interrupt, Shape, Task, Workload
from resumption.planes.interface import Capability, Completed, Failed, Parked, Store
from resumption.planes.langgraph.spec import SPECS

pytest.importorskip("langgraph")

EFFECTS = Workload(tuple(Task(name, (Effect(name),)) for name in ("a", "b", "c")), Shape.FAN_OUT)
GATES = Workload(
    tuple(Task(name, (Interrupt(f"{name}?"), Effect(f"pay {name}"))) for name in ("left", "right")), Shape.FAN_OUT
)
WITH_PARALLEL_GATES = [spec for spec in SPECS if Capability.PARALLEL_GATES not in spec.lacks]


def opened_by(spec):
    return importlib.import_module(spec.adapter).open_run


@pytest.fixture(params=["memory", "sqlite", "sqlite-async"])
def store(request, tmp_path):
    return Store(request.param, tmp_path)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.path)
def test_no_task_of_a_fan_out_sees_what_another_wrote(spec, store):
    seen = RecordingInstruments()
    assert opened_by(spec)(EFFECTS, store, seen).start({}).wait() == Completed(["a", "b", "c"])
    assert sorted(seen.started) == [("a", []), ("b", []), ("c", [])]


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.path)
def test_a_sibling_of_a_task_that_failed_does_not_run_again(spec, store):
    outage, later = RecordingInstruments(failing="b"), RecordingInstruments()
    run = opened_by(spec)(EFFECTS, store, outage)
    assert isinstance(run.start({}).wait(), Failed)
    run.close()
    outcomes = [Completed(["a", "b", "c"])]
    if store.backend == "sqlite-async":
        # A write that is cancelled there can leave its transaction open for as long as the process lives (the kind of
        # LangGraph #8136): the recovery is then refused by the database, and still nothing runs twice.
        outcomes.append(Failed("OperationalError", "database is locked"))
    assert opened_by(spec)(EFFECTS, store, later).recover("no-input").wait() in outcomes
    recorded = {task for persisted in outage.persisted for task in persisted.covers}
    assert not recorded & set(later.tasks)


@pytest.mark.parametrize("spec", WITH_PARALLEL_GATES, ids=lambda spec: spec.path)
def test_an_answer_by_id_goes_to_its_own_gate_and_leaves_the_other_pending(spec, store):
    seen = RecordingInstruments()
    run = park(opened_by(spec), GATES, store, seen)
    assert set(run.address().requests) == {"left?", "right?"}
    half = deliver(run, "no", target="right?", form="map")
    assert isinstance(half, Parked)
    assert [pending.name for pending in half.pending] == ["left?"]
    assert deliver(run, "yes", target="left?", form="map") == Completed(["left=yes", "right=no"])
    assert sorted(seen.fired) == [("pay left", "yes"), ("pay right", "no")]


@pytest.mark.parametrize("spec", WITH_PARALLEL_GATES, ids=lambda spec: spec.path)
def test_a_bare_answer_to_two_gates_is_refused_and_fires_nothing(spec, store):
    seen = RecordingInstruments()
    run = park(opened_by(spec), GATES, store, seen)
    refused = deliver(run, "yes", target="left?", form="bare")
    assert isinstance(refused, Failed)
    assert refused.error == "RuntimeError"
    assert seen.fired == []
