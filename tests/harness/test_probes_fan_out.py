"""Probes of tasks that run at once, on LangGraph's graphs, whose forms of recovery come out in different ways."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from resumption.contract.verdicts import Measured
from resumption.harness.kill_points import partly_recorded
from resumption.harness.probes import PROBES
from resumption.harness.receipts import Receipt
from resumption.harness.runner import run_suite
from resumption.history.events import Persist, Phase
from resumption.history.history import Header, History
from resumption.history.workload import Task, Workload
from resumption.planes.registry import specs
from resumption.worker.faults import Mode

Once = Callable[[str, Callable[[], Receipt]], Receipt]

_PROBES = ("crash/fan-out-sibling", "interrupt/parallel-partial-map", "interrupt/parallel-complete-map")


@pytest.fixture
def said(once: Once) -> dict[str, Measured]:
    """Return what is measured of graphs on SQLite, by cell."""
    planes = [
        replace(spec, backends=tuple(backend for backend in spec.backends if backend.name == "sqlite"))
        for spec in specs("langgraph")
        if spec.path == "graph"
    ]
    probes = [probe for probe in PROBES if probe.address in _PROBES]
    receipt = once("fan-out", lambda: run_suite(planes, probes, jobs=4))
    return {cell.identity.removeprefix("langgraph/graph/sqlite/"): cell.measured for cell in receipt.cells}


def test_a_sibling_on_record_is_served_when_a_graph_recovers_without_input(said):
    assert said["EO/recover/no-input"] is Measured.CONFORMS
    assert said["LV/recover/no-input"] is Measured.CONFORMS
    assert said["PC/recover/no-input"] is Measured.CONFORMS


def test_a_plane_that_runs_a_recorded_sibling_again_is_caught(said):
    assert said["EO/recover/input"] is Measured.BREACHES
    assert said["EO/recover/checkpoint"] is Measured.BREACHES
    assert said["PC/recover/checkpoint"] is Measured.BREACHES


def test_answers_by_id_reach_their_own_gates_once(said):
    assert {said[f"{property_}/deliver/map"] for property_ in ("EO", "CO-c", "LV")} == {Measured.CONFORMS}


@pytest.mark.parametrize("overtaken", range(4))
def test_prefixes_with_some_task_on_record_are_found_wherever_the_step_record_comes(overtaken: int) -> None:
    workload = Workload((Task("a"), Task("b"), Task("c")))
    header = Header(probe="", plane="", path="", backend="", form="", workload=workload)
    stored = [("input", ()), ("writes b", ("b",)), ("writes a", ("a",)), ("writes c", ("c",))]
    stored.insert(len(stored) - overtaken, ("state", ("a", "b", "c")))
    events = tuple(
        Persist(process=1, phase=Phase.BEGIN, item=f"p1-{place}", name=name, covers=covers)
        for place, (name, covers) in enumerate(stored, 1)
    )
    found = partly_recorded(History(header, events))
    assert [(fault.mode, fault.durable) for fault in found] == [(Mode.FREEZE, 2), (Mode.FREEZE, 3)]
