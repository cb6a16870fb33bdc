"""TLC agrees with the built-in checkers, and its configurations are those that are committed."""

from __future__ import annotations

from pathlib import Path

import pytest

from resumption.errors import ToolMissing
from resumption.model.catalogue import Run, consume_cells, matrix_cells, named_runs, parked_cells, separation_cells
from resumption.model.checking import check, needs_numpy
from resumption.model.published import FIGURES
from resumption.model.results import deviations, disagreements
from resumption.model.tlc import (
    configuration_files,
    find_jar,
    find_java,
    read_output,
    render_configuration,
    specification_folder,
    tlc,
)
from resumption.model.variants import Parking

RUNS = named_runs()
SAMPLE = ("R0", "R4", "R7-F", "Parked-volatile", "LGF-A", "FI-with")


@pytest.mark.parametrize("name", SAMPLE)
@pytest.mark.usefixtures("java")
def test_tlc_agrees_on_a_sample(name: str) -> None:
    by_tlc = tlc(RUNS[name])
    assert disagreements(check(RUNS[name]), by_tlc) == []
    assert deviations(by_tlc, FIGURES[name]) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, run in RUNS.items() if name not in SAMPLE and not needs_numpy(run)])
@pytest.mark.usefixtures("java")
def test_tlc_agrees_on_every_other_run(name: str) -> None:
    by_tlc = tlc(RUNS[name])
    assert disagreements(check(RUNS[name]), by_tlc) == []
    assert deviations(by_tlc, FIGURES[name]) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["R8-F", "R8-D"])
@pytest.mark.usefixtures("java")
def test_tlc_with_one_worker_finds_the_minimal_depth_at_r8(name: str) -> None:
    by_tlc = tlc(RUNS[name], heap="12g")
    assert disagreements(check(RUNS[name]), by_tlc) == []
    assert deviations(by_tlc, FIGURES[name]) == []


CELLS = (
    *matrix_cells(),
    *separation_cells(),
    *consume_cells("reference"),
    *consume_cells("wide"),
    *(cell for parking in Parking for cell in parked_cells(parking)),
)


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell.folder}/{cell.name}")
@pytest.mark.usefixtures("java")
def test_tlc_agrees_on_every_cell(cell: Run) -> None:
    assert disagreements(check(cell), tlc(cell)) == []


def test_committed_configurations_are_the_rendered_ones() -> None:
    folder, rendered = specification_folder(), configuration_files()
    committed = {path.relative_to(folder): path.read_text(encoding="utf-8") for path in folder.rglob("*.cfg")}
    assert committed == rendered


def test_every_module_has_a_run() -> None:
    modules = {path.stem for path in specification_folder().glob("*.tla")}
    assert {run.module for run in RUNS.values()} <= modules


def test_configuration_names_specification_constants_and_claims() -> None:
    lines = render_configuration(RUNS["Parked-volatile"]).splitlines()
    assert "SPECIFICATION ParkedSpec" in lines
    assert "    VolatileParking = TRUE" in lines
    assert lines[lines.index("INVARIANTS") + 1] == "    EO"
    assert lines[-2:] == ["PROPERTIES", "    EventuallyCompletes"]


# --- reading what TLC prints ---

COUNTS = "87 states generated, 59 distinct states found, 0 states left on queue."


def test_a_complete_search_is_read() -> None:
    said = f"Model checking completed. No error has been found.\n{COUNTS}\n"
    said += "The depth of the complete state graph search is 8.\n"
    result = read_output(RUNS["R0"], said, 1.0)
    assert (result.generated, result.distinct, result.depth, result.broken) == (87, 59, 8, None)


def test_a_violation_is_read_with_the_length_of_its_trace() -> None:
    said = "Error: Invariant COc is violated.\nState 1: <Initial predicate>\n\nState 2: <Consume>\n"
    result = read_output(RUNS["R11-race"], f"{said}1,087 states generated, 12 distinct states found, 3 left\n", 1.0)
    assert (result.generated, result.distinct, result.depth, result.broken) == (1087, 12, 2, "CO-c")


def test_a_temporal_violation_is_read() -> None:
    result = read_output(RUNS["R6"], f"Error: Temporal properties were violated.\n{COUNTS}\n", 1.0)
    assert (result.distinct, result.broken) == (59, "EventuallyCompletes")


@pytest.mark.parametrize("said", ["", COUNTS, "java.lang.OutOfMemoryError: Java heap space"])
def test_output_that_says_neither_yes_nor_no_is_an_error(said: str) -> None:
    with pytest.raises(RuntimeError, match="did not finish R0"):
        read_output(RUNS["R0"], said, 1.0)


# --- tools that are missing ---


def test_missing_java_is_said_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resumption.model.tlc.shutil.which", lambda *_, **__: None)
    with pytest.raises(ToolMissing, match="Install a JRE"):
        find_java()


def test_missing_jar_is_said_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(ToolMissing, match=r"no jar at .*nowhere\.jar"):
        find_jar(tmp_path / "nowhere.jar")
    monkeypatch.setattr("resumption.model.tlc.find_spec", lambda _: None)
    with pytest.raises(ToolMissing, match=r"'\.\[tlc\]'"):
        find_jar()


def test_a_given_jar_is_used(tmp_path: Path) -> None:
    jar = tmp_path / "tla2tools.jar"
    jar.touch()
    assert find_jar(jar) == jar
