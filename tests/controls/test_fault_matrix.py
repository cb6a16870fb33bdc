"""The whole fault × judge matrix: each fault flips its footprint, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from resumption.contract.properties import CONTRACT, Property
from resumption.contract.verdicts import Facet, Measured, merge_measured
from resumption.harness.probes import PROBES
from resumption.harness.receipts import Receipt
from resumption.harness.runner import run_suite
from resumption.planes.faulty import FAULTS
from resumption.planes.faulty.fault import Fault
from resumption.planes.registry import specs

# Fork-intent expressibility is judged by whether a fork gets an outcome of its own, so it falls with fork determinism.
_ENTAILED = {Property.FORK_DETERMINISM: {Property.FORK_INTENT}}


def _measured(receipt: Receipt) -> Mapping[Property, Measured]:
    return {
        property_: merge_measured(
            cell.measured for cell in receipt.cells if cell.property is property_ and cell.facet is Facet.CELL
        )
        for property_ in {cell.property for cell in receipt.cells}
    }


def _breached(receipt: Receipt) -> set[Property]:
    return {property_ for property_, measured in _measured(receipt).items() if measured is Measured.BREACHES}


@pytest.fixture(scope="session")
def receipts() -> dict[str, Receipt]:
    return {}


def _receipt(name: str, receipts: dict[str, Receipt]) -> Receipt:
    if name not in receipts:
        receipts[name] = run_suite(specs(name), PROBES, jobs=2)
    return receipts[name]


def test_the_reference_conforms_to_every_property(receipts: dict[str, Receipt]) -> None:
    measured = _measured(_receipt("reference", receipts))
    assert set(CONTRACT) <= set(measured)
    assert set(measured.values()) == {Measured.CONFORMS}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.spec.name)
def test_a_fault_flips_its_footprint_and_nothing_else(fault: Fault, receipts: dict[str, Receipt]) -> None:
    footprint = set(fault.footprint)
    for property_ in fault.footprint:
        footprint |= _ENTAILED.get(property_, set())
    assert _breached(_receipt(fault.spec.name, receipts)) == footprint


def test_every_probe_has_a_fault_that_it_catches(receipts: dict[str, Receipt]) -> None:
    caught = {
        part.probe
        for fault in FAULTS
        for cell in _receipt(fault.spec.name, receipts).cells
        for part in cell.parts
        if part.measured is Measured.BREACHES and cell.facet is Facet.CELL
    }
    assert {probe.address for probe in PROBES} - caught == set()
