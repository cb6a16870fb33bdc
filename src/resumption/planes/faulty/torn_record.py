"""A task's write and the note that the task is done are two storage operations, the write first.

Between them, the state is ahead of the record of progress: a recovery runs the task on a state that has its write.
"""

from __future__ import annotations

from resumption.contract.properties import Property
from resumption.planes.faulty.fault import Fault
from resumption.planes.reference.rules import Rules
from resumption.planes.reference.tampering import lose_leases, tamper

__all__ = ["FAULT", "lose_leases", "open_run", "tamper"]


FAULT = Fault(
    name="torn-record",
    module=__name__,
    footprint=frozenset({Property.PREFIX_CONTINUATION}),
    rules=Rules(splits=True),
)

open_run = FAULT.open_run
