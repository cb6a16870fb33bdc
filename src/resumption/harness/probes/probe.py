"""What a probe is: a protocol with an address, an expectation and a source, that decides properties."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from resumption.contract.properties import Property
from resumption.harness.lab import Lab
from resumption.planes.interface import Capability, Operation

__all__ = ["Probe", "probe"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One protocol, written once for every plane.

    With an `operation`, it runs once for each of a plane's forms of it. Planes that lack one of `needs` are passed by.
    """

    address: str
    description: str
    expectation: str
    source: str
    decides: tuple[Property, ...]
    operation: Operation | None
    needs: tuple[Capability, ...]
    run: Callable[[Lab], None]


def probe(
    address: str,
    *,
    expectation: str,
    source: str,
    decides: tuple[Property, ...],
    operation: Operation | None = None,
    needs: tuple[Capability, ...] = (),
    description: str = "",
) -> Callable[[Callable[[Lab], None]], Probe]:
    """Make a probe of a function, whose docstring is the description unless one is given."""

    def make(run: Callable[[Lab], None]) -> Probe:
        return Probe(
            address=address,
            description=description or " ".join((run.__doc__ or "").split()),
            expectation=expectation,
            source=source,
            decides=decides,
            operation=operation,
            needs=needs,
            run=run,
        )

    return make
