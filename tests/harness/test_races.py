"""A race lets its racers go at once and counts what they did; on whose account, and when, is told apart."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from resumption.cli import main
from resumption.contract.verdicts import Label
from resumption.errors import PostgresMissing
from resumption.harness import stores
from resumption.harness.environments import Environment
from resumption.harness.heats import Contest, Heat, Means, Point, Racer, Terms, run_heat
from resumption.harness.installations import INSTALLED
from resumption.harness.lab import Lab
from resumption.harness.network import hosts_reason_against
from resumption.harness.postgres import ThrowawayPostgres, find_binaries
from resumption.harness.races import PRESETS, Grid, Race, run_race
from resumption.harness.workspace import workspace_folder
from resumption.planes.interface import PlaneSpec
from resumption.planes.langgraph.spec import GRAPH
from resumption.planes.registry import specs
from resumption.report.race_figure import draw
from resumption.report.races import doses

(REFERENCE,) = specs("reference")
_WIDE = 300.0  # milliseconds of work in the gate: racers that start together overlap in it on a busy machine, too
_POINT = Point(racers=3, jitter_ms=5.0, gate_ms=_WIDE, repetition=1, seed=1)

Run = Callable[..., Heat]


def _runner(spec: PlaneSpec) -> Iterator[Run]:
    with workspace_folder() as name:
        folder = Path(name)
        with closing(Environment(spec, folder, 1, INSTALLED, folder)) as environment:
            count = iter(range(100))

            def run(backend: str, point: Point = _POINT, **terms: object) -> Heat:
                chosen = next(one for one in spec.backends if one.name == backend)
                with environment.launcher() as launcher:
                    lab = Lab("race", spec, chosen, None, launcher, folder / f"lab-{next(count)}")
                    return run_heat(lab, Terms(**terms), point, "here")  # type: ignore[arg-type]  # terms by name

            yield run


@pytest.fixture(scope="module")
def langgraph() -> Iterator[Run]:
    yield from _runner(GRAPH)


@pytest.fixture(scope="module")
def reference() -> Iterator[Run]:
    yield from _runner(REFERENCE)


def _fired(heat: Heat) -> list[int]:
    return [racer.fired for racer in heat.racers]


# The effects that races make --------------------------------------------------------------------------------------


def test_every_process_that_answers_langgraph_in_time_fires(langgraph: Run) -> None:
    heat = langgraph("sqlite")
    assert _fired(heat) == [1, 1, 1]
    assert heat.saturation == 1.0
    assert {racer.outcome for racer in heat.racers} == {"completed"}


def test_equal_decisions_fire_as_often(langgraph: Run) -> None:
    assert _fired(langgraph("sqlite", equal=True)) == [1, 1, 1]


@pytest.mark.parametrize("backend", ["memory", "sqlite", "sqlite-async"])
def test_threads_over_one_saver_fire_each_on_its_own_account(langgraph: Run, backend: str) -> None:
    heat = langgraph(backend, means=Means.THREADS)
    assert _fired(heat) == [1, 1, 1]
    assert all(racer.consumed for racer in heat.racers)


@pytest.mark.parametrize("means", [Means.PROCESSES, Means.THREADS])
def test_every_recovery_of_a_crashed_run_fires(langgraph: Run, means: Means) -> None:
    heat = langgraph("sqlite", contest=Contest.RECOVERY, means=means)
    assert _fired(heat) == [1, 1, 1]
    assert not any(racer.consumed for racer in heat.racers)


def test_a_plane_that_keeps_the_contract_fires_once_and_refuses_the_others(reference: Run) -> None:
    heat = reference("sqlite")
    assert sorted(_fired(heat)) == [0, 0, 1]
    assert sorted(racer.outcome for racer in heat.racers) == ["Refused", "Refused", "completed"]
    (winner,) = (racer for racer in heat.racers if racer.fired)
    assert winner.consumed
    assert winner.outcome == "completed"


def test_racers_with_runs_of_their_own_fire_once_each(reference: Run) -> None:
    heat = reference("sqlite", distinct=True)
    assert _fired(heat) == [1, 1, 1]


# The stimulus -----------------------------------------------------------------------------------------------------


def test_times_are_those_of_one_clock_from_the_first_racer_on(langgraph: Run) -> None:
    heat = langgraph("sqlite", replace(_POINT, jitter_ms=200.0))
    arrivals = [racer.arrived_ms for racer in heat.racers if racer.arrived_ms is not None]
    assert len(arrivals) == 3
    assert min(arrivals) == 0.0
    for racer in heat.racers:
        assert racer.fired_ms is not None
        assert racer.arrived_ms is not None
        assert racer.fired_ms - racer.arrived_ms >= _WIDE


def test_a_late_racer_sets_out_last(langgraph: Run) -> None:
    heat = langgraph("sqlite", replace(_POINT, jitter_ms=0.0), late=True)
    *early, late = (racer.arrived_ms for racer in heat.racers)
    assert late is not None
    assert all(arrived is not None and arrived < late for arrived in early)


def test_racers_on_one_processor_are_put_there(reference: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    pinned: dict[int, set[int]] = {}
    monkeypatch.setattr(os, "sched_setaffinity", pinned.__setitem__)
    reference("sqlite", one_cpu=True)
    assert len(pinned) == 3
    assert len(set.union(*pinned.values())) == 1


def test_every_repetition_and_backend_has_a_jitter_of_its_own_that_its_seed_gives_again() -> None:
    again = replace(_POINT, repetition=2)
    assert _POINT.delays("sqlite") == _POINT.delays("sqlite")
    assert len({tuple(point.delays(name)) for point in (_POINT, again) for name in ("sqlite", "postgres")}) == 4
    assert all(0.0 <= delay <= 0.005 for delay in _POINT.delays("sqlite"))
    assert replace(_POINT, jitter_ms=0.0).delays("sqlite") == [0.0, 0.0, 0.0]


def test_a_grid_has_every_combination_in_every_repetition() -> None:
    points = list(PRESETS["paper-jitter"].points())
    assert len(points) == len(set(points)) == 4 * 5 * 10
    assert len(list(PRESETS["paper-gate"].points())) == 3 * 5 * 10


# Hosts ------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(bool(hosts_reason_against()), reason=hosts_reason_against() or "there are hosts")
def test_a_host_that_is_cut_off_in_its_gate_and_healed_fires_beside_the_other() -> None:
    try:
        find_binaries()
    except PostgresMissing as error:
        pytest.skip(str(error))
    postgres = tuple(backend for backend in GRAPH.backends if backend.name in ("sqlite", "postgres"))
    grid = Grid(racers=(2,), jitters_ms=(0.0,), gates_ms=(_WIDE,), repetitions=1)
    terms = Terms(means=Means.HOSTS, latency_ms=2.0, partition=True)
    race = run_race([(replace(GRAPH, backends=postgres), INSTALLED)], terms, grid)
    (heat,) = race.heats
    assert heat.backend == "postgres"
    assert _fired(heat) == [1, 1]
    assert [racer.outcome for racer in heat.racers] == ["completed", "completed"]
    (unraced,) = race.unraced
    assert (unraced.backend, unraced.label) == ("sqlite", Label.NOT_APPLICABLE)


# The command ------------------------------------------------------------------------------------------------------

_SMALL = ["--racers", "2", "--jitter", "0", "--gate", "50", "--repetitions", "1"]


def test_the_command_prints_a_table_and_writes_every_heat_and_a_figure(tmp_path: Path) -> None:
    files = ["--json", str(tmp_path / "race.json"), "--figure", str(tmp_path / "race.svg")]
    done = CliRunner().invoke(main, ["race", "reference", *_SMALL, *files])
    assert done.exit_code == 0, done.output
    assert "0.50 (1×1)" in done.output
    assert "0 of 1 heats fired more than 1 time" in done.output
    race = msgspec.json.decode((tmp_path / "race.json").read_bytes(), type=Race)
    assert race.format == "resumption.race/1"
    assert [heat.fires for heat in race.heats] == [1]
    first = (tmp_path / "race.svg").read_bytes()
    assert b"2 racers" in first
    draw(race, tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_bytes() == first


def test_a_server_that_is_missing_is_told_and_is_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(_: Path | None) -> ThrowawayPostgres:
        raise PostgresMissing("No PostgreSQL server is installed here.", advice="Install one.")

    monkeypatch.setattr(stores, "ThrowawayPostgres", nothing)
    done = CliRunner().invoke(main, ["race", "langgraph[memory,postgres]", *_SMALL])
    assert done.exit_code == 3
    assert "not run: langgraph graph postgres. No PostgreSQL server is installed here. Install one." in done.output
    assert "not applicable: langgraph graph memory." in done.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--threads", "--hosts"], "choose"),
        (["--threads", "--late"], "race processes"),
        (["--recoveries", "--equal"], "bring no decision"),
        (["--partition"], "needs --hosts"),
        (["--latency", "3"], "needs --hosts"),
        (["--racers", "1"], "at least 2"),
        (["--jitter", "nan"], "finite"),
        (["--gate", "soon"], "isn't a list of numbers"),
    ],
)
def test_terms_that_contradict_each_other_are_refused(options: list[str], message: str) -> None:
    done = CliRunner().invoke(main, ["race", "reference", *options])
    assert done.exit_code == 2
    assert message in " ".join(done.output.split())


# The figures ------------------------------------------------------------------------------------------------------


def test_doses_tell_distribution_and_saturation() -> None:
    def heat(repetition: int, fires: int) -> Heat:
        racer = Racer(arrived_ms=0.0, consumed=True, fired=1, fired_ms=1.0, outcome="completed")
        idle = replace(racer, fired=0, fired_ms=None, consumed=False)
        racers = (*[racer] * fires, *[idle] * (3 - fires))
        point = replace(_POINT, repetition=repetition)
        return Heat(plane="p", version="", path="run", backend="b", point=point, racers=racers)

    (dose,) = doses([heat(1, 3), heat(2, 1), heat(3, 3)])
    assert dose.distribution == {1: 1, 3: 2}
    assert dose.saturation == pytest.approx(7 / 9)
