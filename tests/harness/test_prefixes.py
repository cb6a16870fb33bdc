"""First halves of protocols are run once, and nothing of one trial comes into another by them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from resumption.harness import trials
from resumption.harness.environments import Environment
from resumption.harness.lab import Lab
from resumption.harness.prefixes import Prefixes
from resumption.harness.probes.workloads import SEQUENCE
from resumption.harness.process import Died
from resumption.harness.stores import Folders, Kept, Place
from resumption.harness.trials import Observation
from resumption.harness.zygote import Launched, Launcher
from resumption.history.events import Crash, Event
from resumption.planes.interface import Failed, Operation
from resumption.planes.registry import specs
from resumption.worker.faults import Fault, Mode
from resumption.worker.points import effect_after

_KILLED = Fault(effect_after("b"))
(_REFERENCE,) = (spec for spec in specs("reference") if spec.path == "run")
(_SQLITE,) = (backend for backend in _REFERENCE.backends if backend.name == "sqlite")


@dataclass
class _Counting:
    """A launcher that counts."""

    launcher: Launcher
    launches: int = 0

    def launch(self, log: Path) -> Launched:
        self.launches += 1
        return self.launcher.launch(log)

    def kill(self, pid: int) -> None:
        self.launcher.kill(pid)

    def reap(self, pid: int) -> int:
        return self.launcher.reap(pid)


class _Forgetful(Folders):
    """Stores that can't be filled as they were."""

    def refill(self, place: Place, kept: Kept) -> bool:
        super().refill(place, kept)
        return False


@pytest.fixture(scope="module")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Counting]:
    environment = Environment(_REFERENCE, tmp_path_factory.mktemp("zygote"), 1)
    with closing(environment), environment.launcher() as launcher:
        yield _Counting(launcher)


def _lab(launcher: Launcher, folder: Path, name: str, prefixes: Prefixes, stores: Folders | None = None) -> Lab:
    form = _REFERENCE.forms_of(Operation.RECOVER)[0]
    return Lab(name, _REFERENCE, _SQLITE, form, launcher, folder / name, stores=stores, prefixes=prefixes)


def _crash_and_recover(lab: Lab, fault: Fault = _KILLED) -> Observation:
    with lab.trial(SEQUENCE) as trial:
        alive, outcome = trial.run_into(fault)
        if isinstance(outcome, Died | Failed):
            second = alive or trial.process()
            trial.complete(second, second.recover())
    return lab.observations[-1]


def _of_first_process(observation: Observation) -> list[Event]:
    return [event for event in observation.history.events if event.process == 1]


def test_trials_that_begin_alike_share_the_process_that_crashed(launcher: _Counting, tmp_path: Path) -> None:
    prefixes = Prefixes(tmp_path / "prefixes")
    before = launcher.launches
    one, two = (_crash_and_recover(_lab(launcher, tmp_path, name, prefixes)) for name in ("one", "two"))
    assert launcher.launches - before == 3
    assert _of_first_process(one) == _of_first_process(two)
    assert any(isinstance(event, Crash) for event in _of_first_process(two))


def test_a_history_that_begins_with_a_shared_process_is_whole_and_of_its_own_lab(
    launcher: _Counting, tmp_path: Path
) -> None:
    prefixes = Prefixes(tmp_path / "prefixes")
    alone = _crash_and_recover(_lab(launcher, tmp_path, "alone", Prefixes(tmp_path / "other")))
    _crash_and_recover(_lab(launcher, tmp_path, "one", prefixes))
    two = _crash_and_recover(_lab(launcher, tmp_path, "two", prefixes))
    assert two.history.problems() == ()
    assert two.problem == ""
    assert two.history.header == replace(alone.history.header, probe="two")
    assert [event.kind for event in two.history.events] == [event.kind for event in alone.history.events]
    assert [fire.call for fire in two.history.fires()] == [fire.call for fire in alone.history.fires()]
    assert (tmp_path / "two" / "trial-1" / "process-1.log").exists()


def test_a_plane_whose_store_tells_who_is_dead_runs_each_first_half(launcher: _Counting, tmp_path: Path) -> None:
    prefixes = Prefixes(tmp_path / "prefixes")
    before = launcher.launches
    for name in ("one", "two"):
        lab = _lab(launcher, tmp_path, name, prefixes)
        lab.spec = replace(lab.spec, resumes_copies=False)
        assert _crash_and_recover(lab).history.problems() == ()
    assert launcher.launches - before == 4
    assert not any(spec.resumes_copies for spec in specs("langgraph-guarded"))


def test_what_a_trial_does_behind_the_crash_stays_its_own(launcher: _Counting, tmp_path: Path) -> None:
    prefixes = Prefixes(tmp_path / "prefixes")
    seen = [_crash_and_recover(_lab(launcher, tmp_path, name, prefixes)) for name in ("one", "two", "three")]
    assert [observation.history.problems() for observation in seen] == [(), (), ()]


def test_an_effect_that_leaks_from_one_trial_into_another_is_noticed(
    launcher: _Counting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "copy_record", _link)
    prefixes = Prefixes(tmp_path / "prefixes")
    seen = [_crash_and_recover(_lab(launcher, tmp_path, name, prefixes)) for name in ("one", "two")]
    assert "the effect record holds one call twice" in seen[-1].history.problems()


def _link(record: Path, folder: Path) -> None:
    """The planted fault: the record is not copied but shared."""
    for file in record.parent.glob(f"{record.name}*"):
        (folder / file.name).unlink(missing_ok=True)
        os.link(file, folder / file.name)


def test_a_store_that_cant_be_filled_leaves_each_trial_its_own_first_half(launcher: _Counting, tmp_path: Path) -> None:
    prefixes = Prefixes(tmp_path / "prefixes")
    before = launcher.launches
    for name in ("one", "two"):
        observation = _crash_and_recover(_lab(launcher, tmp_path, name, prefixes, _Forgetful()))
        assert observation.history.problems() == ()
        assert len(list(observation.history.of(Crash))) == 1
    assert launcher.launches - before == 4


@pytest.mark.parametrize("fault", [Fault("effect:nobody:after"), Fault(effect_after("b"), Mode.RAISE)])
def test_a_process_that_lives_on_is_nobody_elses(launcher: _Counting, tmp_path: Path, fault: Fault) -> None:
    prefixes = Prefixes(tmp_path / "prefixes")
    before = launcher.launches
    for name in ("one", "two"):
        _crash_and_recover(_lab(launcher, tmp_path, name, prefixes), fault)
    assert launcher.launches - before == 2


def test_the_run_without_faults_is_run_once_and_is_in_the_evidence_of_each_lab(
    launcher: _Counting, tmp_path: Path
) -> None:
    prefixes = Prefixes(tmp_path / "prefixes")
    before = launcher.launches
    one, two = _lab(launcher, tmp_path, "one", prefixes), _lab(launcher, tmp_path, "two", prefixes)
    assert one.trace(SEQUENCE).events == two.trace(SEQUENCE).events
    assert launcher.launches - before == 1
    assert [len(lab.observations) for lab in (one, two)] == [1, 1]
    assert two.observations[0].history.header.probe == "two"


def test_another_fault_is_another_first_half(launcher: _Counting, tmp_path: Path) -> None:
    lab = _lab(launcher, tmp_path, "one", Prefixes(tmp_path / "prefixes"))
    one, two = _crash_and_recover(lab), _crash_and_recover(lab, Fault(effect_after("a")))
    assert [crash.point for crash in one.history.of(Crash)] == [effect_after("b")]
    assert [crash.point for crash in two.history.of(Crash)] == [effect_after("a")]
