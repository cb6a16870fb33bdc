"""Receipts speak for themselves: their verdicts can be derived again, and one that was edited is found out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from resumption.cli import main
from resumption.contract.verdicts import Label, Measured
from resumption.errors import ReceiptUnreadable, UnknownName
from resumption.harness.probes import PROBES
from resumption.harness.receipts import Cell, Part, Receipt, read_receipt, write
from resumption.harness.rejudging import compact, disagreements, extend, rejudge, silent_on
from resumption.harness.runner import run_suite
from resumption.planes.registry import specs

_PROBES = [
    probe
    for probe in PROBES
    if probe.address in ("consume/stray-after-completion", "interrupt/task-before", "crash/exception")
    or probe.address.startswith("interrupt/parallel")
]


@pytest.fixture(scope="module")
def receipt(once: Callable[[str, Callable[[], Receipt]], Receipt]) -> Receipt:
    """A plane that fires again what was recorded."""
    return once("rejudging", lambda: run_suite(specs("faulty-replay"), _PROBES, jobs=2))


def _edit(receipt: Receipt, *, label: Label, edit: Callable[[Cell, Part], Part]) -> Receipt:
    """Edit the parts of the first cell with a label that rests on histories."""
    place = next(
        n for n, cell in enumerate(receipt.cells) if cell.label is label and any(part.histories for part in cell.parts)
    )
    cell = receipt.cells[place]
    parts = tuple(edit(cell, part) if part.histories else part for part in cell.parts)
    return replace(receipt, cells=(*receipt.cells[:place], replace(cell, parts=parts), *receipt.cells[place + 1 :]))


def test_a_receipt_says_what_its_histories_say(receipt: Receipt) -> None:
    labels = {part.label for cell in receipt.cells for part in cell.parts}
    assert {Label.HOLDS, Label.UNDOCUMENTED} <= labels
    assert disagreements(receipt) == ()
    assert rejudge(receipt) == receipt


def test_a_compact_receipt_has_the_same_verdicts_on_fewer_histories(receipt: Receipt) -> None:
    small = compact(receipt)
    assert 0 < len(small.histories) < len(receipt.histories)
    assert disagreements(small) == ()
    for before, after in zip(receipt.cells, small.cells, strict=True):
        assert (before.measured, before.label, before.strict) == (after.measured, after.label, after.strict)
        assert [part.trials for part in before.parts] == [part.trials for part in after.parts]
        for part in after.parts:
            assert part.histories or part.measured in (Measured.UNDETERMINED, Measured.UNEXERCISED)


def test_a_compact_receipt_tells_no_path_of_the_machine(receipt: Receipt) -> None:
    cell = receipt.cells[0]
    lost = Part(
        probe="lost",
        trials=1,
        measured=Measured.UNDETERMINED,
        label=Label.INCONCLUSIVE,
        reason="it said:\n/home/someone/.cache/x-1.0/site-packages/y/z.py, https://example.org/tmp",
    )
    told = compact(replace(receipt, cells=(replace(cell, parts=(*cell.parts, lost)),))).cells[0].parts[-1].reason
    assert told.startswith("it said:\nz.py, https://example.org/tmp")
    assert "someone" not in told


def test_a_verdict_that_was_edited_is_found_out(receipt: Receipt) -> None:
    edited = _edit(receipt, label=Label.UNDOCUMENTED, edit=lambda _, part: replace(part, label=Label.HOLDS))
    assert "undocumented" in str(disagreements(edited)[0])


def test_a_finding_that_was_edited_is_found_out(receipt: Receipt) -> None:
    edited = _edit(receipt, label=Label.UNDOCUMENTED, edit=lambda _, part: replace(part, findings=()))
    assert any("says nothing, and its histories say" in str(found) for found in disagreements(edited))


def test_a_verdict_on_another_probes_history_is_found_out(receipt: Receipt) -> None:
    clean = next(name for name in receipt.histories if "interrupt/task-before" in name)
    edited = _edit(receipt, label=Label.UNDOCUMENTED, edit=lambda _, part: replace(part, histories=(clean,)))
    with pytest.raises(ReceiptUnreadable, match="claims it"):
        disagreements(edited)


def test_a_verdict_without_any_history_is_found_out(receipt: Receipt) -> None:
    edited = _edit(receipt, label=Label.HOLDS, edit=lambda _, part: replace(part, histories=()))
    assert any("inconclusive" in found.found for found in disagreements(edited))


def test_a_history_that_the_receipt_lacks_is_told(receipt: Receipt) -> None:
    with pytest.raises(ReceiptUnreadable, match="which the receipt lacks"):
        disagreements(replace(receipt, histories={}))


@pytest.mark.parametrize(
    "moved",
    [lambda cell: replace(cell, path="elsewhere"), lambda cell: replace(cell, plane="nobody")],
    ids=["path", "plane"],
)
def test_a_cell_of_a_plane_that_is_not_known_here_is_told(receipt: Receipt, moved: Callable[[Cell], Cell]) -> None:
    cells = tuple(moved(cell) for cell in receipt.cells)
    with pytest.raises(UnknownName):
        disagreements(replace(receipt, cells=cells))


def test_what_other_probes_measured_later_is_added(receipt: Receipt) -> None:
    probe = next(probe for probe in _PROBES if probe.address == "crash/exception")
    first = run_suite(specs("faulty-replay"), [found for found in _PROBES if found is not probe], jobs=2)
    assert silent_on(first, _PROBES) == (probe,)
    later = run_suite(specs("faulty-replay"), [probe], jobs=2)
    whole = extend(first, later)
    assert set(whole.probes) == {found.address for found in _PROBES}
    assert extend(replace(first, probes=()), later).probes == ()  # what was chosen for the rest, nobody says
    assert silent_on(whole, _PROBES) == ()
    assert disagreements(whole) == ()
    assert {(cell.identity, cell.label) for cell in whole.cells} == {
        (cell.identity, cell.label) for cell in receipt.cells
    }


def test_what_a_probe_measured_before_gives_way_to_what_it_measured_later(receipt: Receipt) -> None:
    probe = next(probe for probe in _PROBES if probe.address == "crash/exception")
    spoilt = replace(
        receipt,
        cells=tuple(
            replace(
                cell, parts=tuple(_undetermined(part) if part.probe == probe.address else part for part in cell.parts)
            )
            for cell in receipt.cells
        ),
    )
    assert Label.INCONCLUSIVE in {cell.label for cell in rejudge(spoilt).cells}
    whole = extend(spoilt, run_suite(specs("faulty-replay"), [probe], jobs=2))
    assert {(cell.identity, cell.label) for cell in whole.cells} == {
        (cell.identity, cell.label) for cell in receipt.cells
    }
    assert whole.histories.keys() == receipt.histories.keys()


def _undetermined(part: Part) -> Part:
    return replace(part, measured=Measured.UNDETERMINED, label=Label.INCONCLUSIVE, histories=(), findings=())


def test_what_was_measured_of_other_distributions_is_not_added(receipt: Receipt) -> None:
    other = replace(receipt, pins={plane: {"langgraph": "0"} for plane in receipt.pins}, cells=())
    with pytest.raises(ReceiptUnreadable, match="other distributions"):
        extend(receipt, other)


def _audit(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["audit", *arguments])


def test_audit_tells_agreement_and_disagreement_by_its_exit_code(receipt: Receipt, tmp_path: Path) -> None:
    file = tmp_path / "receipt.json"
    write(compact(receipt), file)
    done = _audit(str(tmp_path))
    assert done.exit_code == 0, done.output
    assert ": agree\n" in done.output
    assert "measured without these probes: crash/every-point" in done.output
    assert "crash/exception" not in done.output
    assert "fork/…" in done.output
    assert "fork/two-values" not in done.output
    write(_edit(receipt, label=Label.UNDOCUMENTED, edit=lambda _, part: replace(part, label=Label.HOLDS)), file)
    done = _audit(str(file))
    assert done.exit_code == 1
    assert "says breaches, holds" in done.output


def test_audit_can_write_what_the_histories_say(receipt: Receipt, tmp_path: Path) -> None:
    file = tmp_path / "receipt.json"
    write(_edit(receipt, label=Label.UNDOCUMENTED, edit=lambda _, part: replace(part, label=Label.HOLDS)), file)
    assert _audit(str(file), "--update").exit_code == 0
    assert read_receipt(file) == receipt


def test_a_folder_without_receipts_is_a_mistake(tmp_path: Path) -> None:
    assert _audit(str(tmp_path)).exit_code == 2
