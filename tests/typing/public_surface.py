"""What users write against the public surface, for type checkers alone: a plane's adapter, judging, receipts, effects.

Nothing here is run. mypy and pyright must both accept it without a cast.
"""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

from resumption import Ledger, effect
from resumption.contract.judges import judge
from resumption.contract.properties import Property
from resumption.contract.verdicts import Finding, Judgement, Label
from resumption.errors import ResumptionError
from resumption.harness.receipts import Receipt, matrix, read_receipt
from resumption.history.events import Json
from resumption.history.history import History
from resumption.history.ndjson import read_history
from resumption.history.workload import Workload
from resumption.planes.interface import (
    Address,
    Call,
    Completed,
    Decision,
    Handle,
    Instruments,
    OpenRun,
    Outcome,
    Run,
    Snapshot,
    Store,
)


class MyRun:
    """The smallest adapter there is."""

    def start(self, value: Json) -> Handle:
        return Call(lambda: Completed(value))

    def deliver(self, decision: Decision) -> Handle:
        return Call(lambda: Completed(decision.value))

    def recover(self, form: str) -> Handle:
        return Call(lambda: Completed(form))

    def inspect(self) -> Snapshot:
        return Snapshot([], (), True)

    def address(self) -> Address:
        return Address()

    def close(self) -> None:
        pass


def open_run(workload: Workload, store: Store, instruments: Instruments) -> Run:
    return MyRun()


adapter: OpenRun = open_run
assert_type(MyRun().start(None).wait(), Outcome)


def judged(file: Path) -> tuple[Finding, ...]:
    history = read_history(file)
    assert_type(history, History)
    judgements = judge(history, Property.EFFECT_EXACTLY_ONCE)
    assert_type(judgements, tuple[Judgement, ...])
    return judgements[0].findings


def labels(file: Path) -> dict[Property, Label]:
    try:
        receipt = read_receipt(file)
    except ResumptionError as error:
        assert_type(error.advice, str)
        raise
    assert_type(receipt, Receipt)
    return matrix(receipt.cells)[0].labels


ledger = Ledger("sqlite:///effects.db")


@effect(ledger, key=lambda order: f"charge:{order}")
def charge(order: str) -> int:
    return len(order)


assert_type(charge("42"), int)
