"""An answer makes the run go again from its first task and line, and fires all effects again."""

from __future__ import annotations

from resumption.contract.properties import Property
from resumption.history.workload import Workload
from resumption.planes.faulty.fault import Fault
from resumption.planes.reference.rules import Rules
from resumption.planes.reference.tampering import lose_leases, tamper

__all__ = ["FAULT", "lose_leases", "open_run", "tamper"]


def _everything(workload: Workload) -> frozenset[str]:
    return frozenset(task.name for task in workload.tasks)


FAULT = Fault(
    name="answer-replay",
    module=__name__,
    # The first task runs again before anybody reads what it once wrote, altered though that may be (VL).
    footprint=frozenset(
        {Property.EFFECT_EXACTLY_ONCE, Property.PREFIX_CONTINUATION, Property.LOAD_VALIDITY},
    ),
    rules=Rules(rewinds=_everything),
)

open_run = FAULT.open_run
