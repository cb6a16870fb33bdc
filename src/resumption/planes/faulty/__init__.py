"""The reference plane with one fault switch on: the negative controls of the harness.

The first six are the fault switches of the model (arXiv 2608.03836), and their footprints are the model's in the
properties that the model has. The harness
asserts the whole matrix of faults and judges: a fault flips its footprint, and nothing else.
"""

from __future__ import annotations

from resumption.planes.faulty import (
    answer_replay,
    double_consume,
    dropped_task,
    fork_ignore,
    idempotent_race,
    ignored_drift,
    invalid_persist,
    kept_stray,
    late_decision,
    lent_answer,
    lost_liveness,
    nondet_recovery,
    order_sensitive,
    prefix_replay,
    racing_recoveries,
    replay,
    shared_answer,
    silent_address,
    stale_inspection,
    torn_record,
    trusting_load,
    unfenced,
    unordered_writes,
    volatile_parking,
    writing_inspection,
)
from resumption.planes.faulty.fault import Fault
from resumption.planes.interface import PlaneSpec

__all__ = ["FAULTS", "SPECS"]

FAULTS: tuple[Fault, ...] = (
    replay.FAULT,
    prefix_replay.FAULT,
    fork_ignore.FAULT,
    invalid_persist.FAULT,
    double_consume.FAULT,
    nondet_recovery.FAULT,
    order_sensitive.FAULT,
    unordered_writes.FAULT,
    idempotent_race.FAULT,
    answer_replay.FAULT,
    lent_answer.FAULT,
    shared_answer.FAULT,
    kept_stray.FAULT,
    lost_liveness.FAULT,
    volatile_parking.FAULT,
    silent_address.FAULT,
    writing_inspection.FAULT,
    stale_inspection.FAULT,
    dropped_task.FAULT,
    ignored_drift.FAULT,
    trusting_load.FAULT,
    late_decision.FAULT,
    torn_record.FAULT,
    racing_recoveries.FAULT,
    unfenced.FAULT,
)
"""Every fault."""

SPECS: tuple[PlaneSpec, ...] = tuple(fault.spec for fault in FAULTS)
"""Every plane of this family."""
