"""Public cases of CrewAI, and what its checkpoints hold, on the release that the paper measured and on the newest.

Each needs CrewAI's environment, of about a gigabyte, so that all are run by `make soak` alone.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resumption.contract.properties import Property
from resumption.contract.verdicts import Measured
from resumption.harness.installations import Installation, isolated
from resumption.harness.lab import Lab
from resumption.harness.locks import read_recipe
from resumption.harness.probes.probe import probe
from resumption.harness.receipts import Receipt
from resumption.harness.runner import run_suite
from resumption.history.events import TaskStart
from resumption.history.history import History
from resumption.history.ndjson import decode_history
from resumption.history.workload import Effect, Interrupt, Task, Workload
from resumption.planes.crewai.spec import CHECKPOINT, CHECKPOINT_BESIDE_A_FLOW
from resumption.worker.faults import Fault, Mode

pytestmark = pytest.mark.slow

SCRIPTS = Path(__file__).parent / "scripts"
RECIPE = read_recipe(CHECKPOINT)
THREE = Workload(tuple(Task(name, (Effect(name),)) for name in ("a", "b", "c")))
GATED = Workload((Task("a", (Effect("a"),)), Task("ask", (Interrupt("sure?"),)), Task("b", (Effect("b"),))))
RUNS = 40
_DECIDES = (Property.EFFECT_EXACTLY_ONCE, Property.PREFIX_CONTINUATION)


def fails_before(task: str) -> Fault:
    """An outage at the start of a task: CrewAI waits for its checkpoints before the flow's error is raised."""
    return Fault(f"task:{task}:start", Mode.RAISE)


@probe("case/restored-once", expectation="each effect fires once", source="arXiv 2608.03836", decides=_DECIDES)
def restored_once(lab: Lab) -> None:
    """Fail before the second task, and restore in a new process."""
    with lab.trial(THREE) as trial:
        trial.process(fails_before("b")).start()
        trial.process().recover()


@probe("case/restored-twice", expectation="each effect fires once", source="arXiv 2608.03836", decides=_DECIDES)
def restored_twice(lab: Lab) -> None:
    """Fail before the second task, restore, fail before the third, and restore, each in a new process."""
    with lab.trial(THREE) as trial:
        trial.process(fails_before("b")).start()
        trial.process(fails_before("c")).recover()
        trial.process().recover()


@probe("case/answered-and-restored", expectation="each effect fires once", source="arXiv 2608.03836", decides=_DECIDES)
def answered_and_restored(lab: Lab) -> None:
    """Park, answer in a new process, fail there before the task behind the gate, and restore in another."""
    with lab.trial(GATED) as trial:
        trial.process().start()
        trial.process(fails_before("b")).answer("yes", target="sure?")
        trial.process().recover()


@pytest.fixture(scope="module", params=[RECIPE.paper, RECIPE.newest])
def installation(request: pytest.FixtureRequest) -> Installation:
    """A release in an environment of its own."""
    return isolated(CHECKPOINT, request.param)


@pytest.fixture(scope="module")
def receipt(installation: Installation, once: Callable[[str, Callable[[], Receipt]], Receipt]) -> Receipt:
    """What a release does in the cases, alone in its context and beside an idle flow."""

    def measure() -> Receipt:
        specs = [CHECKPOINT, CHECKPOINT_BESIDE_A_FLOW]
        return run_suite(
            specs, [restored_once, restored_twice, answered_and_restored], jobs=2, installation=installation
        )

    return once(f"crewai-{installation.version}", measure)


def history(receipt: Receipt, path: str, case: str) -> History:
    """The history of a case on one of the two planes."""
    name = next(name for name in receipt.histories if f"/{path}/sqlite/case/{case}/" in name)
    return decode_history(receipt.histories[name].encode())


def fired(seen: History) -> list[str]:
    """The effects, in the order in which they fired."""
    return [fire.effect for fire in seen.fires()]


def measured(receipt: Receipt, path: str, case: str) -> Measured:
    """How a case counts for effect exactly-once."""
    cells = (found for found in receipt.cells if found.path == path and found.property is Property.EFFECT_EXACTLY_ONCE)
    return next(part.measured for found in cells for part in found.parts if part.probe == f"case/{case}")


def test_a_checkpoint_of_a_flow_alone_in_its_context_is_restored_clean(receipt):
    assert fired(history(receipt, "checkpoint", "restored-once")) == ["a", "b", "c"]
    assert measured(receipt, "checkpoint", "restored-once") is Measured.CONFORMS


def test_a_restored_flow_begins_anew_if_another_flow_object_was_made_before_it(receipt):
    seen = history(receipt, "checkpoint-beside-a-flow", "restored-once")
    assert fired(seen) == ["a", "a", "b", "c"]
    assert [start.trail for start in seen.of(TaskStart) if start.process == 2] == [[], ["a"], ["a", "b"]]
    assert measured(receipt, "checkpoint-beside-a-flow", "restored-once") is Measured.BREACHES


def test_a_restored_flow_that_is_restored_again_begins_anew(receipt):
    """Restoring makes the other flow object itself: the checkpoints that follow begin with one that is idle."""
    assert fired(history(receipt, "checkpoint", "restored-twice")) == ["a", "b", "a", "b", "c"]
    assert measured(receipt, "checkpoint", "restored-twice") is Measured.BREACHES


def test_a_flow_that_was_answered_forgets_what_it_had_completed_before(receipt):
    seen = history(receipt, "checkpoint", "answered-and-restored")
    assert fired(seen)[:2] == ["a", "a"]
    assert measured(receipt, "checkpoint", "answered-and-restored") is Measured.BREACHES


def test_a_checkpoint_can_hold_a_write_of_a_task_that_it_has_not_as_completed(installation, tmp_path):
    """It is taken by a thread of the event bus while the flow goes on: nobody waits for it."""
    pairs = run_script(installation, "crewai_torn_checkpoints.py", tmp_path, str(RUNS))
    assert len(pairs) == 3 * RUNS
    assert any(set(trail) > set(completed) for completed, trail in pairs)


def test_a_tool_whose_reply_is_lost_has_its_effect_again_and_again(installation, tmp_path):
    """crewAI #5802, and #7449 on how often."""
    said = run_script(installation, "crewai_tool_retry.py", tmp_path)
    assert len(said["paid"]) > 1
    assert set(said["paid"]) == {"o-1"}


def test_of_two_methods_that_end_at_once_an_older_state_may_be_stored_last(installation, tmp_path):
    said = run_script(installation, "crewai_parallel_states.py", tmp_path)
    assert said == {"live": ["first", "second"], "stored": ["first"]}


def run_script(installation: Installation, name: str, folder: Path, *arguments: str) -> Any:
    """Run a script in the release's environment, and return what it said."""
    settings = {**CHECKPOINT.environment, "CREWAI_STORAGE_DIR": str(folder)}
    subprocess.run(
        [installation.python, SCRIPTS / name, folder, *arguments], env=settings, capture_output=True, check=True
    )
    return json.loads((folder / "said.json").read_text())
