"""Public cases of DBOS: what happens where two executors take one workflow for theirs."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from resumption.contract.properties import Property
from resumption.harness.installations import Installation, isolated
from resumption.harness.lab import Lab
from resumption.harness.locks import read_recipe
from resumption.harness.probes.probe import probe
from resumption.harness.runner import run_suite
from resumption.history.events import EffectBegin
from resumption.history.ndjson import decode_history
from resumption.history.workload import Effect, Interrupt, Task, Work, Workload
from resumption.planes.dbos.spec import WORKFLOW
from resumption.planes.interface import Operation

SCRIPT = Path(__file__).parent / "scripts" / "dbos_stale_recovery.py"
RECIPE = read_recipe(WORKFLOW)
SLOW_STEP = Workload(
    (
        Task("a", (Effect("a"),)),
        Task("approve", (Interrupt("approve"),)),
        Task("b", (Effect("b"), Work(1.0))),  # longer than it takes either executor to notice its message
    )
)


@probe(
    "case/two-executors-of-one-id",
    expectation="each effect fires once",
    source="DBOS's documentation, workflow recovery",
    decides=(Property.CONSUME_ONCE_EFFECTS, Property.EFFECT_EXACTLY_ONCE),
    operation=Operation.DELIVER,
)
def two_executors_of_one_id(lab: Lab) -> None:
    """Park in one process and, while it lives, deliver from another one, whose executor has the same id."""
    with lab.trial(SLOW_STEP) as trial:
        trial.process().start()
        trial.process().answer("yes", target="approve")


@pytest.fixture(scope="module", params=[RECIPE.paper, RECIPE.newest])
def installation(request: pytest.FixtureRequest) -> Installation:
    """A release in an environment of its own."""
    return isolated(WORKFLOW, request.param)


def test_two_executors_of_one_id_run_a_step_at_once(installation):
    if installation.version == RECIPE.newest:
        pytest.xfail("")
    receipt = run_suite([WORKFLOW], [two_executors_of_one_id], jobs=1, installation=installation)
    text = next(text for name, text in receipt.histories.items() if name.endswith("/send#1"))
    begins = [begin for begin in decode_history(text.encode()).of(EffectBegin) if begin.effect == "b"]
    assert {begin.process for begin in begins} == {1, 2}


def test_a_recovery_by_a_stale_list_does_not_run_what_was_queued_again(installation, tmp_path):
    """dbos-transact-py #742, fixed before the release that the paper measured."""
    died = subprocess.run([installation.python, SCRIPT, "die", tmp_path], capture_output=True, text=True, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr
    done = subprocess.run(
        [installation.python, SCRIPT, "recover", tmp_path], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout.splitlines()[-1]) == {"pending": 1, "ran": ["die", "recover"]}
