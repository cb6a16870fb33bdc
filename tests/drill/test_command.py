"""`resumption drill`, as its users call it."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from resumption.cli import main
from resumption.contract.verdicts import Label
from resumption.harness.receipts import read_receipt
from resumption.history.workload import Workload
from resumption.planes.drill.settings import VARIABLE, Settings
from resumption.planes.interface import Store

_ROOT = Path(__file__).parent.parent.parent
_PAYMENT = (
    "examples.payment_approval:program",
    "--effect",
    "examples.payment_approval:charge",
    "--input",
    '{"amount": 100}',
)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs beside these tests are to be found."""
    monkeypatch.chdir(Path(__file__).parent)


def _drill(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["drill", *arguments])


def _processor_seconds() -> float:
    """What the processes that this one started, and reaped, have taken of the processors."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_the_payment_is_charged_twice_as_it_is_and_once_guarded_within_a_minute(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(_ROOT)
    file = tmp_path / "receipt.json"
    before_all = _processor_seconds()
    result = _drill(*_PAYMENT, "--decide", "yes", "--guarded", "--json", str(file))
    assert result.exit_code == 0, result.output
    assert _processor_seconds() - before_all < 60  # and not of the wall clock, which knows who else is at work
    before, _, after = " ".join(result.stdout.split()).partition("With guard() and @effect")
    assert 'effect `charge` of `pay` with {"amount": 100} fired 2 times; without faults, once' in before
    assert "killed at effect:charge:after, resumed by invoke(None)" in before
    assert "process 1 reached its kill point effect:charge:after" in before
    assert "What to do: Put the call behind @effect" in before
    assert "0 of them with a finding" in after
    labels = {(cell.path, cell.label) for cell in read_receipt(file).cells}
    assert ("stock", Label.VIOLATES) in labels
    assert {label for path, label in labels if path == "guarded"} == {Label.HOLDS}


def test_a_finding_fails_the_run_and_every_report_can_be_made_of_its_receipt(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(_ROOT)
    file = tmp_path / "receipt.json"
    assert _drill(*_PAYMENT, "--decide", '"alice"', "--json", str(file)).exit_code == 1
    for format_ in ("html", "junit", "sarif", "markdown"):
        report = CliRunner().invoke(main, ["report", str(file), "--format", format_])
        assert report.exit_code == 0, report.output
        assert "fired 2 times" in report.stdout


def test_what_the_time_did_not_suffice_for_is_told_and_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(_ROOT)
    result = _drill(*_PAYMENT, "--decide", "yes", "--time", "1", "--fail-on", "never")
    assert result.exit_code == 3, result.output
    assert "30 more protocols were left out" in result.stdout


def test_two_runs_without_faults_that_differ_are_told_so_and_nothing_is_concluded(here: None) -> None:
    result = _drill("programs.odd:unsteady", "--effect", "programs.odd:charge")
    assert result.exit_code == 3, result.output
    assert "two runs without faults differ" in result.stdout
    assert "the final state differs in number" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nosuch:graph", "--effect", "programs.odd:charge"], "[RSM-601] nosuch:graph can't be imported"),
        (["programs.odd:without_effects", "--effect", "programs.odd:charge"], "[RSM-605] None of the effects"),
        (["programs.faulty:swallowed_second_answer", "--effect", "programs.faulty:charge"], "[RSM-606] The gate ask"),
        (["programs.odd:failing", "--effect", "programs.odd:charge"], "[RSM-607] programs.odd:failing doesn't come"),
        (["programs.odd:failing", "--effect", "programs.odd:charge", "--input", "{"], "--input: '{' is no JSON"),
        (
            ["programs.odd:failing", "--effect", "programs.odd:charge", "--decide", "pay=("],
            "--decide pay: '(' is no JSON",
        ),
        (["programs.odd:failing", "--effect", "programs.odd:charge", "--input", "NaN"], "NaN is no JSON"),
        (["programs.odd:failing", "--effect", "programs.odd:charge", "--input", "1e999"], "too large"),
        (["programs.odd:failing", "--effect", "programs.odd:charge", "--input", '"\\ud800"'], "surrogates not allowed"),
        (["programs.odd:failing", "--effect", "programs.odd:charge", "--input", "[" * 99999], "is no JSON"),
        (["programs.odd:failing", "--effect", "programs.odd:charge", "--stub", "x"], "--stub 'x': write NAME=VALUE"),
        (
            ["programs.odd:failing", "--effect", "programs.odd:charge", "--key", "a:b=c"],
            "--key a:b: that is no --effect",
        ),
    ],
)
def test_a_mistake_is_told_in_one_line(here: None, arguments: list[str], said: str) -> None:
    result = _drill(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    told = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert len(told) == 1
    assert said in told[0]


@pytest.mark.parametrize(
    ("target", "effect", "stubs", "said"),
    [
        ("programs.odd", "charge", {}, "'programs.odd' names nothing"),
        ("programs.odd:NOT_A_GRAPH", "charge", {}, "programs.odd:NOT_A_GRAPH is a int, not a graph"),
        ("programs.odd:broken_factory", "charge", {}, "The factory programs.odd:broken_factory failed"),
        ("programs.odd:without_an_end", "charge", {}, "programs.odd:without_an_end can't be given a checkpointer"),
        ("programs.odd:failing", "nosuch", {}, "programs.odd:nosuch can't be imported"),
        ("programs.odd:failing", "Receipt", {}, "programs.odd:Receipt is a ModelMetaclass, and no function"),
        ("programs.odd:failing", "generator", {}, "programs.odd:generator can't be exchanged"),
        ("programs.odd:with_a_receipt", "receipt", {}, "Nothing empty stands for what programs.odd:receipt returns"),
        ("programs.odd:with_a_receipt", "receipt", {"programs.odd:receipt": {}}, "can't be {}: Field required"),
    ],
)
def test_a_look_at_the_program_tells_what_is_wrong_with_what_was_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, target: str, effect: str, stubs: Any, said: str
) -> None:
    from resumption.planes.drill.survey import open_run

    folder = str(Path(__file__).parent)
    settings = Settings(target=target, input=None, effects=(f"programs.odd:{effect}",), stubs=stubs, folder=folder)
    monkeypatch.setenv(VARIABLE, settings.encode())
    monkeypatch.syspath_prepend(folder)
    found = open_run(Workload(()), Store("sqlite", tmp_path), None).inspect().trail  # type: ignore[arg-type]  # nothing is recorded
    assert said in found["what"]


def test_a_stub_returns_what_was_said_as_what_its_annotation_asks_for(here: None) -> None:
    stubs = ("--stub", 'programs.odd:receipt={"number": 7}', "--stub", "programs.odd:rate=2")
    result = _drill("programs.odd:with_a_receipt", "--effect", "programs.odd:receipt", *stubs)
    assert "receipt of pay fires once without faults" in result.stdout
    assert result.exit_code == 1, result.output


def test_nothing_is_left_behind_in_the_folder_of_the_program(tmp_path: Path) -> None:
    program = tmp_path / "app.py"
    program.write_text((Path(__file__).parent / "programs" / "sound.py").read_text())
    command = [Path(sys.executable).with_name("resumption"), "drill", "app:ledgered", "--effect", "app:send"]
    done = subprocess.run(
        [*command, "--key", "app:send=idempotency_key", "--decide", "yes"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == [program]
