"""Targets: what a user asks to be measured, as `PLANE`, `PLANE@VERSION,…`, or `PLANE[BACKEND,…]@VERSION,…`.

Without a version, the installed framework is measured; with one, that release in an environment of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from resumption.errors import TargetUnreadable, UnknownName
from resumption.planes.interface import PlaneSpec
from resumption.planes.registry import specs

__all__ = ["Target", "parse_target", "with_versions"]

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
        known = dict.fromkeys(backend.name for spec in found for backend in spec.backends)
        for backend in self.backends:
            if backend not in known:
                raise UnknownName(
                    f"{self.name} has no backend {backend!r}.", advice=f"It has these: {', '.join(known)}."
                )
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
    return with_versions(target, _split(read["versions"])) or (target,)


def with_versions(target: Target, versions: Sequence[str]) -> tuple[Target, ...]:
    """The same planes and backends, once for each version."""
    return tuple(replace(target, version=version) for version in dict.fromkeys(versions))


def _split(listed: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(listed.split(","))) if listed else ()
