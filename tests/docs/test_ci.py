"""What the documentation gives to continuous integration is run: the steps of the action, and the job for GitLab."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from snippets import ROOT, blocks

_PAGE = Path("docs/guides/ci.md")
_WRITTEN = {"badge.json", "junit.xml", "receipt.json", "report.html", "report.md", "report.sarif"}


def _action() -> dict[str, Any]:
    action: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    return action


def _workflows() -> dict[str, dict[str, Any]]:
    return {block.title: yaml.safe_load(block.body) for block in blocks(_PAGE, "yaml")}


class _Job:
    """Runs steps as the runner does: each in bash, with its own environment, and what earlier steps put out."""

    def __init__(self, folder: Path, inputs: dict[str, str]) -> None:
        self.folder = folder
        self.inputs = {name: str(said["default"]) for name, said in _action()["inputs"].items()} | inputs
        self.outputs: dict[str, dict[str, str]] = {}

    def run(self, step: dict[str, Any]) -> int:
        """Run one step; return its exit code."""
        written, summary = self.folder / "output", self.folder / "summary"
        written.write_text("")
        environment = {name: self._filled(value) for name, value in step.get("env", {}).items()}
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.folder,
            env={**os.environ, "PATH": path, "GITHUB_OUTPUT": str(written), "GITHUB_STEP_SUMMARY": str(summary)}
            | environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if "id" in step:
            self.outputs[step["id"]] = dict(line.split("=", 1) for line in written.read_text().splitlines())
        return done.returncode

    def _filled(self, value: str) -> str:
        def look_up(found: re.Match[str]) -> str:
            where, *names = found[1].split(".")
            return self.inputs[names[0]] if where == "inputs" else self.outputs[names[0]][names[-1]]

        return re.sub(r"\$\{\{ ([\w.-]+) \}\}", look_up, value)


@pytest.mark.parametrize(
    ("plane", "fail_on", "code"), [("reference", "violation", 0), ("faulty-double-consume", "breach", 1)]
)
def test_the_action_measures_reports_and_then_passes_or_fails(
    tmp_path: Path, plane: str, fail_on: str, code: int
) -> None:
    job = _Job(tmp_path, {"planes": plane, "arguments": "--probe consume/stray", "fail-on": fail_on})
    install, measure, report, keep, verdict = _action()["runs"]["steps"]
    assert install["run"] == 'python -m pip install --quiet "$ACTION"'
    assert (job.run(measure), job.run(report)) == (0, 0)
    assert keep["if"] == "always()"
    assert {file.name for file in (tmp_path / "resumption-report").iterdir()} == _WRITTEN
    assert "Resume conformance" in (tmp_path / "summary").read_text(encoding="utf-8")
    assert job.run(verdict) == code
    assert job.outputs["check"] == {"code": str(code), "receipt": "resumption-report/receipt.json"}
    assert (tmp_path / job.outputs["report"]["sarif"]).is_file()


def test_the_action_against_a_baseline_takes_known_breaches_for_no_errors(tmp_path: Path) -> None:
    known = {"planes": "faulty-double-consume", "arguments": "--probe consume/stray"}
    first = _Job(tmp_path, known | {"fail-on": "breach", "folder": "first"})
    _, measure, report, _, verdict = _action()["runs"]["steps"]
    assert (first.run(measure), first.run(report), first.run(verdict)) == (0, 0, 1)
    second = _Job(tmp_path, known | {"fail-on": "drift", "baseline": "first/receipt.json"})
    assert (second.run(measure), second.run(report), second.run(verdict)) == (0, 0, 0)
    assert 'failures="0"' in (tmp_path / "resumption-report/junit.xml").read_text(encoding="utf-8")
    assert "nothing changed" in (tmp_path / "summary").read_text(encoding="utf-8")


def test_the_action_fails_where_nothing_could_be_measured(tmp_path: Path) -> None:
    job = _Job(tmp_path, {"planes": "nosuch"})
    _, measure, report, _, verdict = _action()["runs"]["steps"]
    assert (job.run(measure), job.run(report), job.run(verdict)) == (0, 0, 2)


def test_the_action_s_inputs_reach_the_shell_as_data(tmp_path: Path) -> None:
    assert all("${{" not in step.get("run", "") for step in _action()["runs"]["steps"])
    job = _Job(tmp_path, {"planes": "reference; touch owned", "arguments": "$(touch owned)"})
    job.run(_action()["runs"]["steps"][1])
    assert not (tmp_path / "owned").exists()


def test_the_workflow_uses_inputs_and_outputs_that_the_action_has() -> None:
    steps = _workflows()[".github/workflows/resume.yml"]["jobs"]["contract"]["steps"]
    (used,) = [step for step in steps if "resumption@" in step.get("uses", "")]
    assert set(used["with"]) <= set(_action()["inputs"])
    said = {name for step in steps for name in re.findall(r"steps\.resume\.outputs\.(\w+)", str(step))}
    assert said
    assert said <= set(_action()["outputs"])


def test_every_input_and_output_of_the_action_is_documented() -> None:
    page = (ROOT / _PAGE).read_text(encoding="utf-8")
    assert [name for name in (*_action()["inputs"], *_action()["outputs"]) if f"`{name}`" not in page] == []


def test_the_job_for_gitlab_writes_what_it_keeps(tmp_path: Path) -> None:
    job = _workflows()[".gitlab-ci.yml"]["resume"]
    install, *script = job["script"]
    assert install.startswith("pip install ")
    for line in script:
        measured = line.replace('"langgraph[sqlite]"', "reference --probe consume/stray")
        assert _Job(tmp_path, {}).run({"run": measured}) == 0, line
    kept = [*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"]]
    assert [name for name in kept if not (tmp_path / name).is_file()] == []
