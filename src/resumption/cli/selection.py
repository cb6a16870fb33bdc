"""From what a user names to what is run: targets and probes."""

from __future__ import annotations

from collections.abc import Sequence

from resumption.errors import UnknownName
from resumption.harness.probes import PROBES, Probe
from resumption.harness.targets import Target, parse_target, planes_of

__all__ = ["choose_probes", "choose_targets"]


def choose_targets(names: Sequence[str], *, everything: bool = False) -> tuple[Target, ...]:
    """What is called so; `everything` is `parse_target`'s.

    Raises `TargetUnreadable`, and `UnknownName` for a plane, path or backend that there isn't.
    """
    targets = tuple(target for name in names for target in parse_target(name, everything=everything))
    planes_of(targets)
    return targets


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
