"""Every second recovery runs all tasks again; which one it is stands outside the log.

The counter is a file beside the store, one byte for each recovery, so that two copies of one log, side by side, are
recovered in different ways, and a protocol that is run again takes the same course.
"""

from __future__ import annotations

from pathlib import Path

from resumption.contract.properties import Property
from resumption.history.workload import Workload
from resumption.planes.faulty.fault import Fault
from resumption.planes.reference.rules import Rules
from resumption.planes.reference.tampering import lose_leases, tamper

__all__ = ["FAULT", "lose_leases", "open_run", "tamper"]


def _every_second_time(workload: Workload, location: Path) -> frozenset[str]:
    counter = location.parent / "recoveries"
    with counter.open("ab") as file:
        earlier = file.tell()
        file.write(b".")
    return frozenset() if earlier % 2 else frozenset(task.name for task in workload.tasks)


FAULT = Fault(
    name="nondet-recovery",
    module=__name__,
    footprint=frozenset(
        {
            Property.EFFECT_EXACTLY_ONCE,
            Property.PREFIX_CONTINUATION,
            Property.CONSUME_ONCE_EFFECTS,
            Property.RECOVERY_DETERMINISM,
        }
    ),
    rules=Rules(forgets=_every_second_time),
)

open_run = FAULT.open_run
