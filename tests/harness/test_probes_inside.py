"""Recovery determinism where the store dies with its process: both logs are made, copied and recovered inside it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from resumption.contract.judges.branches import COPIES, ORDERS, branches
from resumption.contract.properties import Property
from resumption.contract.verdicts import Facet, Measured
from resumption.harness.probes import PROBES
from resumption.harness.receipts import Receipt
from resumption.harness.runner import run_suite
from resumption.history.events import Durable, Persist, Phase, Recover
from resumption.history.history import History
from resumption.history.ndjson import decode_history
from resumption.planes.faulty import nondet_recovery, order_sensitive
from resumption.planes.interface import PlaneSpec
from resumption.planes.langgraph.spec import GRAPH

RD = Property.RECOVERY_DETERMINISM


def in_memory(backend: str) -> PlaneSpec:
    backends = [known for known in GRAPH.backends if known.name == backend]
    return replace(GRAPH, backends=backends, forms=[form for form in GRAPH.forms if form.name in ("bare", "no-input")])


def run(spec: PlaneSpec, probe: str) -> tuple[Receipt, list[History]]:
    receipt = run_suite([spec], [found for found in PROBES if found.address == probe], jobs=1)
    return receipt, [decode_history(text.encode()) for text in receipt.histories.values()]


def measured(receipt: Receipt, facet: Facet = Facet.CELL) -> Measured:
    (found,) = [cell.measured for cell in receipt.cells if (cell.property, cell.facet) == (RD, facet)]
    return found


@pytest.mark.parametrize("backend", ["memory", "memory-async"])
def test_copies_of_one_log_in_memory_are_equal_and_recovered_alike_in_their_process(backend: str) -> None:
    receipt, (_, *crashed) = run(in_memory(backend), "inside/identical-logs")
    assert measured(receipt) is Measured.CONFORMS
    assert len(crashed) == 4  # one for each effect
    for history in crashed:
        digests = {copy.of: copy.sha256 for copy in history.of(Durable)}
        assert tuple(digests) == COPIES
        assert len(set(digests.values())) == 1
        assert [recover.branch for recover in history.of(Recover)] == list(COPIES)
        assert len({recover.process for recover in history.of(Recover)}) == 1


def test_two_unordered_writes_become_durable_in_memory_in_either_order() -> None:
    receipt, (_, *pairs) = run(in_memory("memory"), "inside/unordered-pair")
    assert measured(receipt, Facet.ORDER) is Measured.CONFORMS
    compared = 0
    for history in pairs:
        assert {copy.of for copy in history.of(Durable)} == set(ORDERS)
        first, second = (durable(history, branch) for branch in ORDERS)
        assert first != second
        compared += sorted(first) == sorted(second)  # else one had gone on further, and the judge passes the pair by
    assert compared


def durable(history: History, branch: str) -> list[str]:
    """The storage operations that a branch had ended when it was recovered, in order."""
    (found,) = [known for known in branches(history) if known.name == branch]
    asked = next(found.of(Recover)).number
    return [end.name for end in found.of(Persist) if end.phase is Phase.END and end.number < asked]


def test_a_recovery_that_the_log_does_not_decide_breaches() -> None:
    receipt, _ = run(nondet_recovery.FAULT.spec, "inside/identical-logs")
    assert measured(receipt) is Measured.BREACHES


def test_a_recovery_that_the_order_of_writes_decides_breaches() -> None:
    receipt, _ = run(order_sensitive.FAULT.spec, "inside/unordered-pair")
    assert measured(receipt, Facet.ORDER) is Measured.BREACHES
