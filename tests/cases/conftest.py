"""What LangGraph, as it is installed, does in the public cases: one receipt for all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from protocols import CASES

from resumption.harness.probes import PROBES
from resumption.harness.receipts import Cell, Part, Receipt
from resumption.harness.runner import run_suite
from resumption.planes.langgraph.spec import GRAPH

_JOBS = 4
_SUITE = (
    "fork/two-values",
    "fork/three-values",
    "fork/retry-or-fork",
    "consume/one-answer-two-interrupts",
    "consume/race-4-processes",
    "validity/terminal/null",
    "validity/middle/null",
    "address/unknown",
    "crash/frozen-prefix",
)
_SQLITE = tuple(backend for backend in GRAPH.backends if backend.name == "sqlite")

Measured = Callable[[str, str], Part]


def _measure() -> Receipt:
    probes = [probe for probe in PROBES if probe.address in _SUITE]
    return run_suite([replace(GRAPH, backends=_SQLITE)], [*probes, *CASES], jobs=_JOBS)


@pytest.fixture(scope="session")
def receipt(once: Callable[[str, Callable[[], Receipt]], Receipt]) -> Receipt:
    """The receipt of LangGraph's graph API on SQLite, on the probes that public cases are about."""
    return once("langgraph-cases", _measure)


@pytest.fixture(scope="session")
def cell(receipt: Receipt) -> Callable[[str], Cell]:
    """Return the cell of an identity, given without the plane: `FD/fork/direct`."""
    return lambda name: next(cell for cell in receipt.cells if cell.identity == f"langgraph/graph/sqlite/{name}")


@pytest.fixture(scope="session")
def part(cell: Callable[[str], Cell]) -> Measured:
    """Return what one probe contributed to a cell."""
    return lambda name, probe: next(part for part in cell(name).parts if part.probe == probe)
