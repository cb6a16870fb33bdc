"""The reference plane walks through the model's states, and a plane with a fault doesn't."""

from __future__ import annotations

from pathlib import Path

import pytest
from proof.lockstep import Discrepancy, walk

from resumption.model.semantics import Bounds
from resumption.planes.faulty import FAULTS

# What the model's other faults do, no action of a walk can show: an invalid write needs a task that makes one.
SHOWN = ("replay", "prefix-replay", "fork-ignore", "double-consume", "nondet-recovery", "lost-liveness")


def test_the_plane_has_the_models_states_at_the_papers_bounds(tmp_path: Path) -> None:
    found = walk(Bounds(), tmp_path / "plane")
    assert (found.implementation_states, found.model_states) == (59, 59)
    assert found.transitions > 86
    assert found.refusals > found.implementation_states


@pytest.mark.slow
def test_the_plane_has_the_models_states_at_larger_bounds(tmp_path: Path) -> None:
    found = walk(Bounds(tasks=4, gate=2, values=2, resumes=3, crashes=2, extras=1), tmp_path / "plane")
    assert (found.implementation_states, found.model_states) == (511, 511)


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault.name in SHOWN], ids=lambda fault: fault.name)
def test_a_plane_with_a_fault_leaves_the_model(tmp_path: Path, fault) -> None:
    with pytest.raises(Discrepancy, match="after start"):
        walk(Bounds(), tmp_path / "plane", fault.rules)
