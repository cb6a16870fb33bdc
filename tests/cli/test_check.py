"""`resumption check`, as its users call it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from resumption.cli import main
from resumption.contract.verdicts import Label
from resumption.harness.receipts import read_receipt, stable_view

_MODULE = sys.modules["resumption.cli.check"]  # the package exports the command under the module's name
_FORKS = ["langgraph[sqlite]", "--probe", "fork/two-values"]
_DIRECT = "langgraph/graph/sqlite/FD/fork/direct"


def _check(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["check", *arguments])


@pytest.fixture(scope="module")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A receipt of LangGraph's forks, which hold a violation."""
    file = tmp_path_factory.mktemp("receipts") / "forks.json"
    assert _check(*_FORKS, "--json", str(file)).exit_code == 1
    return file


def test_the_reference_is_clean() -> None:
    result = _check("reference", "--probe", "fork/", "--probe", "consume/stray")
    assert result.exit_code == 0, result.output
    assert "violates" not in result.stdout


def test_a_violation_fails_the_run_and_its_story_is_told(forks: Path) -> None:
    cells = {cell.identity: cell for cell in read_receipt(forks).cells}
    assert cells[_DIRECT].label is Label.VIOLATES
    result = _check(*_FORKS)
    assert result.exit_code == 1
    assert "✗ FD violates" in result.stdout
    assert "was served" in result.stdout


def test_never_measures_only() -> None:
    assert _check(*_FORKS, "--fail-on", "never").exit_code == 0


def test_an_accepted_cell_does_not_fail_the_run_and_its_reason_is_shown(forks: Path) -> None:
    violating = [cell.identity for cell in read_receipt(forks).cells if cell.label is Label.VIOLATES]
    pairs = [word for cell in violating for word in ("--accept", cell, "--reason", f"known of {cell}")]
    result = _check(*_FORKS, *pairs)
    assert result.exit_code == 0, result.output
    assert f"accepted because: known of {_DIRECT}" in " ".join(result.stdout.split())


def test_the_same_behaviour_has_no_drift(forks: Path) -> None:
    result = _check(*_FORKS, "--fail-on", "drift", "--baseline", str(forks))
    assert result.exit_code == 0, result.output
    assert "nothing changed" in result.stdout


def test_another_behaviour_drifts(forks: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text(forks.read_text().replace('"label": "violates"', '"label": "holds"'))
    result = _check(*_FORKS, "--fail-on", "drift", "--baseline", str(other))
    assert result.exit_code == 1
    assert "holds to violates" in result.stdout


def test_cells_that_the_baseline_lacks_are_shown_as_new(forks: Path) -> None:
    result = _check("langgraph[sqlite]", "--probe", "fork/", "--baseline", str(forks), "--fail-on", "never")
    assert result.exit_code == 0, result.output
    assert "new, " in result.stdout


def test_a_receipt_and_the_stable_view_are_written(tmp_path: Path) -> None:
    receipt, stable = tmp_path / "receipt.json", tmp_path / "stable.json"
    result = _check("reference", "--probe", "fork/two", "--json", str(receipt), "--stable", str(stable))
    assert result.exit_code == 0, result.output
    assert stable_view(read_receipt(receipt)) == stable.read_bytes()


def test_strict_shows_the_cells_that_it_moves() -> None:
    result = _check("langgraph[sqlite]", "--probe", "interrupt/code-before", "--strict")
    assert result.exit_code == 1
    assert "Moved by the strict rule" in result.stdout
    assert "divergent to violates" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nosuch"], "There is no plane called 'nosuch'"),
        (["--probe", "nosuch"], "No probe's address begins with 'nosuch'"),
        (["langgraph[nosuch]"], "has no backend called 'nosuch'"),
        (["--json", "nosuch/receipt.json"], "nosuch/receipt.json can't be written"),
        (["--stable", "nosuch/stable.json"], "nosuch/stable.json can't be written"),
        (["--baseline", "nosuch.json"], "The receipt nosuch.json can't be read"),
        (["--fail-on", "drift"], "--fail-on drift compares with a --baseline"),
        (["--accept", _DIRECT], "Each --accept CELL needs one --reason TEXT"),
        (["--reason", "why"], "Each --accept CELL needs one --reason TEXT"),
        (["--accept", _DIRECT, "--reason", " "], "Each --accept CELL needs one --reason TEXT"),
        (["--accept", "langgraph/graph/sqlite/XX", "--reason", "why"], "this run has no such cell"),
        (["--accept", _DIRECT.removesuffix("/fork/direct"), "--reason", "why"], f"There is {_DIRECT}, "),
        (["--accept", _DIRECT.replace("graph", "grpah"), "--reason", "why"], _DIRECT),
        (["--jobs", "0"], "0 is not in the range"),
    ],
)
def test_a_mistake_is_told_in_one_line_before_anything_is_measured(
    arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def measure(*_: object, **__: object) -> None:
        raise AssertionError("something was measured")

    monkeypatch.setattr(_MODULE, "measure", measure)
    monkeypatch.chdir(tmp_path)
    result = _check(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    told = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert len(told) == 1
    assert said in told[0]
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_holds_something_is_not_kept_in(tmp_path: Path) -> None:
    (tmp_path / "old").touch()
    result = _check("--keep", str(tmp_path))
    assert result.exit_code == 2
    assert "isn't empty" in result.stderr


def test_what_is_kept_stays(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    assert _check("reference", "--probe", "fork/two", "--keep", str(folder)).exit_code == 0
    assert list(folder.rglob("history.ndjson"))
    assert list(folder.rglob("zygote.log"))


def test_a_baseline_of_another_format_is_refused(tmp_path: Path, forks: Path) -> None:
    old = tmp_path / "old.json"
    old.write_text(forks.read_text().replace("resumption.receipt/1", "resumption.receipt/0"))
    result = _check("--baseline", str(old))
    assert result.exit_code == 2
    assert "has the format 'resumption.receipt/0'" in result.stderr


def test_a_broken_installation_is_one_line_and_inconclusive(tmp_path: Path) -> None:
    shim = tmp_path / "langgraph"
    shim.mkdir()
    (shim / "__init__.py").write_text("raise ImportError('half installed')\n")
    done = subprocess.run(
        [Path(sys.executable).with_name("resumption"), "check", *_FORKS],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert done.stdout == ""
    assert "[RSM-301]" in done.stderr
    assert "half installed" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "arguments",
    [["check"], ["compare", "langgraph@1.2.9", "langgraph@1.2.24"], ["sweep", "langgraph", "--versions", "1.2.9"]],
)
def test_windows_is_pointed_to_wsl(arguments: list[str]) -> None:
    program = f"""
import sys
sys.modules.update(fcntl=None, pwd=None, termios=None)  # what Windows doesn't have
from resumption.cli import main
sys.platform = "win32"
main({arguments!r})
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "WSL" in done.stderr
