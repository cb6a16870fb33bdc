"""Thousands of protocols with executors that die or stall anywhere: nothing twice, nothing stuck, nothing lost."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from .soak import Tally, soak

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs fork and open file description locks")

SEED = 8039
SHARDS = 40
PER_SHARD = 250
SAMPLE = 25


@pytest.fixture
def folder() -> Iterator[Path]:
    """In memory where that can be: a SIGKILL, unlike a power cut, loses nothing that was written there."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as name:
        yield Path(name)


@pytest.mark.parametrize("sample", range(4))
def test_a_sample_of_protocols_under_fire_ends_well(folder, sample):
    tally = soak(folder, range(sample * SAMPLE, (sample + 1) * SAMPLE), SEED)
    assert tally.clean(), tally


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_ten_thousand_protocols_under_fire_end_well(folder, shard):
    tally = soak(folder, range(shard * PER_SHARD, (shard + 1) * PER_SHARD), SEED)
    assert tally.clean(), tally


def test_a_campaign_in_which_nothing_happens_is_not_clean():
    assert not Tally().clean()
    assert not Tally(protocols=10, killed=1, stopped=1, duplicates=1).clean()
