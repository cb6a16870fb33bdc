"""The guarded planes on the harness, with one protection taken out: what breaches the contract then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ablated.protections import ABLATIONS, SWITCH
from resumption.contract.verdicts import Facet, Measured
from resumption.harness.probes import PROBES
from resumption.harness.probes.probe import Probe
from resumption.harness.receipts import Receipt
from resumption.harness.runner import run_suite
from resumption.planes.interface import PlaneSpec
from resumption.planes.langgraph_guarded.spec import FUNCTIONAL, GRAPH

__all__ = ["TAKEN_OUT", "breaches", "measured", "selected", "untold"]

TAKEN_OUT = {"graph": (*ABLATIONS, "ledger,lease", "lease,fence"), "functional": ("order",)}
"""What is taken out on which path: the barrier in front of the next task is the functional API's own.

Of two, the first is out already when the second is taken out: the ledger would stop the effects of a racing recovery as
well, and only a lease that was lost leaves anything to the fence.
"""

_LEASELESS = {"lease", "claims at the write"}
"""Without these an executor has no lease that it could lose."""

_SPECS = {"graph": GRAPH, "functional": FUNCTIONAL}

_FOLDER = Path(__file__).parents[1]
_BACKEND = "sqlite"
_FORMS = ("bare-delivery-id", "map", "no-input", "input-delivery-id", "checkpoint", "fork", "two-call")
"""One form of each kind: with and without a delivery id, by name and by place, the guard's own fork and LangGraph's."""

_JOBS = 4
_FACETS = (Facet.CELL, Facet.RACE, Facet.ORDER)
"""Between an effect and its record the policy of the effect decides, and no protection of the guard."""


def measured(path: str, missing: str = "", probes: Sequence[Probe] = PROBES) -> Receipt:
    """Run probes on a path without one protection, or several; with all of them, if none is named."""
    return run_suite([_ablated(_SPECS[path], missing)], probes, jobs=_JOBS)


def breaches(receipt: Receipt) -> frozenset[str]:
    """What breaches: a cell, without plane, path and backend, and the probe that saw it."""
    return frozenset(_parts(receipt, Measured.BREACHES))


def untold(receipt: Receipt) -> frozenset[str]:
    """What the harness couldn't tell."""
    return frozenset(_parts(receipt, Measured.UNDETERMINED))


def selected(addresses: Iterable[str]) -> list[Probe]:
    """The probes with these addresses."""
    wanted = set(addresses)
    return [probe for probe in PROBES if probe.address in wanted]


def _parts(receipt: Receipt, wanted: Measured) -> Iterator[str]:
    for cell in receipt.cells:
        for part in cell.parts:
            if part.measured is wanted and cell.facet in _FACETS:
                yield f"{cell.identity.split('/', 3)[3]} {part.probe}"


def _ablated(spec: PlaneSpec, missing: str) -> PlaneSpec:
    return replace(
        spec,
        package="",  # what is stated of the plane is stated of it as a whole
        adapter=f"ablated.{spec.path}",
        backends=[
            replace(backend, loses_leases=not _LEASELESS & set(missing.split(",")))
            for backend in spec.backends
            if backend.name == _BACKEND
        ],
        forms=[form for form in spec.forms if form.name in _FORMS],
        environment={**spec.environment, SWITCH: missing, "PYTHONPATH": str(_FOLDER)},
    )
