"""Isolated environments: made whole or not at all, once, from what was locked, and closed to the harness's own.

Most tests make environments of one small distribution in a cache of their own. Only one makes LangGraph's, in the
user's cache, where later runs of the tests find it.
"""

from __future__ import annotations

import py_compile
import re
import sys
import sysconfig
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from multiprocessing import get_context
from pathlib import Path

import pytest
from click.testing import CliRunner

from resumption.cli import main
from resumption.contract.verdicts import Label
from resumption.errors import EnvironmentUnavailable, TargetUnreadable
from resumption.harness import measurement, uv
from resumption.harness.environments import Environment
from resumption.harness.installations import CACHE, INSTALLED, Installation, cache_folder, isolated
from resumption.harness.locks import Recipe, find_lock, read_recipe
from resumption.harness.measurement import installation_of, measure
from resumption.harness.probes import PROBES
from resumption.harness.receipts import Cell, read_receipt, write
from resumption.harness.targets import Target, parse_target
from resumption.planes.interface import PlaneSpec
from resumption.planes.langgraph.spec import GRAPH
from resumption.planes.reference.spec import REFERENCE

RELEASE = "1.2.9"
TINY = PlaneSpec(
    name="tiny",
    package="iniconfig",  # one wheel of a few kilobytes, with no dependencies
    path="none",
    adapter="resumption.planes.reference.adapter",
    backends=(),
    forms=(),
)
TINY_RELEASE = "2.0.0"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    return cache_folder()


@pytest.fixture
def installation(cache: Path) -> Installation:
    """The small environment."""
    return isolated(TINY, TINY_RELEASE)


@pytest.fixture(scope="module")
def langgraph() -> Installation:
    """LangGraph's environment, in the user's cache."""
    return isolated(GRAPH, RELEASE)


@pytest.fixture
def worker_pins(langgraph: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """What a worker process of LangGraph's environment sees, under a harness that does its best to leak."""
    monkeypatch.setenv("PYTHONPATH", sysconfig.get_path("purelib"))
    environment = Environment(GRAPH, tmp_path, 1, langgraph)
    try:
        yield environment.pins
    finally:
        environment.close()


def test_a_worker_sees_exactly_what_was_locked(worker_pins: dict[str, str]) -> None:
    locked = dict(
        re.findall(r"^([A-Za-z0-9_.-]+)==(\S+)", find_lock(GRAPH, RELEASE, cache_folder()).text, re.MULTILINE)
    )
    seen = {re.sub(r"[-_.]+", "-", name): version for name, version in worker_pins.items()}
    assert seen["langgraph"] == RELEASE
    assert seen.items() <= locked.items()
    assert "msgspec" not in seen  # the harness's own


def test_a_receipt_says_what_was_measured(langgraph: Installation) -> None:
    probe = next(probe for probe in PROBES if probe.address == "crash/parked")
    receipt = measure(parse_target(f"langgraph[sqlite]@{langgraph.version}"), [probe], jobs=1)
    assert receipt.cells
    assert {cell.version for cell in receipt.cells} == {RELEASE}
    assert {cell.backend for cell in receipt.cells} == {"sqlite"}
    assert all(pins["langgraph"] == RELEASE for pins in receipt.pins.values())
    assert all(name.startswith(f"langgraph@{RELEASE}/") for name in receipt.histories)


def test_an_environment_is_made_once(installation: Installation) -> None:
    said: list[str] = []
    assert isolated(TINY, TINY_RELEASE, say=said.append) == installation
    assert not [line for line in said if "Installing" in line]


def test_a_release_without_a_committed_lock_is_resolved_once_and_told(cache: Path) -> None:
    said: list[str] = []
    isolated(TINY, TINY_RELEASE, say=said.append)
    assert "no committed lock" in said[0]
    lock = find_lock(TINY, TINY_RELEASE, cache)
    assert not lock.committed
    (kept,) = (cache / "locks").iterdir()
    kept.write_text(lock.text + "# kept\n")
    assert find_lock(TINY, TINY_RELEASE, cache).text.endswith("# kept\n")


def _isolate() -> tuple[Path, list[str]]:
    said: list[str] = []
    return isolated(TINY, TINY_RELEASE, say=said.append).python, said


def test_runs_at_the_same_time_build_it_once(cache: Path) -> None:
    find_lock(TINY, TINY_RELEASE, cache)
    with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as builders:
        told = [building.result() for building in [builders.submit(_isolate) for _ in range(3)]]
    assert len({python for python, _ in told}) == 1
    assert sum("Installing" in line for _, said in told for line in said) == 1


def test_what_a_killed_builder_left_is_never_used(installation: Installation) -> None:
    home = installation.python.parent.parent
    half = home.rename(home.with_name(f"{home.name}.building"))
    (half / "pyvenv.cfg").unlink()
    assert not installation.python.exists()
    assert isolated(TINY, TINY_RELEASE) == installation
    assert (home / "pyvenv.cfg").exists()
    assert not half.exists()


def test_an_environment_whose_interpreter_went_away_is_made_again(installation: Installation) -> None:
    installation.python.unlink()
    installation.python.symlink_to("/nowhere/python")
    assert isolated(TINY, TINY_RELEASE) == installation
    assert installation.python.exists()


def test_bytecode_is_compiled_even_where_python_may_not_write_any(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    home = isolated(TINY, TINY_RELEASE).python.parent.parent
    assert list(home.glob("lib/*/site-packages/iniconfig/__pycache__/*.pyc"))


@pytest.fixture
def uncompiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PlaneSpec:
    """A framework beside the harness that was installed without bytecode, where Python may write none."""
    site = tmp_path / "site"
    (site / "slow_framework-1.dist-info").mkdir(parents=True)
    (site / "slow_framework-1.dist-info" / "METADATA").write_text("Name: slow-framework\nVersion: 1\n")
    (site / "slow_framework-1.dist-info" / "RECORD").write_text("slow_framework.py,,\n")
    (site / "slow_framework.py").touch()
    monkeypatch.syspath_prepend(site)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    return replace(TINY, package="slow-framework", adapter="slow_framework", environment={"PYTHONPATH": str(site)})


def test_what_is_installed_uncompiled_is_compiled_once_for_a_run_and_nowhere_else(
    uncompiled: PlaneSpec, tmp_path: Path
) -> None:
    with closing(Environment(uncompiled, tmp_path, 1)):
        assert list((tmp_path / "bytecode").rglob("slow_framework.*.pyc"))
    assert not (tmp_path / "bytecode").exists()
    assert not (tmp_path / "site" / "__pycache__").exists()


def test_what_is_installed_compiled_is_not_compiled_again(uncompiled: PlaneSpec, tmp_path: Path) -> None:
    py_compile.compile(str(tmp_path / "site" / "slow_framework.py"))
    with closing(Environment(uncompiled, tmp_path, 1)):
        assert not (tmp_path / "bytecode").exists()


def test_a_file_other_than_the_locked_one_is_refused(cache: Path) -> None:
    find_lock(TINY, TINY_RELEASE, cache)
    (kept,) = (cache / "locks").iterdir()
    kept.write_text(re.sub(r"sha256:\w{8}", "sha256:00000000", kept.read_text()))
    with pytest.raises(EnvironmentUnavailable, match="not the one that was locked"):
        isolated(TINY, TINY_RELEASE)
    assert {path.suffix for path in (cache / "environments").iterdir()} == {".lock", ".building"}


def test_a_version_that_was_never_released_is_told_as_that(cache: Path) -> None:
    with pytest.raises(EnvironmentUnavailable, match=r"(?s)Resolving iniconfig 99\.0 failed.*Check name and version"):
        isolated(TINY, "99.0")


def test_a_missing_network_is_told_as_that(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
    with pytest.raises(EnvironmentUnavailable, match="Check the network"):
        isolated(TINY, TINY_RELEASE)


def test_a_python_that_is_not_there_is_told_as_that(cache: Path) -> None:
    with pytest.raises(EnvironmentUnavailable, match="`--python`"):
        isolated(TINY, TINY_RELEASE, python="/nowhere/python")


def test_a_missing_uv_is_told_with_how_to_get_it(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(uv, "find_spec", lambda _: None)
    with pytest.raises(EnvironmentUnavailable, match=r"extra .environments"):
        isolated(TINY, TINY_RELEASE, python="3")


def test_a_plane_of_this_package_has_no_versions(cache: Path) -> None:
    with pytest.raises(TargetUnreadable, match="no versions"):
        isolated(REFERENCE, "1.0")


def test_addresses_of_package_indexes_are_not_told() -> None:
    said = "error: Failed to fetch: `https://user:secret@index.example/simple/x/`\n  cause: (http://proxy.example:80)"
    assert uv.shown(said) == "error: Failed to fetch: `(address)`\n  cause: ((address))"


def test_the_cache_is_where_the_user_wants_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CACHE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "resumption"
    monkeypatch.setenv(CACHE, str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"
    assert (tmp_path / "own").is_dir()


def test_every_release_of_the_recipe_has_a_lock_of_hashes_and_nothing_but_that(tmp_path: Path) -> None:
    releases = read_recipe(GRAPH).releases
    assert {"1.0.5", "1.1.0", "1.1.3", "1.1.10", "1.2.9", "1.2.24"} <= releases.keys()
    for release in releases:
        lock = find_lock(GRAPH, release, tmp_path)
        assert lock.committed
        assert f"langgraph=={release} " in lock.text
        for package in ("langgraph-checkpoint-sqlite", "langgraph-checkpoint-postgres", "psycopg-pool", "langchain"):
            assert f"\n{package}==" in lock.text
        for line in lock.text.splitlines():
            assert re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}( \\)?|[A-Za-z0-9_.-]+==[^\\/:@]+\\", line), line


def test_the_recipe_says_which_release_the_paper_measured_and_which_is_the_newest() -> None:
    recipe = read_recipe(GRAPH)
    assert (recipe.paper, recipe.newest) == ("1.2.9", "1.2.24")


def test_a_release_that_a_recipe_names_and_does_not_list_is_refused() -> None:
    with pytest.raises(ValueError, match=r"paper = '9\.9' is none of the releases"):
        Recipe(paper="9.9")


def test_what_is_not_installed_is_measured_at_its_newest_committed_release(monkeypatch: pytest.MonkeyPatch) -> None:
    def not_there(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(measurement.metadata, "version", not_there)
    monkeypatch.setattr(measurement, "isolated", lambda spec, version, **_: Installation(Path(spec.name), version))
    said: list[str] = []
    assert installation_of(Target("langgraph"), say=said.append) == Installation(Path("langgraph"), "1.2.24")
    assert "langgraph@1.2.24 is measured" in said[0]
    assert installation_of(Target("reference"), say=said.append) == INSTALLED
    assert len(said) == 1


def test_a_sweep_writes_a_receipt_of_each_version_and_shows_them_in_one_matrix(
    langgraph: Installation, tmp_path: Path
) -> None:
    options = ["--versions", f" {RELEASE}", "--probe", "crash/parked", "--json-dir", str(tmp_path / "receipts")]
    done = CliRunner().invoke(main, ["sweep", "langgraph[sqlite]", *options])
    assert done.exit_code == 0, done.output
    assert f"langgraph {RELEASE} graph sqlite" in done.stdout
    receipt = read_receipt(tmp_path / "receipts" / f"langgraph-{RELEASE}.json")
    assert {cell.version for cell in receipt.cells} == {RELEASE}


@pytest.mark.parametrize("arguments", [["langgraph@1.2.9", "--versions", "1.2.24"], ["langgraph", "--versions", ""]])
def test_a_sweep_without_versions_of_its_own_is_a_mistake(arguments: list[str]) -> None:
    assert CliRunner().invoke(main, ["sweep", *arguments]).exit_code == 2


def test_what_changed_is_measured_again_on_the_sides_that_can_be(langgraph: Installation, tmp_path: Path) -> None:
    target = f"langgraph[sqlite]@{RELEASE}"
    receipt = measure(parse_target(target), [probe for probe in PROBES if probe.address == "crash/parked"], jobs=2)
    worse = tmp_path / "worse.json"
    write(replace(receipt, cells=tuple(_broken(cell) for cell in receipt.cells)), worse)
    done = CliRunner().invoke(main, ["compare", str(worse), target, "--probe", "crash/parked"])
    assert done.exit_code == 0, done.output
    assert done.stderr.count(f"Measuring {target}") == 2
    held = sum(cell.label is Label.HOLDS for cell in receipt.cells)
    assert f"0 regressed, {held} fixed, {len(receipt.cells) - held} drifted, 0 unsettled" in done.stdout


def _broken(cell: Cell) -> Cell:
    parts = tuple(replace(part, label=Label.VIOLATES) for part in cell.parts)
    return replace(cell, label=Label.VIOLATES, parts=parts)
