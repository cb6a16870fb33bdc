"""Many frameworks in one run: each in its own environment, and none in another's way."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from resumption.cli import main
from resumption.contract.verdicts import Label
from resumption.errors import EnvironmentBroken, EnvironmentUnavailable
from resumption.harness import measurement
from resumption.harness.installations import INSTALLED, Installation
from resumption.harness.measurement import measure
from resumption.harness.probes import PROBES
from resumption.harness.targets import Target, released_targets

PROBE = next(probe for probe in PROBES if probe.address == "crash/parked")
WITHDRAWN = Target("langgraph", backends=("sqlite",), version="9.9")
BROKEN = Target("langgraph", backends=("sqlite",), version="8.8")
SOUND = Target("reference")


@pytest.fixture(autouse=True)
def installations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One release was withdrawn, one has an interpreter that ends at once, and what has no version is installed."""

    def find(target: Target, **_: object) -> Installation:
        if target == WITHDRAWN:
            raise EnvironmentUnavailable("Installing langgraph 9.9 failed. uv said:\nwithdrawn\n", advice="Check it.")
        return Installation(Path("/bin/false"), target.version) if target == BROKEN else INSTALLED

    monkeypatch.setattr(measurement, "installation_of", find)


def test_what_cannot_be_had_or_does_not_work_leaves_its_cells_inconclusive_and_stops_no_other() -> None:
    said: list[str] = []
    receipt = measure([WITHDRAWN, BROKEN, SOUND], [PROBE], jobs=1, say=said.append, tolerant=True)
    labels = {cell.version: set[Label]() for cell in receipt.cells}
    for cell in receipt.cells:
        labels[cell.version].add(cell.label)
    assert labels["9.9"] == labels["8.8"] == {Label.INCONCLUSIVE}
    assert Label.HOLDS in labels[""]
    assert Label.INCONCLUSIVE not in labels[""]
    (reason,) = {part.reason for cell in receipt.cells if cell.version == "9.9" for part in cell.parts}
    assert "\n" not in reason
    assert "withdrawn" in reason
    assert ["could not be measured" in line for line in said] == [True, True]


@pytest.mark.parametrize(("target", "error"), [(WITHDRAWN, EnvironmentUnavailable), (BROKEN, EnvironmentBroken)])
def test_what_was_asked_for_by_name_and_cannot_be_measured_is_an_error(target: Target, error: type[Exception]) -> None:
    with pytest.raises(error):
        measure([target, SOUND], [PROBE], jobs=1)


def test_all_frameworks_are_measured_at_the_release_of_the_paper_or_at_their_newest() -> None:
    paper, newest = released_targets(), released_targets(newest=True)
    assert Target("langgraph", version="1.2.9") in paper
    assert Target("langgraph", version="1.2.24") in newest
    assert {target.name for target in paper} < {target.name for target in newest}
    assert all(target.version for target in (*paper, *newest))


@pytest.mark.parametrize("arguments", [["--newest"], ["langgraph", "--newest"], ["langgraph", "--all", "--newest"]])
def test_newest_goes_with_all_frameworks_only(arguments: list[str]) -> None:
    done = CliRunner().invoke(main, ["check", *arguments])
    assert done.exit_code == 2
    assert "--newest goes with --all and no PLANE" in done.output
