"""`resumption replay`: what failed is run again, and told as fixed, failed or changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from resumption.cli import main
from resumption.contract.verdicts import Finding, Label, Measured
from resumption.harness.drill.request import Request
from resumption.harness.policy import ExitCode
from resumption.harness.receipts import Cell, Part, Receipt, read_receipt, write
from resumption.harness.replay import Change, compare, exit_code_of, failures

_FORK_IGNORED = "faulty-fork-ignore"


def _invoke(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A receipt of a plane with one fault."""
    file = tmp_path_factory.mktemp("receipts") / "check.json"
    result = _invoke("check", _FORK_IGNORED, "--probe", "fork/two-values", "--fail-on", "breach", "--json", str(file))
    assert result.exit_code == 1, result.output
    return file


def test_what_failed_in_a_check_fails_again(checked: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.json"
    result = _invoke("replay", str(checked), "--json", str(again))
    assert result.exit_code == 1, result.output
    assert "FAILED" in result.stdout
    assert "FIXED" not in result.stdout
    assert failures(read_receipt(again))


def test_what_failed_in_a_check_and_holds_now_is_fixed(checked: Path, tmp_path: Path) -> None:
    mended = tmp_path / "mended.json"
    # The same failures, said of a plane that doesn't have the fault.
    mended.write_text(checked.read_text().replace(f'"plane": "{_FORK_IGNORED}"', '"plane": "reference"'))
    receipt = read_receipt(mended)
    assert failures(receipt)
    result = _invoke("replay", str(mended))
    assert result.exit_code == 0, result.output
    assert "FIXED" in result.stdout
    assert "FAILED" not in result.stdout


def test_what_failed_in_a_drill_is_fixed_by_mending_the_program(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    source = (Path(__file__).parent / "programs" / "faulty.py").read_text()
    program = tmp_path / "app.py"
    program.write_text(source)
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "drill.json"
    drilled = _invoke("drill", "app:invalid_state", "--effect", "app:charge", "--json", str(file))
    assert drilled.exit_code == 1, drilled.output
    before = {failure.cell.property for failure in failures(read_receipt(file))}
    program.write_text(source.replace('{"names": [None]}', '{"names": ["a"]}'))
    result = _invoke("replay", str(file))
    told = result.stdout.splitlines()
    # The state is valid now; the effect fires twice as before.
    assert any("FIXED" in line and "/CV" in line for line in told), result.output
    assert any("FAILED" in line and "/EO" in line for line in told), result.output
    assert result.exit_code == 1
    assert len(before) > 1


def test_a_receipt_in_which_nothing_failed_has_nothing_to_run_again(checked: Path, tmp_path: Path) -> None:
    clean = replace(read_receipt(checked), cells=())
    file = tmp_path / "clean.json"
    write(clean, file)
    result = _invoke("replay", str(file))
    assert result.exit_code == 0
    assert "Nothing failed" in result.stdout


def _of_a_drill(checked: Path, file: Path, request: Request) -> Path:
    """The receipt as if its failures were those of a drill."""
    receipt = read_receipt(checked)
    write(replace(receipt, drills={cell.plane: request.encode() for cell in receipt.cells}), file)
    return file


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (Request(target="app:graph", effects=("app:charge",), real_effects=True), "called its effects for real"),
        (Request(target="app:graph", effects=("app:charge",), folder="nosuch"), "in nosuch, which is no folder here"),
    ],
)
def test_a_drill_that_cannot_be_run_again_as_it_was_is_refused(
    checked: Path, tmp_path: Path, request_: Request, said: str
) -> None:
    result = _invoke("replay", str(_of_a_drill(checked, tmp_path / "drill.json", request_)))
    assert result.exit_code == 2, result.output
    assert "[RSM-609]" in result.stderr
    assert said in result.stderr


def test_an_audit_says_that_it_cannot_judge_a_drill_and_passes_nothing(checked: Path, tmp_path: Path) -> None:
    file = _of_a_drill(checked, tmp_path / "drill.json", Request(target="app:graph", effects=("app:charge",)))
    result = _invoke("audit", str(file))
    assert result.exit_code == 3, result.output
    assert "cells of drills: not judged again (resumption replay runs them again)" in result.stdout


def _receipt(checked: Path, label: Label, measured: Measured, summary: str) -> Receipt:
    """The receipt with its first failure exchanged for this one."""
    receipt = read_receipt(checked)
    failure = failures(receipt)[0]
    findings = (Finding(summary, ()),) if measured is Measured.BREACHES else ()
    part: Part = replace(failure.part, label=label, measured=measured, findings=findings)
    cell: Cell = replace(failure.cell, parts=(part,))
    return replace(receipt, cells=(cell,))


@pytest.mark.parametrize(
    ("label", "measured", "summary", "change", "code"),
    [
        (Label.VIOLATES, Measured.BREACHES, "fired 2 times", Change.FAILED, ExitCode.FINDINGS),
        (Label.VIOLATES, Measured.BREACHES, "fired 3 times", Change.FAILED, ExitCode.FINDINGS),
        (Label.VIOLATES, Measured.BREACHES, "never fired", Change.CHANGED, ExitCode.FINDINGS),
        (Label.DIVERGENT, Measured.BREACHES, "fired 2 times", Change.CHANGED, ExitCode.FINDINGS),
        (Label.INCONCLUSIVE, Measured.UNDETERMINED, "", Change.CHANGED, ExitCode.INCONCLUSIVE),
        (Label.HOLDS, Measured.CONFORMS, "", Change.FIXED, ExitCode.CLEAN),
    ],
)
def test_a_failure_is_compared_by_its_label_and_by_what_is_told_of_it(
    checked: Path, label: Label, measured: Measured, summary: str, change: Change, code: ExitCode
) -> None:
    before = _receipt(checked, Label.VIOLATES, Measured.BREACHES, "fired 2 times")
    (replayed,) = compare(failures(before), _receipt(checked, label, measured, summary))
    assert replayed.change is change
    assert exit_code_of([replayed]) is code


def test_what_is_not_measured_any_more_is_no_fix(checked: Path) -> None:
    before = _receipt(checked, Label.VIOLATES, Measured.BREACHES, "fired 2 times")
    (replayed,) = compare(failures(before), replace(before, cells=()))
    assert replayed.change is Change.CHANGED
    assert exit_code_of([replayed]) is ExitCode.INCONCLUSIVE
