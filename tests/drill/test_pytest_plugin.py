"""The fixture `drill`, as a user's tests call it: in runs of pytest of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from resumption.contract.verdicts import Label
from resumption.harness.receipts import Receipt, read_receipt

_APP = (Path(__file__).parent / "programs" / "faulty.py").read_text()
_SOUND = (Path(__file__).parent / "programs" / "sound.py").read_text()

_TESTS = """
import pytest
import sound

pytestmark = pytest.mark.drill(keys={"sound:send": "idempotency_key"}, decide="yes")


def test_sound(drill):
    assert drill(sound.ledgered, effects=[sound.send]).twin.answered[0].gate.name == "pay"


@pytest.mark.drill(keys={}, input={"items": ["a"]})
def test_faulty(drill):
    drill("app:duplicate_in_a_loop", effects=["app:charge"])
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A user's project: two programs, and tests that drill them."""
    (tmp_path / "app.py").write_text(_APP)
    (tmp_path / "sound.py").write_text(_SOUND)
    (tmp_path / "test_app.py").write_text(_TESTS)
    return tmp_path


def _pytest(project: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--strict-markers", *arguments]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    return " ".join(done.stdout.split())


def _labels(receipt: Receipt) -> dict[str, set[Label]]:
    labels: dict[str, set[Label]] = {}
    for cell in receipt.cells:
        labels.setdefault(cell.plane, set()).add(cell.label)
    return labels


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_failing_drill_shows_its_story_and_all_drills_are_in_one_receipt(project: Path, workers: str) -> None:
    said = _pytest(project, "-n", workers, "--resumption-json", "receipt.json")
    assert "1 failed, 1 passed" in said
    assert 'effect `charge` of `pay` with {"item": "a"} fired 2 times; without faults, once' in said
    assert "effect `charge` of task `pay` fired on branch b0" in said
    assert "What to do: Put the call behind @effect" in said
    labels = _labels(read_receipt(project / "receipt.json"))
    assert Label.VIOLATES in labels["app:duplicate_in_a_loop"]
    assert labels["sound:ledgered"] == {Label.HOLDS}


def test_a_run_that_drills_nothing_says_so_and_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_nothing.py").write_text("def test_nothing():\n    assert not 1\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--resumption-json", "receipt.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "no test drilled anything, so receipt.json was not written" in done.stderr
    assert not (tmp_path / "receipt.json").exists()


def _failing(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_receipt_that_cannot_be_written_is_refused_before_a_test_runs(tmp_path: Path) -> None:
    (tmp_path / "test_nothing.py").write_text("def test_nothing():\n    assert not 1\n")
    done = _failing(tmp_path, "--resumption-json", "nosuch/receipt.json")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "--resumption-json: [RSM-104] nosuch/receipt.json can't be written" in done.stderr
    assert "passed" not in done.stdout


def test_what_has_no_name_to_import_it_by_is_refused_with_advice(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_it(drill):\n    drill(object(), effects=['app:charge'])\n")
    assert "a object has no name to import it by: write 'module:name'" in _failing(tmp_path).stdout


def test_a_mistake_in_what_is_asked_for_is_shown_at_the_test_and_not_within_the_harness(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_it(drill):\n    drill('nosuch:graph', effects=['nosuch:charge'])\n")
    said = _failing(tmp_path).stdout
    assert "TargetNotFound: [RSM-601]" in said
    assert "drill('nosuch:graph'" in said
    assert "engine.py" not in said
    assert "pytest_plugin.py" not in said


def test_without_the_framework_other_tests_run_and_a_drill_says_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "langgraph.py").write_text("raise ImportError('not installed')\n")
    (tmp_path / "test_it.py").write_text(
        "def test_other():\n    pass\n\n\ndef test_it(drill):\n    drill('app:graph', effects=['app:charge'])\n"
    )
    done = _failing(tmp_path)
    assert "1 failed, 1 passed" in done.stdout
    assert "not installed" in done.stdout
