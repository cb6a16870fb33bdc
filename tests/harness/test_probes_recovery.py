"""Two recoveries at once: the second comes while the first is held, and gets as far as the plane lets it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from resumption.contract.properties import Property
from resumption.contract.verdicts import Facet, Label, Measured
from resumption.harness.probes import PROBES
from resumption.harness.process import Process
from resumption.harness.receipts import Receipt
from resumption.harness.runner import run_suite
from resumption.history.events import (
    Consume,
    Deliver,
    EffectBegin,
    LeaseLoss,
    Park,
    Raise,
    Recover,
    Return,
    TaskStart,
)
from resumption.history.history import History
from resumption.history.ndjson import decode_history
from resumption.planes.faulty import racing_recoveries, unfenced
from resumption.planes.interface import PlaneSpec
from resumption.planes.langgraph import spec as stock
from resumption.planes.langgraph_guarded import spec as guarded
from resumption.planes.reference.spec import REFERENCE

OVERTAKING = racing_recoveries.FAULT.spec


def on(spec: PlaneSpec, name: str = "sqlite", recovery: str = "no-input") -> PlaneSpec:
    """The plane on one backend, in one form of recovery."""
    backends = [backend for backend in spec.backends if backend.name == name]
    return replace(spec, backends=backends, forms=[form for form in spec.forms if form.name in ("bare", recovery)])


STOCK, GUARDED, GUARDED_ON_SERVER = on(stock.GRAPH), on(guarded.GRAPH), on(guarded.GRAPH, "postgres-pool")


def run(spec: PlaneSpec, probe: str) -> tuple[Receipt, History]:
    receipt = run_suite([spec], [found for found in PROBES if found.address == probe], jobs=1)
    (text,) = receipt.histories.values()
    return receipt, decode_history(text.encode())


def measured(receipt: Receipt) -> dict[tuple[Property, Facet], Measured]:
    return {(cell.property, cell.facet): cell.measured for cell in receipt.cells}


def fired(history: History, task: str) -> int:
    return sum(fire.task == task for fire in history.fires())


@pytest.mark.parametrize("spec", [REFERENCE, GUARDED, OVERTAKING, STOCK], ids=lambda spec: spec.name)
def test_the_second_recovery_is_asked_for_while_the_first_is_held_in_front_of_its_effect(spec: PlaneSpec) -> None:
    receipt, history = run(spec, "recovery/race")
    first, second = history.of(Recover)
    held = next(start.number for start in history.of(TaskStart) if start.operation == first.operation)
    assert held < second.number
    assert all(begin.number > second.number for begin in history.of(EffectBegin) if begin.task == "b")
    races = spec in (OVERTAKING, STOCK)
    assert fired(history, "b") == (2 if races else 1)
    found = measured(receipt)
    assert found[Property.EFFECT_EXACTLY_ONCE, Facet.RACE] is (Measured.BREACHES if races else Measured.CONFORMS)
    assert found[Property.EFFECT_EXACTLY_ONCE, Facet.CELL] is Measured.CONFORMS


@pytest.mark.parametrize("spec", [REFERENCE, GUARDED], ids=lambda spec: spec.name)
def test_a_finished_run_that_a_recovery_waited_for_takes_no_other_decision(spec: PlaneSpec) -> None:
    receipt, history = run(spec, "recovery/overtaken")
    assert fired(history, "approve") == 1
    assert {cell.measured for cell in receipt.cells} == {Measured.CONFORMS}


def test_a_recovery_that_waited_comes_to_rest_before_the_gate_is_answered() -> None:
    receipt, history = run(on(guarded.GRAPH, recovery="input"), "recovery/overtaken")
    _, waited = history.of(Recover)
    answer, stray = history.of(Deliver)
    (asked_anew,) = (park for park in history.of(Park) if park.operation == waited.operation)
    assert asked_anew.number < answer.number < stray.number
    assert {cell.measured for cell in receipt.cells} == {Measured.CONFORMS}


@pytest.mark.parametrize("form", ["command", "command-checkpoint"])
def test_a_decision_that_a_recovery_brings_is_on_record_and_the_gate_that_takes_it_takes_no_other(form: str) -> None:
    receipt, history = run(on(guarded.FUNCTIONAL, recovery=form), "recovery/overtaken")
    assert [recovery.value for recovery in history.of(Recover)] == [True, True]
    assert [consume.value for consume in history.of(Consume)] == [True]
    (stray,) = history.of(Deliver)
    (refused,) = history.of(Raise)
    assert (refused.operation, refused.error) == (stray.operation, "AlreadyConsumed")
    assert {cell.measured for cell in receipt.cells} == {Measured.CONFORMS}


def test_a_gate_of_stock_langgraph_takes_the_decisions_of_two_recoveries() -> None:
    receipt, history = run(on(stock.FUNCTIONAL, recovery="command"), "recovery/overtaken")
    assert len({consume.operation for consume in history.of(Consume)}) == 2
    assert {cell.measured for cell in receipt.cells} == {Measured.BREACHES}


@pytest.mark.parametrize("probe", ["recovery/lease-lost", "recovery/lease-lost-while-stopped"])
@pytest.mark.parametrize("spec", [REFERENCE, GUARDED, GUARDED_ON_SERVER], ids=lambda spec: spec.backends[0].name)
def test_an_executor_that_lost_its_lease_is_told_and_stores_nothing(spec: PlaneSpec, probe: str) -> None:
    receipt, history = run(spec, probe)
    held, second = history.of(Recover)
    (loss,) = history.of(LeaseLoss)
    (told,) = (event for event in history.of(Raise) if event.operation == held.operation)
    finished = next(iter(history.of(Return)))
    *_, stray = history.of(Deliver)
    assert held.number < loss.number < second.number < finished.number < told.number < stray.number
    assert loss.leases == 1
    assert told.error == ("Refused" if spec is REFERENCE else "Fenced")
    assert fired(history, "approve") == 1
    assert {cell.measured for cell in receipt.cells if cell.facet is not Facet.WINDOW} == {Measured.CONFORMS}


def test_where_a_lease_is_lost_a_slow_second_is_not_taken_for_one_that_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Process, "recover_beside", lambda process: None)  # as for one that is slow to get anywhere
    receipt, history = run(REFERENCE, "recovery/lease-lost")
    first, second = history.of(Recover)
    assert first.process != second.process
    assert {cell.measured for cell in receipt.cells if cell.facet is not Facet.WINDOW} == {Measured.CONFORMS}


@pytest.mark.parametrize("probe", ["recovery/lease-lost", "recovery/lease-lost-while-stopped"])
def test_an_executor_that_is_not_fenced_fires_again_what_its_successor_fired(probe: str) -> None:
    receipt, history = run(unfenced.FAULT.spec, probe)
    assert fired(history, "approve") == 2
    assert measured(receipt)[Property.CONSUME_ONCE_EFFECTS, Facet.CELL] is Measured.BREACHES


def test_a_lease_that_nobody_has_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    lose_leases = Process.lose_leases
    monkeypatch.setattr(Process, "lose_leases", lambda process, workload: lose_leases(process, workload) - 1)
    receipt, _ = run(REFERENCE, "recovery/lease-lost")
    assert {cell.measured for cell in receipt.cells} == {Measured.UNDETERMINED}


def test_a_plane_without_a_lease_is_passed_by() -> None:
    receipt = run_suite([STOCK], [found for found in PROBES if found.address == "recovery/lease-lost"], jobs=1)
    assert {cell.label for cell in receipt.cells} == {Label.NOT_APPLICABLE}


def test_an_overtaken_recovery_reopens_a_finished_run_of_stock_langgraph() -> None:
    receipt, history = run(STOCK, "recovery/overtaken")
    held, _ = history.of(Recover)
    finished = next(iter(history.of(Return)))
    reopened = next(park for park in history.of(Park) if park.operation == held.operation)
    *_, stray = history.of(Deliver)
    assert finished.number < reopened.number < stray.number
    assert fired(history, "approve") == 2
    assert {cell.measured for cell in receipt.cells} == {Measured.BREACHES}
