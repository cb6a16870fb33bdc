"""From what a user names to what is run: targets and probes."""

from __future__ import annotations

from collections.abc import Sequence

from resumption.errors import UnknownName
from resumption.harness.probes import PROBES, Probe
from resumption.harness.targets import Target, narrow, parse_target

__all__ = ["choose_probes", "choose_targets"]


def choose_targets(names: Sequence[str], backends: Sequence[str]) -> tuple[Target, ...]:
    """What is called so, with the backends named, or with all of theirs.

    Raises `TargetUnreadable`, and `UnknownName` for a name that no plane has or a backend that none of the planes has.
    """
    return narrow([target for name in names for target in parse_target(name)], backends)


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
