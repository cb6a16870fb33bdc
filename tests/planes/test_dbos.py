"""DBOS's plane: what it says of itself, and real workflows, killed and recovered, in an environment of their own."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from surveyed import assert_consistent, check_random_workloads

from resumption.contract.verdicts import Measured
from resumption.harness.installations import isolated
from resumption.harness.locks import read_recipe
from resumption.harness.probes import PROBES
from resumption.harness.receipts import Cell, Receipt
from resumption.harness.runner import run_suite
from resumption.history.events import Persist, TaskStart
from resumption.history.history import History
from resumption.history.ndjson import decode_history
from resumption.planes.dbos.spec import SPECS, WORKFLOW

_SUITE = (
    "crash/exception",
    "crash/parked",
    "fork/two-values",
    "fork/retry-or-fork",
    "consume/stray-after-completion",
    "consume/while-live",
    "address/unknown",
    "inspect/inert",
    "inspect/reload",
    "interrupt/code-before",
)

Cells = Callable[[str], Cell]


def _measure() -> Receipt:
    probes = [probe for probe in PROBES if probe.address in _SUITE]
    return run_suite([WORKFLOW], probes, jobs=2, installation=isolated(WORKFLOW, read_recipe(WORKFLOW).newest))


@pytest.fixture(scope="module")
def receipt(once: Callable[[str, Callable[[], Receipt]], Receipt]) -> Receipt:
    """What the newest locked release does in a part of the suite."""
    return once("dbos", _measure)


@pytest.fixture
def cell(receipt: Receipt) -> Cells:
    """Return the cell of an identity, given without the plane: `LV/recover/launch`."""
    return lambda name: next(found for found in receipt.cells if found.identity == f"dbos/workflow/sqlite/{name}")


def history(receipt: Receipt, probe: str, form: str) -> History:
    """The history of the first trial of a probe."""
    name = next(name for name in receipt.histories if name.endswith(f"/sqlite/{probe}/{form}#1"))
    return decode_history(receipt.histories[name].encode())


def test_forms_statements_and_locks_hang_together():
    assert_consistent(SPECS)


def test_random_workloads_park_at_their_gate_and_end_with_its_answer():
    check_random_workloads(WORKFLOW)


def test_an_exception_is_the_end_of_a_workflow_and_only_a_fork_goes_on(cell):
    assert cell("LV/recover/launch").measured is Measured.BREACHES
    assert cell("LV/recover/resume").measured is Measured.BREACHES
    assert cell("LV/recover/fork-failed").measured is Measured.CONFORMS


def test_a_recorded_step_is_never_run_again_and_an_interrupted_one_is(cell):
    assert cell("EO/recover/fork-failed").measured is Measured.CONFORMS
    assert cell("EO/recover/fork-failed/window").measured is Measured.BREACHES


def test_each_fork_has_an_outcome_of_its_own_and_a_retry_fires_nothing(cell):
    assert cell("FD/fork/fork").measured is Measured.CONFORMS
    assert cell("FI/fork/fork").measured is Measured.CONFORMS


def test_a_second_message_is_inert_and_nobody_is_told(cell):
    assert cell("CO-c/deliver/send").measured is Measured.CONFORMS
    assert cell("CO-e/deliver/send").measured is Measured.CONFORMS
    assert cell("LA/deliver/send").measured is Measured.BREACHES


def test_inspection_changes_nothing_and_shows_what_was_there(cell):
    assert cell("RI").measured is Measured.CONFORMS
    assert cell("RL").measured is Measured.CONFORMS


def test_each_durable_write_is_bracketed_and_names_the_task_that_it_makes_durable(receipt):
    parked = history(receipt, "crash/parked", "send")
    covered = [(persist.name, persist.covers) for persist in parked.of(Persist) if persist.covers]
    names = [name for name, _ in dict.fromkeys(covered)]
    assert names == ["step(a)", "step(approve/charge)", "step(b)", "step(c)"]
    assert {persist.name for persist in parked.of(Persist)} >= {"init_workflow", "set_event(pending)", "recv(approve)"}


def test_the_code_in_front_of_an_interrupt_is_run_again_and_its_effect_is_not(receipt):
    seen = history(receipt, "interrupt/code-before", "send")
    assert [start.task for start in seen.of(TaskStart)].count("approve") == 2
    assert [fire.effect for fire in seen.fires()].count("notify") == 1
