"""From what a user names to what is run: planes, backends and probes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from resumption.errors import UnknownName
from resumption.harness.probes import PROBES, Probe
from resumption.planes.interface import PlaneSpec
from resumption.planes.registry import specs

__all__ = ["choose_planes", "choose_probes"]


def choose_planes(names: Sequence[str], backends: Sequence[str]) -> tuple[PlaneSpec, ...]:
    """The planes called so, each once, with the backends named, or with all of theirs.

    Raises `UnknownName` for a name that no plane has, and for a backend that none of the planes has.
    """
    chosen = tuple({(spec.name, spec.path): spec for name in names for spec in specs(name)}.values())
    if not backends:
        return chosen
    known = dict.fromkeys(backend.name for spec in chosen for backend in spec.backends)
    if unknown := [backend for backend in backends if backend not in known]:
        raise UnknownName(
            f"None of these planes has a backend called {unknown[0]!r}.", advice=f"They have: {', '.join(known)}."
        )
    narrowed = (
        replace(spec, backends=tuple(backend for backend in spec.backends if backend.name in backends))
        for spec in chosen
    )
    return tuple(spec for spec in narrowed if spec.backends)


def choose_probes(prefixes: Sequence[str]) -> tuple[Probe, ...]:
    """The probes whose address begins with one of the prefixes, in the suite's order; all without a prefix.

    Raises `UnknownName` for a prefix that no address begins with.
    """
    for prefix in prefixes:
        if not any(probe.address.startswith(prefix) for probe in PROBES):
            raise UnknownName(
                f"No probe's address begins with {prefix!r}.", advice="`resumption probes` lists the addresses."
            )
    return tuple(probe for probe in PROBES if not prefixes or probe.address.startswith(tuple(prefixes)))
