"""The example of an adapter is found by its entry point, runs, and comes out as its page says."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from snippets import ROOT, Command, blocks, missing

EXAMPLE = ROOT / "examples" / "journal"


@pytest.fixture
def installed(tmp_path: Path) -> dict[str, str]:
    """Variables under which the example is there as `pip install` would leave it: its modules, and its metadata."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    about = tmp_path / f"journal_flow-{project['version']}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = project["entry-points"]
    lines = [line for group in groups for line in (f"[{group}]", *(f"{k} = {v}" for k, v in groups[group].items()))]
    (about / "entry_points.txt").write_text("\n".join(lines))
    return {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{EXAMPLE}"}


def _measured() -> Command:
    """The command of the page that measures the example."""
    shown = [command for block in blocks(Path("docs/adapters.md"), "text") for command in block.commands()]
    return next(command for command in shown if command.line.startswith("resumption check journal"))


def test_the_example_is_measured_as_its_page_shows(installed: dict[str, str], tmp_path: Path) -> None:
    command = _measured()
    done = subprocess.run(
        [str(Path(sys.executable).parent / "resumption"), *shlex.split(command.line)[1:]],
        cwd=tmp_path,
        env=installed,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert missing(command.output, done.stdout) == ""
    assert "inconclusive" not in done.stdout


def test_the_example_is_small_enough_to_be_read() -> None:
    assert len((EXAMPLE / "journal_plane" / "flow.py").read_text().splitlines()) < 100
