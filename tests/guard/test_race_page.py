"""The page of the guard's long tests says what the reports say, failures first."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest

sys.path.append(str(Path(__file__).parents[2] / "scripts"))

from guard_races import main

RACE = {
    "database": "postgres",
    "means": "processes",
    "contest": "mixed",
    "fired": ["pay=yes"],
    "told": {"pay=yes": 3, "AlreadyConsumed": 1},
    "slowest": 1.25,
}
CUT = {"database": "postgres", "point": "in its gate", "ending": "nothing", "near": "RunBusy", "far": "draft,pay=yes"}
TALLY = {
    "database": "sqlite",
    "protocols": 250,
    "executors": 1000,
    "duplicates": 2,
    "harmed": {"kill": 9},
    "wrong": ["t7"],
}


def report(folder: Path, name: str, value: object, *, child: str = "") -> str:
    path = folder / f"{name}.xml"
    entry = f'<property name="{name}" value={quoteattr(json.dumps(value))}/>'
    case = f'<testcase name="test[postgres-every-winner]"><properties>{entry}</properties>{child}</testcase>'
    path.write_text(f"<testsuites><testsuite>{case}</testsuite></testsuites>")
    return str(path)


def test_it_counts_what_was_told_and_what_fired(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    reports = [report(tmp_path, "race", RACE), report(tmp_path, "boundaries", 88), report(tmp_path, "cut", CUT)]
    assert main([*reports, report(tmp_path, "soak", TALLY)], page) == 0
    lines = page.read_text().splitlines()
    assert "| PostgreSQL | processes | 4 | 1 | 1 | 3 | 1 | 1.2 |" in lines
    assert "| PostgreSQL | winner | 88 |" in lines
    assert "| PostgreSQL | in its gate | nothing | `RunBusy` | the outcome |" in lines
    assert "| SQLite | 250 | 1000 | 9 | 0 | 0 | 0 | 2 | 0 | 0 | 0 |" in lines


def test_a_failure_is_said_first_and_is_the_exit_code(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    assert main([report(tmp_path, "race", RACE, child="<failure/>")], page) == 1
    assert "**1 of 1 tests did not pass.**" in page.read_text()


def test_no_report_is_no_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], tmp_path / "page.md") == 1
    assert "REPORT.xml" in capsys.readouterr().err


def test_what_the_reports_have_nothing_of_stays_as_it_was(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    assert main([report(tmp_path, "race", RACE), report(tmp_path, "soak", TALLY)], page) == 0
    before = page.read_text()
    assert main([report(tmp_path, "soak", TALLY | {"protocols": 251})], page) == 0
    assert page.read_text() == before.replace("| SQLite | 250 |", "| SQLite | 251 |").replace(
        "All 2 tests passed.", "All 1 tests passed.", 2
    ).replace("All 1 tests passed.", "All 2 tests passed.", 1)
