"""Thousands of protocols with executors that die or stall anywhere: nothing twice, nothing stuck, nothing lost."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable

import pytest

from . import soak as campaign
from .soak import Harm, Tally, soak

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs fork and open file description locks")

SEED = 8039
SHARDS = 40
PER_SHARD = 250
SAMPLE = 20

blocking = pytest.mark.parametrize("database", ["sqlite", "postgres"], indirect=True)


@blocking
@pytest.mark.parametrize("sample", range(2))
def test_a_sample_of_protocols_under_fire_ends_well(quick, database, sample):
    tally = soak(quick, database, range(sample * SAMPLE, (sample + 1) * SAMPLE), SEED)
    assert tally.clean(), tally


@pytest.mark.slow
@blocking
@pytest.mark.parametrize("shard", range(SHARDS))
def test_ten_thousand_protocols_under_fire_end_well(quick, database, shard, record_property: Callable[..., None]):
    tally = soak(quick, database, range(shard * PER_SHARD, (shard + 1) * PER_SHARD), SEED)
    record_property("soak", json.dumps({"database": database.kind, **tally.record()}))
    assert tally.clean(), tally


def test_a_campaign_in_which_nothing_happens_is_not_clean():
    harmed = Counter({Harm.KILL: 1, Harm.STOP: 1})
    assert Tally(protocols=10, harmed=harmed).clean()
    assert not Tally().clean()
    assert not Tally(protocols=10).clean()
    assert not Tally(protocols=10, harmed=harmed, duplicates=1).clean()


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_campaign_without_the_ledger_finds_what_was_paid_twice(quick, database, monkeypatch):
    monkeypatch.setattr(campaign, "effect", lambda *_, **__: lambda function: function)
    tally = soak(quick, database, range(SAMPLE), SEED)
    assert tally.duplicates > 0
    assert not tally.clean()
    assert tally.wrong
