"""Workloads that no adapter can be wired to: random ones, on every path of LangGraph."""

from __future__ import annotations

import importlib
import random

import pytest
from driving import deliver
from recording import RecordingInstruments

from resumption.history.workload import Effect, Interrupt, Task, Workload
from resumption.planes.interface import Completed, Failed, Parked, Store
from resumption.planes.langgraph.spec import AGENT, AGENT_PER_CALL, SPECS

pytest.importorskip("langgraph")
pytest.importorskip("langchain")

_SEEDS = range(6)
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _workload(seed: int) -> tuple[Workload, int]:
    """Three to eight tasks with names of their own, each with an effect, and the place of the one that is a gate."""
    chance = random.Random(seed)
    names = ["".join(chance.sample(_LETTERS, 6)) for _ in range(chance.randint(3, 8))]
    gate = chance.randrange(len(names))
    tasks = [
        Task(name, (*((Interrupt(f"{name}?"),) if place == gate else ()), Effect(f"{name}!")))
        for place, name in enumerate(names)
    ]
    return Workload(tuple(tasks)), gate


@pytest.fixture(params=SPECS, ids=lambda spec: spec.path)
def spec(request):
    return request.param


@pytest.fixture
def open_run(spec):
    return importlib.import_module(spec.adapter).open_run


@pytest.fixture(params=["sqlite", "sqlite-async"])
def store(request, tmp_path):
    return Store(request.param, tmp_path)


@pytest.mark.parametrize("seed", _SEEDS)
def test_a_random_workload_parks_at_its_gate_and_fires_each_effect_once(spec, open_run, store, seed):
    workload, gate = _workload(seed)
    names = [task.name for task in workload.tasks]
    first, second = RecordingInstruments(), RecordingInstruments()
    run = open_run(workload, store, first)
    parked = run.start({}).wait()
    assert isinstance(parked, Parked)
    assert [pending.name for pending in parked.pending] == [f"{names[gate]}?"]
    run.close()
    completed = deliver(open_run(workload, store, second), "go", target=f"{names[gate]}?", form="map")
    assert completed == Completed([*names[:gate], f"{names[gate]}=go", *names[gate + 1 :]])
    asking = gate if spec in (AGENT, AGENT_PER_CALL) else gate + 1  # an agent's tool is reviewed before it starts
    assert first.tasks == names[:asking]
    assert second.tasks == names[gate:]
    assert [name for name, _ in [*first.fired, *second.fired]] == [f"{name}!" for name in names]


@pytest.mark.parametrize("seed", _SEEDS)
def test_a_random_workload_that_fails_behind_its_gate_goes_on_where_it_failed(open_run, store, seed):
    workload, gate = _workload(seed)
    names = [task.name for task in workload.tasks]
    failing = random.Random(seed).randrange(gate, len(names))
    outage, later = RecordingInstruments(failing=f"{names[failing]}!"), RecordingInstruments()
    run = open_run(workload, store, outage)
    run.start({}).wait()
    assert isinstance(deliver(run, "go", target=f"{names[gate]}?", form="map"), Failed)
    run.close()
    recovered = open_run(workload, store, later).recover("no-input").wait()
    if isinstance(recovered, Parked):  # the answer was lost with the gate that failed
        assert failing == gate
        recovered = deliver(open_run(workload, store, later), "go", target=f"{names[gate]}?", form="map")
    assert recovered == Completed([*names[:gate], f"{names[gate]}=go", *names[gate + 1 :]])
    assert [name for name, _ in [*outage.fired, *later.fired]] == [f"{name}!" for name in names]
