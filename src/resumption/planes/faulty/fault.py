"""A fault as data: the reference plane's rules with one of them exchanged, and the properties that this breaks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from resumption.contract.properties import Property
from resumption.contract.verdicts import Facet
from resumption.history.workload import Workload
from resumption.planes.interface import Instruments, PlaneSpec, Run, Store
from resumption.planes.reference.adapter import ReferenceRun
from resumption.planes.reference.rules import Rules
from resumption.planes.reference.spec import REFERENCE

__all__ = ["Fault"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault switch of the reference plane."""

    name: str
    """What the fault is called in the model, in the words of a plane's name."""
    module: str
    """The module that exports this fault's `open_run`."""
    footprint: frozenset[Property]
    """The properties that this fault breaks; every other one still holds."""
    rules: Rules
    facets: Mapping[Property, tuple[Facet, ...]] = field(default_factory=dict)
    """The facets in which one of those properties shows it, if that isn't its cell alone."""

    @property
    def spec(self) -> PlaneSpec:
        """The reference plane with this fault, as a plane of its own."""
        return replace(REFERENCE, name=f"faulty-{self.name}", adapter=self.module)

    def open_run(self, workload: Workload, store: Store, instruments: Instruments) -> Run:
        """Open a run with this fault."""
        return ReferenceRun(workload, store, instruments, self.rules)
