"""Every probe of the suite, by address."""

from __future__ import annotations

from resumption.harness.probes import (
    address,
    consume,
    crash,
    drift,
    fork,
    inside,
    inspect,
    interrupt,
    recovery,
    validity,
)
from resumption.harness.probes.probe import Probe

__all__ = ["PROBES", "Probe"]

PROBES: tuple[Probe, ...] = (
    *crash.PROBES,
    *inside.PROBES,
    *recovery.PROBES,
    *interrupt.PROBES,
    *fork.PROBES,
    *validity.PROBES,
    *consume.PROBES,
    *address.PROBES,
    *inspect.PROBES,
    *drift.PROBES,
)
"""The suite, in the order in which it is listed."""
