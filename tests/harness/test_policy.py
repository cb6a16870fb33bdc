"""The exit code: every combination of what a run may hold and what a user may ask for."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from resumption.contract.properties import Property
from resumption.contract.verdicts import Facet, Label, Measured
from resumption.errors import ComparisonImpossible
from resumption.harness.comparison import Drift, drifts_from
from resumption.harness.policy import (
    ExitCode,
    FailOn,
    Policy,
    exit_code,
    is_finding,
    is_open,
    known_cells,
)
from resumption.harness.probes import PROBES
from resumption.harness.receipts import Cell, Part, Receipt, new_receipt
from resumption.planes.registry import specs

_BREACHES = {Label.VIOLATES, Label.UNDOCUMENTED, Label.DIVERGENT}
_OPEN = {Label.INCONCLUSIVE, Label.NOT_RUN}


def _cell(
    label: Label,
    *,
    strict: Label | None = None,
    facet: Facet = Facet.CELL,
    accepted: str = "",
    probe: str = "crash/every-point",
    parts: tuple[Label, ...] = (),
    property_: Property = Property.LIVENESS,
    backend: str = "sqlite",
) -> Cell:
    measured = Measured.BREACHES if label in _BREACHES else Measured.CONFORMS
    return Cell(
        plane="p",
        version="1",
        path="x",
        backend=backend,
        property=property_,
        facet=facet,
        measured=measured,
        label=label,
        strict=strict or label,
        accepted=accepted,
        parts=tuple(Part(probe=probe, trials=1, measured=measured, label=part) for part in (parts or (label,))),
    )


def _receipt(*cells: Cell) -> Receipt:
    return new_receipt(cells, {}, {})


@pytest.mark.parametrize(
    ("label", "fail_on", "strict", "facet", "accepted", "drifted"),
    list(product(Label, FailOn, (False, True), Facet, ("", "known"), (False, True))),
)
def test_a_cell_is_a_finding_exactly_when_its_policy_says_so(
    label: Label, fail_on: FailOn, strict: bool, facet: Facet, accepted: str, drifted: bool
) -> None:
    strictly = Label.VIOLATES if label in _BREACHES else label
    cell = _cell(label, strict=strictly, facet=facet, accepted=accepted)
    counts = {
        FailOn.BREACH: facet is Facet.CELL and label in _BREACHES,
        FailOn.VIOLATION: facet is Facet.CELL and (strictly if strict else label) is Label.VIOLATES,
        FailOn.DRIFT: drifted,
        FailOn.NEVER: False,
    }
    identities = frozenset({cell.identity} if drifted else ())
    assert is_finding(cell, Policy(fail_on, strict), identities) == (counts[fail_on] and not accepted)


@pytest.mark.parametrize(("first", "second", "fail_on"), list(product(Label, Label, FailOn)))
def test_findings_beat_what_could_not_be_measured_and_that_is_never_a_pass(
    first: Label, second: Label, fail_on: FailOn
) -> None:
    cells = [_cell(first), _cell(second, property_=Property.RECOVERY_DETERMINISM)]
    policy = Policy(fail_on)
    if any(is_finding(cell, policy) for cell in cells):
        expected = ExitCode.FINDINGS
    elif {first, second} & _OPEN:
        expected = ExitCode.INCONCLUSIVE
    else:
        expected = ExitCode.CLEAN
    assert exit_code(cells, policy) is expected


def test_a_part_that_could_not_be_measured_is_not_hidden_by_the_label_of_its_cell() -> None:
    cell = _cell(Label.DIVERGENT, parts=(Label.DIVERGENT, Label.INCONCLUSIVE))
    assert is_open(cell)
    assert exit_code([cell], Policy()) is ExitCode.INCONCLUSIVE


@pytest.mark.parametrize("fail_on", FailOn)
def test_a_run_without_cells_is_inconclusive(fail_on: FailOn) -> None:
    assert exit_code([], Policy(fail_on)) is ExitCode.INCONCLUSIVE


def test_the_same_receipt_has_no_drift() -> None:
    receipt = _receipt(_cell(Label.HOLDS), _cell(Label.VIOLATES, property_=Property.CHECKPOINT_VALIDITY))
    assert drifts_from(receipt, receipt) == ()


def test_a_changed_label_drifts_with_its_probe() -> None:
    before, now = _receipt(_cell(Label.HOLDS)), _receipt(_cell(Label.VIOLATES))
    drift = Drift("p/x/sqlite/LV", "crash/every-point", Label.HOLDS, Label.VIOLATES)
    assert drifts_from(before, now) == (drift,)
    assert exit_code(now.cells, Policy(FailOn.DRIFT), [drift]) is ExitCode.FINDINGS


def test_one_version_does_not_hide_the_drift_of_another() -> None:
    worse, same = _cell(Label.VIOLATES), replace(_cell(Label.HOLDS), version="2")
    with pytest.raises(ComparisonImpossible, match="This run has the cell p/x/sqlite/LV for more than one version"):
        drifts_from(_receipt(_cell(Label.HOLDS)), _receipt(worse, same))


def test_a_cell_that_is_gone_drifts_unless_it_was_accepted() -> None:
    gone = _cell(Label.HOLDS, property_=Property.RECOVERY_DETERMINISM)
    before, now = _receipt(_cell(Label.HOLDS), gone), _receipt(_cell(Label.HOLDS))
    drifts = drifts_from(before, now)
    assert [(drift.cell, drift.now) for drift in drifts] == [("p/x/sqlite/RD", None)]
    assert exit_code(now.cells, Policy(FailOn.DRIFT), drifts) is ExitCode.FINDINGS
    assert exit_code(now.cells, Policy(FailOn.DRIFT), drifts, accepted=["p/x/sqlite/RD"]) is ExitCode.CLEAN
    assert exit_code(now.cells, Policy(FailOn.VIOLATION), drifts) is ExitCode.CLEAN


def test_what_was_not_selected_does_not_drift() -> None:
    other_backend = _cell(Label.HOLDS, backend="memory")
    other_probe = _cell(Label.HOLDS, probe="consume/stray-after-completion", property_=Property.CONSUME_ONCE_COUNT)
    before, now = _receipt(_cell(Label.HOLDS), other_backend, other_probe), _receipt(_cell(Label.HOLDS))
    selected = tuple(probe.address for probe in PROBES if probe.address.startswith("crash/"))
    assert drifts_from(before, replace(now, probes=selected)) == ()
    (lost,) = drifts_from(before, now)  # an older receipt doesn't tell what was chosen: it may have fallen away
    assert (lost.probe, lost.now) == ("consume/stray-after-completion", None)


def test_the_cells_of_a_run_are_known_before_it() -> None:
    known = known_cells(specs("langgraph"), PROBES)
    assert "langgraph/graph/sqlite/FD/fork/direct" in known
    assert "langgraph/graph/sqlite/EO/recover/input/window" in known
    assert "langgraph/graph/sqlite/RD/recover/input/order" in known
    assert "langgraph/graph/sqlite/CV" in known
    assert "langgraph/graph/sqlite/FD" not in known
