"""Targets: what a user asks to be measured, such as `langgraph`, `langgraph/functional` or `langgraph[sqlite]@1.2.9`.

Without a version, the installed framework is measured; with one, that release in an environment of its own. Without a
path or a backend, the family's usual ones are measured; with `everything`, all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from resumption.errors import TargetUnreadable, UnknownName
from resumption.harness.locks import read_recipe
from resumption.planes.interface import Backend, PlaneSpec
from resumption.planes.registry import families, specs

__all__ = ["Target", "parse_target", "planes_of", "released_targets"]

_NAME = r"[A-Za-z0-9][A-Za-z0-9._+!-]*"
_LIST = rf"{_NAME}(?:,{_NAME})*"
_TARGET = re.compile(
    rf"(?P<name>{_NAME})(?:/(?P<path>{_NAME}))?(?:\[(?P<backends>{_LIST})\])?(?:@(?P<versions>{_LIST}))?"
)


@dataclass(frozen=True, slots=True)
class Target:
    """Planes to measure: one, or a family; on some backends, or on all; of one release, or as installed."""

    name: str
    path: str = ""
    """The mechanism; empty for the usual ones."""
    backends: tuple[str, ...] = ()
    """The backends to measure on; empty for the usual ones."""
    version: str = ""
    """The release; empty for the installed one."""
    everything: bool = False
    """Whether "the usual ones" means all."""

    def __str__(self) -> str:
        backends = f"[{','.join(self.backends)}]" if self.backends else ""
        path = f"/{self.path}" if self.path else ""
        return f"{self.name}{path}{backends}" + (f"@{self.version}" if self.version else "")

    def specs(self) -> tuple[PlaneSpec, ...]:
        """The planes, each with the backends that were asked for.

        Raises `UnknownName` if no plane is called so, or none has such a path or backend.
        """
        found = self._on_path(specs(self.name))
        for backend in self.backends:
            _must_know(backend, found, self.name)
        kept = (replace(spec, backends=tuple(filter(self._wants, spec.backends))) for spec in found)
        return tuple(spec for spec in kept if spec.backends)

    def _on_path(self, found: Sequence[PlaneSpec]) -> list[PlaneSpec]:
        if not self.path:
            return [spec for spec in found if spec.by_default or self.everything]
        chosen = [spec for spec in found if spec.path == self.path]
        if not chosen:
            known = ", ".join(spec.path for spec in found)
            raise UnknownName(f"{self.name} has no path called {self.path!r}.", advice=f"These are known: {known}.")
        return chosen

    def _wants(self, backend: Backend) -> bool:
        if self.backends:
            return backend.name in self.backends
        return backend.by_default or self.everything


def parse_target(text: str, *, everything: bool = False) -> tuple[Target, ...]:
    """Read one argument: a target for each version in it. Raises `TargetUnreadable` if it isn't written like one."""
    read = _TARGET.fullmatch(text)
    if read is None:
        raise TargetUnreadable(
            f"{text!r} doesn't say what to measure.",
            advice="Write PLANE, PLANE/PATH, PLANE@1.2.9, PLANE@1.2.9,1.2.24, or PLANE[sqlite]@1.2.9.",
        )
    target = Target(read["name"], read["path"] or "", _split(read["backends"]), everything=everything)
    return tuple(replace(target, version=version) for version in _split(read["versions"])) or (target,)


def released_targets(*, newest: bool = False) -> tuple[Target, ...]:
    """Every family at the release that the paper measured or, if so wanted, at its newest one with a committed lock.

    Families that have no such release are left out.
    """
    found = []
    for family in families():
        recipe = read_recipe(specs(family)[0])
        if version := recipe.newest if newest else recipe.paper:
            found.append(Target(family, version=version))
    return tuple(found)


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
