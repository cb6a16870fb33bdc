"""A second decision comes at one and the same moment of a live run, whether the plane refuses it or has it wait."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from resumption.contract.verdicts import Label
from resumption.harness.probes import PROBES
from resumption.harness.receipts import Receipt
from resumption.harness.runner import run_suite
from resumption.history.events import Deliver, EffectBegin, Raise, TaskEnd, TaskStart
from resumption.history.history import History
from resumption.history.ndjson import decode_history
from resumption.planes.interface import PlaneSpec
from resumption.planes.reference.spec import REFERENCE

PATIENT = replace(REFERENCE, adapter="patient_plane", environment={"PYTHONPATH": str(Path(__file__).parent)})


def _run(spec: PlaneSpec, probe: str) -> tuple[Receipt, History]:
    receipt = run_suite([spec], [found for found in PROBES if found.address == probe], jobs=1)
    name = next(name for name in receipt.histories if "/answer#" in name)
    return receipt, decode_history(receipt.histories[name].encode())


@pytest.mark.parametrize("probe", ["consume/while-live", "consume/while-live-elsewhere"])
@pytest.mark.parametrize("spec", [REFERENCE, PATIENT], ids=["refuses", "waits"])
def test_the_second_decision_comes_between_the_start_of_the_next_task_and_its_effect(
    spec: PlaneSpec, probe: str
) -> None:
    receipt, history = _run(spec, probe)
    assert {cell.label for cell in receipt.cells} == {Label.HOLDS}
    first, second = history.of(Deliver)
    starts = next(start.number for start in history.of(TaskStart) if start.task == "b")
    fires = next(begin.number for begin in history.of(EffectBegin) if begin.task == "b")
    assert first.number < starts < second.number < fires
    refused = next(history.during(second.operation, Raise))
    ended = max(end.number for end in history.of(TaskEnd))
    assert (refused.number > ended) is (spec is PATIENT)
    assert (first.process == second.process) is (probe == "consume/while-live")


def test_a_spawned_process_is_no_fork_and_comes_to_the_same() -> None:
    receipt = run_suite([REFERENCE], [probe for probe in PROBES if probe.address == "crash/spawned"], jobs=1)
    assert {cell.label for cell in receipt.cells if cell.facet == "cell"} == {Label.HOLDS}
