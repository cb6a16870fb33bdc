"""`resumption report`, as its users call it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from resumption.cli import main
from resumption.harness.receipts import read_receipt


def _run(*arguments: str | Path, **environment: str) -> Result:
    return CliRunner().invoke(main, [*map(str, arguments)], env=environment)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A receipt of a plane that fires twice."""
    file = tmp_path_factory.mktemp("receipts") / "receipt.json"
    result = _run("check", "faulty-double-consume", "--probe", "consume/", "--json", file, "--fail-on", "never")
    assert result.exit_code == 0, result.output
    return file


def test_text_is_what_check_printed(tmp_path: Path) -> None:
    file = tmp_path / "receipt.json"
    checked = _run("check", "reference", "--probe", "fork/two-values", "--json", file)
    assert _run("report", file).stdout == checked.stdout


def test_the_suffix_says_the_format(measured: Path, tmp_path: Path) -> None:
    for name, beginning in {
        "a.html": "<!doctype html>",
        "a.md": "## Resume conformance",
        "a.xml": '<?xml version="1.0"',
        "a.sarif": '{\n "$schema"',
    }.items():
        result = _run("report", measured, "-o", tmp_path / name)
        assert (result.exit_code, result.output) == (0, "")
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(beginning)


def test_the_format_can_be_named(measured: Path) -> None:
    assert json.loads(_run("report", measured, "--format", "badge").stdout)["label"] == "resume contract"
    root = ElementTree.fromstring(_run("report", measured, "--format", "junit").stdout)
    assert int(root.get("tests", "0")) == len(read_receipt(measured).cells)


def test_a_breach_of_a_plane_fails_in_junit_as_in_check(measured: Path) -> None:
    strict = ElementTree.fromstring(_run("report", measured, "--format", "junit", "--strict").stdout)
    assert int(strict.get("failures", "0")) > 0
    never = ElementTree.fromstring(_run("report", measured, "--format", "junit", "--fail-on", "never").stdout)
    assert never.get("failures") == "0"


def test_github_gets_annotations_and_appends_to_the_summary_of_the_step(measured: Path, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n", encoding="utf-8")
    result = _run("report", measured, "--format", "github", GITHUB_STEP_SUMMARY=str(summary))
    assert all(line.startswith("::") for line in result.stdout.splitlines())
    assert summary.read_text(encoding="utf-8").startswith("before\n## Resume conformance")


def test_a_page_can_tell_what_changed_since_an_earlier_receipt(measured: Path, tmp_path: Path) -> None:
    result = _run("report", measured, "-o", tmp_path / "page.html", "--since", measured)
    assert (result.exit_code, result.output) == (0, "")
    assert "0 regressed, 0 fixed" in (tmp_path / "page.html").read_text(encoding="utf-8")


def _steady_and_drifted(measured: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Baselines from which a receipt of known breaches doesn't differ, and differs in one label."""
    text = measured.read_text(encoding="utf-8")
    other = tmp_path / "other.json"
    other.write_text(text.replace('"label": "undocumented"', '"label": "holds"'), encoding="utf-8")
    assert other.read_text(encoding="utf-8") != text
    return measured, other


def test_where_drift_counts_known_breaches_are_no_errors_and_changes_are(measured: Path, tmp_path: Path) -> None:
    steady, drifted = _steady_and_drifted(measured, tmp_path)
    drift = ("report", measured, "--fail-on", "drift", "--since")
    calm, loud = (_run(*drift, before, "--format", "github").stdout for before in (steady, drifted))
    assert ("::error" in calm, "::notice" in calm, "::error" in loud) == (False, True, True)
    calm, loud = (_run(*drift, before, "--format", "junit").stdout for before in (steady, drifted))
    assert ElementTree.fromstring(calm).get("failures") == "0"
    assert "holds to undocumented" in loud
    calm, loud = (_run(*drift, before, "--format", "sarif").stdout for before in (steady, drifted))
    assert ('"level": "error"' in calm, '"level": "error"' in loud) == (False, True)


def test_where_drift_counts_what_was_fixed_is_annotated_too(measured: Path, tmp_path: Path) -> None:
    _, fixed = _steady_and_drifted(measured, tmp_path)
    receipt = json.loads(fixed.read_text(encoding="utf-8"))
    for part in (part for cell in receipt["cells"] for part in cell["parts"]):
        part["findings"] = []
    fixed.write_text(json.dumps(receipt), encoding="utf-8")
    said = _run("report", fixed, "--format", "github", "--fail-on", "drift", "--since", measured).stdout
    assert re.search(r"::error title=Against the baseline%3A .*undocumented to holds::On faulty-double-consume/", said)


def test_a_probe_that_the_whole_receipt_lacks_counts_as_drift_unless_it_was_not_chosen(
    measured: Path, tmp_path: Path
) -> None:
    receipt = json.loads(measured.read_text(encoding="utf-8"))
    lost = receipt["cells"][0]["parts"][0]["probe"]
    for cell in receipt["cells"]:
        cell["parts"] = [part for part in cell["parts"] if part["probe"] != lost]
    receipt["cells"] = [cell for cell in receipt["cells"] if cell["parts"]]
    assert receipt["cells"]
    assert lost in receipt["probes"]
    less = tmp_path / "less.json"
    drift = ("report", less, "--fail-on", "drift", "--format", "github", "--since", measured)
    less.write_text(json.dumps(receipt), encoding="utf-8")
    assert re.search(rf"::error title=Against the baseline.*{lost}", _run(*drift).stdout)
    receipt["probes"].remove(lost)
    less.write_text(json.dumps(receipt), encoding="utf-8")
    assert "::error" not in _run(*drift).stdout


def test_text_and_markdown_name_the_releases_that_are_compared(measured: Path, tmp_path: Path) -> None:
    older = tmp_path / "older.json"
    text = re.sub(r'"version": "[^"]*"', '"version": "1.2.9"', measured.read_text(encoding="utf-8"))
    older.write_text(text, encoding="utf-8")
    told = " ".join(_run("report", measured, "--since", older).stdout.split())
    assert "Against the baseline faulty-double-consume 1.2.9 then, faulty-double-consume" in told
    assert "now nothing changed" in told
    assert "as now" in _run("report", measured, "--since", measured).stdout
    said = _run("report", measured, "--since", older, "--format", "markdown").stdout
    assert "Against the baseline, faulty-double-consume 1.2.9: nothing changed." in said


@pytest.mark.parametrize("form", ["junit", "sarif", "github", "badge"])
def test_since_is_refused_where_it_would_tell_nothing(measured: Path, form: str) -> None:
    result = _run("report", measured, "--format", form, "--since", measured)
    assert (result.exit_code, f"{form} can't tell what changed" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--format", "html", "--race", "no.json"), "The race no.json can't be read"),
        (("--format", "html", "--race", __file__), "is no race"),
        (("--format", "junit", "--since", "no.json"), "The receipt no.json can't be read"),
        (("--fail-on", "drift"), "counts what changed --since a receipt"),
        (("--format", "text", "--race", "no.json"), "--race is for html"),
        (("-o", "report.pdf"), "Name a --format"),
        (("--format", "text", "-o", "report.txt"), "text is for the terminal"),
        (("-o", "no/such/folder/report.html"), "[RSM-104]"),
    ],
)
def test_what_cannot_be_written_is_one_line(measured: Path, arguments: tuple[str, ...], said: str) -> None:
    result = _run("report", measured, *arguments)
    assert result.exit_code == 2
    assert said in result.stderr


def test_what_is_no_receipt_is_refused(tmp_path: Path) -> None:
    (tmp_path / "no.json").write_text("{}", encoding="utf-8")
    result = _run("report", tmp_path / "no.json")
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
