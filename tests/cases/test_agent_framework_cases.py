"""Failures of Agent Framework that its users reported in public, and one of their kind, in real processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from standalone.programs import interpreter, run

from resumption.contract.judges import judge
from resumption.contract.properties import Property
from resumption.contract.verdicts import Facet, Measured
from resumption.harness.installations import isolated
from resumption.harness.lab import Lab
from resumption.harness.probes.probe import Probe, probe
from resumption.harness.probes.workloads import corrupting
from resumption.harness.runner import run_suite
from resumption.history.history import History
from resumption.history.ndjson import decode_history
from resumption.history.workload import Effect, Task, Workload, WriteFault
from resumption.planes.agent_framework.spec import WORKFLOW
from resumption.worker.faults import Fault, Mode

_NEWEST = "1.23.0"
_RESUMED = {"resumed": ["b", "c"], "outputs": ["abc"]}

pytestmark = pytest.mark.slow


def histories(what: Probe) -> list[History]:
    """The histories of a probe on the newest locked release."""
    receipt = run_suite([WORKFLOW], [what], jobs=1, installation=isolated(WORKFLOW, _NEWEST))
    return [decode_history(text.encode()) for text in receipt.histories.values()]


def measured(history: History, property_: Property, facet: Facet = Facet.CELL) -> Measured:
    return next(found.measured for found in judge(history, property_) if found.facet is facet)


# 3758: an executor fails; resumed from its checkpoint, nothing runs, and the workflow is reported complete ----------


@pytest.mark.parametrize("version", ["1.0.0b260130", _NEWEST])
def test_3758_does_not_happen_to_an_executor_whose_failure_ends_the_run(version: str, tmp_path: Path) -> None:
    """The report's symptom was not to be had: the release it was made with resumes the executor that failed, too."""
    python = isolated(WORKFLOW, version).python if version == _NEWEST else interpreter("agent-framework-core", version)
    assert run(python, "agent_framework_core/failed_executor.py", home=tmp_path) == [_RESUMED, _RESUMED]


@probe(
    "case/wrong-type-amid",
    expectation="a run that reads as finished has run every task",
    source="agent-framework #3758, its kind",
    decides=(Property.NO_LOST_WORK, Property.CHECKPOINT_VALIDITY),
)
def wrong_type_amid(lab: Lab) -> None:
    """Run a task that sends a message of the wrong type, with another task behind it; then recover."""
    with lab.trial(corrupting(WriteFault.WRONG_TYPE, terminal=False)) as trial:
        first = trial.process()
        first.start()
        second = trial.successor(first)
        second.inspect()
        second.recover()


def test_3758_its_symptom_follows_from_a_message_of_the_wrong_type() -> None:
    (history,) = histories(wrong_type_amid)
    assert measured(history, Property.NO_LOST_WORK) is Measured.BREACHES
    (lost,) = {found.summary for part in judge(history, Property.NO_LOST_WORK) for found in part.findings}
    assert lost == "the run on branch b0 reads as finished, and never ran `b`"


# 3938: several effects in one executor ------------------------------------------------------------------------------


@probe(
    "case/three-effects-in-one-executor",
    expectation="each effect fires once",
    source="agent-framework #3938",
    decides=(Property.EFFECT_EXACTLY_ONCE,),
)
def three_effects(lab: Lab) -> None:
    """Charge, refund and notify in one task; fail behind the refund; recover in another process."""
    effects = (Effect("charge"), Effect("refund"), Effect("notify"))
    with lab.trial(Workload((Task("receive"), Task("settle", effects)))) as trial:
        first = trial.process(Fault("effect:refund:after", Mode.RAISE))
        first.start()
        trial.successor(first).recover()


def test_3938_what_an_executor_did_before_it_failed_is_done_again() -> None:
    (history,) = histories(three_effects)
    assert [firing.effect for firing in history.fires()] == ["charge", "refund", "charge", "refund", "notify"]
    assert measured(history, Property.EFFECT_EXACTLY_ONCE, Facet.WINDOW) is Measured.BREACHES


# The checkpoint that can't be saved -----------------------------------------------------------------------------------


def test_a_checkpoint_that_is_not_saved_fails_nothing_and_what_it_held_is_done_again(tmp_path: Path) -> None:
    """Documented in a log line alone: the run reads as complete, and a later restore starts behind the last save."""
    seen: Any = run(isolated(WORKFLOW, _NEWEST).python, "agent_framework_core/failed_save.py", home=tmp_path)
    assert seen == {"first": ["a", "b", "c"], "state": "IDLE", "outputs": ["abc"], "restored": ["b", "c"]}
