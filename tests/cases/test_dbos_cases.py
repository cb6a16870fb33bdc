"""Public cases of DBOS: what happens where two executors take one workflow for theirs."""

from __future__ import annotations

import json
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from resumption.contract.properties import Property
from resumption.contract.verdicts import Measured
from resumption.harness.installations import Installation, isolated
from resumption.harness.locks import read_recipe
from resumption.harness.probes import PROBES
from resumption.harness.runner import run_suite
from resumption.history.ndjson import decode_history
from resumption.planes.dbos.spec import WORKFLOW

SCRIPT = Path(__file__).parent / "scripts" / "dbos_stale_recovery.py"
RECIPE = read_recipe(WORKFLOW)
LIVE = [probe for probe in PROBES if probe.address == "consume/while-live-elsewhere"]


@pytest.fixture(scope="module", params=[RECIPE.paper, RECIPE.newest])
def installation(request: pytest.FixtureRequest) -> Installation:
    """A release in an environment of its own."""
    return isolated(WORKFLOW, request.param)


def test_two_executors_of_one_id_run_one_step_at_once(installation):
    """Executors are called `local` unless told otherwise: one that is launched takes the other for its dead self."""
    receipt = run_suite([WORKFLOW], LIVE, jobs=2, installation=installation)
    for text in receipt.histories.values():
        fired = Counter(fire.effect for fire in decode_history(text.encode()).fires())
        assert fired == {"a": 1, "charge": 1, "b": 2, "c": 1}
    effects = [cell for cell in receipt.cells if cell.property is Property.CONSUME_ONCE_EFFECTS]
    assert {cell.measured for cell in effects} == {Measured.BREACHES}


def test_a_recovery_by_a_stale_list_does_not_run_what_was_queued_again(installation, tmp_path):
    """dbos-transact-py #742, fixed before the release that the paper measured."""
    died = subprocess.run([installation.python, SCRIPT, "die", tmp_path], capture_output=True, text=True, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr
    done = subprocess.run(
        [installation.python, SCRIPT, "recover", tmp_path], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout.splitlines()[-1]) == {"pending": 1, "ran": ["die", "recover"]}
