"""What the Agent Development Kit makes of a second decision, in real processes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from resumption.contract.properties import Property
from resumption.contract.verdicts import Measured
from resumption.harness.installations import isolated
from resumption.harness.lab import Lab
from resumption.harness.probes import PROBES
from resumption.harness.probes.probe import probe
from resumption.harness.probes.workloads import SEQUENCE
from resumption.harness.receipts import Cell, Receipt
from resumption.harness.runner import run_suite
from resumption.history.events import Consume, EffectBegin, Raise, Return
from resumption.history.history import History
from resumption.history.ndjson import decode_history
from resumption.planes.google_adk.spec import WORKFLOW
from resumption.planes.interface import Operation

_SUITE = ("fork/two-values", "consume/stray-after-completion")


@probe(
    "case/answer-after-an-invalid-one",
    expectation="a decision that is refused leaves the interrupt to be answered",
    source="RequestInput.response_schema, which is checked when the session's events are read again",
    decides=(Property.LIVENESS,),
    operation=Operation.DELIVER,
)
def answer_after_invalid(lab: Lab) -> None:
    """Deliver nothing where a text is asked for, which is refused; then deliver a decision, and recover."""
    with lab.trial(SEQUENCE) as trial:
        process = trial.process()
        process.start()
        where = process.address()
        process.answer(None, target="approve", at=where)
        process.answer("yes", target="approve", at=where)
        process.recover()


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def receipt() -> Receipt:
    chosen = [probe for probe in PROBES if probe.address in _SUITE]
    return run_suite([WORKFLOW], [*chosen, answer_after_invalid], jobs=2, installation=isolated(WORKFLOW, "2.13.0"))


@pytest.fixture
def cell(receipt: Receipt) -> Callable[[str], Cell]:
    return lambda name: next(cell for cell in receipt.cells if cell.identity == f"google-adk/workflow/sqlite/{name}")


def history_of(receipt: Receipt, probe: str) -> History:
    (text,) = [text for name, text in receipt.histories.items() if f"/{probe}/" in name]
    return decode_history(text.encode())


def test_a_second_decision_reaches_the_gate_and_nothing_behind_it(
    receipt: Receipt, cell: Callable[[str], Cell]
) -> None:
    """As in LangGraph #6663 the fork ends with the first decision; here the gate fires with the second one, too."""
    assert cell("FD/fork/second-response").measured is Measured.BREACHES
    history = history_of(receipt, "fork/two-values")
    assert [consumed.value for consumed in history.of(Consume)] == ["yes", "no"]
    assert [end.trail for end in history.of(Return)] == [["a", "approve=yes", "b", "c"]] * 2
    charged = [begin.value for begin in history.of(EffectBegin) if begin.effect == "charge"]
    assert charged == ["yes", "no"]


def test_a_stray_decision_after_the_end_fires_the_gate_again(receipt: Receipt, cell: Callable[[str], Cell]) -> None:
    assert cell("CO-e/deliver/function-response").measured is Measured.BREACHES
    history = history_of(receipt, "consume/stray-after-completion")
    charged = [begin.value for begin in history.of(EffectBegin) if begin.effect == "charge"]
    assert charged == ["yes", "no"]


def test_an_invalid_response_is_recorded_before_it_is_refused_and_no_valid_one_is_served_any_more(
    receipt: Receipt, cell: Callable[[str], Cell]
) -> None:
    assert cell("LV/deliver/function-response").measured is Measured.BREACHES
    history = history_of(receipt, "case/answer-after-an-invalid-one")
    assert [error.error for error in history.of(Raise)] == ["WorkflowDataError"] * 3
    assert [begin.effect for begin in history.of(EffectBegin)] == ["a"]
