"""The whole fault × judge matrix: each fault flips its footprint, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from resumption.contract.properties import CONTRACT, OBLIGATIONS, Property
from resumption.contract.verdicts import Facet, Measured, merge_measured
from resumption.harness.probes import PROBES
from resumption.harness.receipts import Receipt
from resumption.planes.faulty import FAULTS
from resumption.planes.faulty.fault import Fault
from resumption.planes.reference.spec import REFERENCE

Measure = Callable[[str], Receipt]

# Fork-intent expressibility is judged by whether a fork gets an outcome of its own, so it falls with fork determinism.
_ENTAILED = {Property.FORK_DETERMINISM: {Property.FORK_INTENT}}

# Between an effect and its record, no plane can be exact, the reference included: a breach there is no fault's.
_ATTRIBUTED = (Facet.CELL, Facet.RACE, Facet.ORDER)


def _measured(receipt: Receipt, facet: Facet = Facet.CELL) -> Mapping[Property, Measured]:
    cells = [cell for cell in receipt.cells if cell.facet is facet]
    return {
        property_: merge_measured(cell.measured for cell in cells if cell.property is property_)
        for property_ in {cell.property for cell in cells}
    }


def _breached(receipt: Receipt, facet: Facet) -> set[Property]:
    return {property_ for property_, found in _measured(receipt, facet).items() if found is Measured.BREACHES}


def test_the_reference_conforms_to_every_property(measure: Measure) -> None:
    expected = dict.fromkeys([*CONTRACT, *OBLIGATIONS], Measured.CONFORMS)
    assert _measured(measure("reference")) == expected


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.spec.name)
def test_a_fault_flips_its_footprint_and_nothing_else(fault: Fault, measure: Measure) -> None:
    receipt = measure(fault.spec.name)
    entailed = {entailed for property_ in fault.footprint for entailed in _ENTAILED.get(property_, ())}
    fallen = {property_: fault.facets.get(property_, (Facet.CELL,)) for property_ in fault.footprint | entailed}
    for facet in _ATTRIBUTED:
        assert _breached(receipt, facet) == {property_ for property_, shown in fallen.items() if facet in shown}
    assert set(_measured(receipt).values()) <= {Measured.CONFORMS, Measured.BREACHES}


def test_every_probe_has_a_fault_that_it_catches(measure: Measure) -> None:
    caught = {
        part.probe
        for fault in FAULTS
        for cell in measure(fault.spec.name).cells
        for part in cell.parts
        if part.measured is Measured.BREACHES and cell.facet in _ATTRIBUTED
    }
    # What the reference plane has no machinery for, its faults can't show; those probes have controls of their own.
    shown = {probe.address for probe in PROBES if not set(probe.needs) & set(REFERENCE.lacks)}
    assert shown - caught == set()
