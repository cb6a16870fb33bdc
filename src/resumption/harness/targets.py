"""Targets: what a user asks to be measured, as `PLANE`, `PLANE@VERSION,…`, or `PLANE[BACKEND,…]@VERSION,…`.

Without a version, the installed framework is measured; with one, that release in an environment of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from resumption.errors import TargetUnreadable, UnknownName
from resumption.planes.interface import PlaneSpec
from resumption.planes.registry import specs

__all__ = ["Target", "narrow", "parse_target", "planes_of"]

_NAME = r"[A-Za-z0-9][A-Za-z0-9._+!-]*"
_LIST = rf"{_NAME}(?:,{_NAME})*"
_TARGET = re.compile(rf"(?P<name>{_NAME})(?:\[(?P<backends>{_LIST})\])?(?:@(?P<versions>{_LIST}))?")


@dataclass(frozen=True, slots=True)
class Target:
    """Planes to measure: one, or a family; on some backends, or on all; of one release, or as installed."""

    name: str
    backends: tuple[str, ...] = ()
    """The backends to measure on; empty for all."""
    version: str = ""
    """The release; empty for the installed one."""

    def __str__(self) -> str:
        backends = f"[{','.join(self.backends)}]" if self.backends else ""
        return f"{self.name}{backends}" + (f"@{self.version}" if self.version else "")

    def specs(self) -> tuple[PlaneSpec, ...]:
        """The planes, each with the backends that were asked for.

        Raises `UnknownName` if no plane is called so, or none has such a backend.
        """
        found = specs(self.name)
        for backend in self.backends:
            _must_know(backend, found, self.name)
        if not self.backends:
            return tuple(found)
        kept = (
            replace(spec, backends=tuple(backend for backend in spec.backends if backend.name in self.backends))
            for spec in found
        )
        return tuple(spec for spec in kept if spec.backends)


def parse_target(text: str) -> tuple[Target, ...]:
    """Read one argument: a target for each version in it. Raises `TargetUnreadable` if it isn't written like one."""
    read = _TARGET.fullmatch(text)
    if read is None:
        raise TargetUnreadable(
            f"{text!r} doesn't say what to measure.",
            advice="Write PLANE, PLANE@1.2.9, PLANE@1.2.9,1.2.24, or PLANE[sqlite]@1.2.9.",
        )
    target = Target(read["name"], _split(read["backends"]))
    return tuple(replace(target, version=version) for version in _split(read["versions"])) or (target,)


def narrow(targets: Sequence[Target], backends: Sequence[str]) -> tuple[Target, ...]:
    """The targets on these backends only, without those that have none of them; all of them if none is named.

    Raises `UnknownName` for a backend that no target has.
    """
    for backend in backends:
        _must_know(backend, planes_of(targets), ", ".join(map(str, targets)))
    if not backends:
        return tuple(targets)
    named = ((target, _backends_of(target.specs())) for target in targets)
    return tuple(
        replace(target, backends=kept)
        for target, known in named
        if (kept := tuple(backend for backend in known if backend in backends))
    )


def planes_of(targets: Iterable[Target]) -> tuple[PlaneSpec, ...]:
    """The planes of all targets, each once, with every backend that one of the targets asks for."""
    planes: dict[tuple[str, str], PlaneSpec] = {}
    for spec in (spec for target in targets for spec in target.specs()):
        seen = planes.get((spec.name, spec.path), spec)
        more = [backend for backend in spec.backends if backend not in seen.backends]
        planes[spec.name, spec.path] = replace(seen, backends=(*seen.backends, *more))
    return tuple(planes.values())


def _must_know(backend: str, planes: Sequence[PlaneSpec], name: str) -> None:
    known = _backends_of(planes)
    if backend not in known:
        raise UnknownName(f"{name} has no backend called {backend!r}.", advice=f"These are known: {', '.join(known)}.")


def _backends_of(planes: Iterable[PlaneSpec]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(backend.name for spec in planes for backend in spec.backends))


def _split(listed: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(listed.split(","))) if listed else ()
