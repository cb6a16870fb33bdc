"""LangGraph's durability modes: when a run's storage operations are made."""

from __future__ import annotations

import importlib

import pytest
from driving import APPROVAL, deliver, park
from recording import RecordingInstruments

from resumption.planes.interface import Completed, Store
from resumption.planes.langgraph.spec import GRAPH_ASYNC_DURABILITY, GRAPH_EXIT_DURABILITY

pytest.importorskip("langgraph")

BACKENDS = ["memory", "sqlite", "memory-async", "sqlite-async"]


@pytest.fixture(params=BACKENDS)
def store(request, tmp_path):
    return Store(request.param, tmp_path)


@pytest.mark.parametrize("spec", [GRAPH_ASYNC_DURABILITY, GRAPH_EXIT_DURABILITY], ids=lambda spec: spec.path)
def test_a_run_parks_and_completes_in_another_opening(spec, store):
    open_run = importlib.import_module(spec.adapter).open_run
    park(open_run, APPROVAL, store, RecordingInstruments()).close()
    later = RecordingInstruments()
    assert deliver(open_run(APPROVAL, store, later), "yes") == Completed(["draft", "approve=yes", "notify"])
    assert later.tasks == ["approve", "notify"]


def test_nothing_is_stored_before_a_call_ends(store):
    open_run = importlib.import_module(GRAPH_EXIT_DURABILITY.adapter).open_run
    run = park(open_run, APPROVAL, store, seen := RecordingInstruments())
    assert {persisted.name for persisted in seen.persisted} <= {"put(step=1)", "put_writes(approve:__interrupt__)"}
    before = len(seen.persisted)
    deliver(run, True)
    assert [persisted.name for persisted in seen.persisted[before:]][-1] == "put(step=3)"
