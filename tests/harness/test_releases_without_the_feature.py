"""A release that lacks what a plane measures: said as such, with how to get it, and never a pass."""

from __future__ import annotations

from dataclasses import replace

import pytest

from resumption.contract.verdicts import Label
from resumption.harness.probes import PROBES
from resumption.harness.receipts import Receipt
from resumption.harness.runner import run_suite
from resumption.planes.langgraph.spec import AGENT_PER_CALL, GRAPH, GRAPH_DELTA
from resumption.planes.langgraph_guarded import spec as guarded


def _inspected_on(release: str) -> Receipt:
    spec = replace(GRAPH, since={"langgraph": release}, backends=GRAPH.backends[1:2])
    return run_suite([spec], [probe for probe in PROBES if probe.address == "inspect/inert"], jobs=1)


@pytest.mark.parametrize(("release", "measured"), [("1.0", True), ("99.0", False)])
def test_a_release_before_the_feature_is_not_run(release: str, measured: bool) -> None:
    receipt = _inspected_on(release)
    assert receipt.cells
    assert all((cell.label is not Label.NOT_RUN) is measured for cell in receipt.cells)
    if not measured:
        reasons = {part.reason for cell in receipt.cells for part in cell.parts}
        (reason,) = reasons
        assert "langgraph/graph measures isn't in langgraph" in reason
        assert reason.endswith("it came with 99.0. Install that, or name a release of langgraph that has it.")
        assert receipt.histories == {}


def test_planes_of_later_features_say_since_when() -> None:
    assert dict(GRAPH_DELTA.since) == {"langgraph": "1.2"}
    assert dict(AGENT_PER_CALL.since) == {"langchain": "1.5"}
    inherited = {spec.path: dict(spec.since) for spec in guarded.SPECS if spec.since}
    assert inherited == {"graph-delta": {"langgraph": "1.2"}, "agent-per-call": {"langchain": "1.5"}}
