"""Where a drill takes place: the survey of the program, the environment of its processes, and labs for its trials."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resumption import errors
from resumption.errors import DrillFailed
from resumption.harness.environments import Environment
from resumption.harness.lab import Lab, Observation, Trial
from resumption.harness.process import Process, Seat
from resumption.history.workload import Effect, Task, Workload
from resumption.planes.drill.settings import OUTSIDE, Settings
from resumption.planes.drill.spec import plane
from resumption.planes.interface import Form
from resumption.worker.faults import Fault

__all__ = ["Ground", "Site", "Survey", "survey"]

_SURVEY_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Survey:
    """What was found out of a program without running it."""

    nodes: tuple[str, ...]
    asynchronous: bool
    preload: tuple[str, ...]


def survey(settings: Settings, workspace: Path) -> Survey:
    """Look at the program in a process of its own.

    Raises what is wrong with it: `TargetNotFound`, `TargetUnusable`, `EffectNotFound`, `StubMissing`; or `DrillFailed`
    if importing it ends the process.
    """
    said, log = workspace / "survey.json", workspace / "survey.log"
    with log.open("wb") as output:
        done = subprocess.run(
            [sys.executable, "-m", "resumption.planes.drill.survey", str(said)],
            env={**os.environ, **plane(settings).environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            timeout=_SURVEY_SECONDS,
            check=False,
        )
    if not said.exists():
        told = log.read_text(errors="replace").strip()[-600:]
        raise DrillFailed(
            f"Importing {settings.target} ended its process with {done.returncode}.",
            advice=f"It said: {told or '(nothing)'}",
        )
    found: dict[str, Any] = json.loads(said.read_text())
    if "error" in found:
        raise getattr(errors, found["error"])(found["what"], advice=found["advice"])
    return Survey(tuple(found["nodes"]), found["asynchronous"], tuple(found["preload"]))


class Site:
    """The processes of one drill, of the program as it is or guarded. Use as a context manager."""

    def __init__(self, settings: Settings, found: Survey, effects: Sequence[str], workspace: Path, jobs: int) -> None:
        """`effects` are the names of the effects in histories."""
        workspace.mkdir(parents=True, exist_ok=True)
        self.spec = plane(settings, found.preload)
        self.settings = settings
        self.workload = _workload(found.nodes, effects)
        self._workspace = workspace
        self._exit = ExitStack()
        environment = Environment(self.spec, workspace, jobs)
        self._exit.callback(environment.close)
        self._environment = environment
        self.version = environment.pins.get(self.spec.package, "")
        self.pins = environment.pins

    def __enter__(self) -> Site:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End every process."""
        self._exit.close()

    @contextmanager
    def ground(self, name: str, form: Form | None) -> Iterator[Ground]:
        """A trial in a folder of its own, on a thread that no other trial has. It is observed when the block ends."""
        folder = self._workspace / uuid.uuid5(uuid.NAMESPACE_URL, name).hex
        with self._environment.launcher() as launcher:
            lab = Lab(name, self.spec, self.spec.backends[0], form, launcher, folder)
            ground = Ground(lab, self.workload, Seat(thread=str(uuid.uuid4())))
            with lab.trial(self.workload) as trial:
                ground.enter(trial)
                yield ground
            ground.leave()


class Ground:
    """One trial under way, and its observation afterwards."""

    def __init__(self, lab: Lab, workload: Workload, seat: Seat) -> None:
        self._lab = lab
        self._workload = workload
        self._seat = seat
        self._trial: Trial | None = None
        self.observation: Observation | None = None
        """The history; None before the block ended, and where the moment that was asked for doesn't exist."""

    def enter(self, trial: Trial) -> None:
        """The trial begins."""
        self._trial = trial

    def leave(self) -> None:
        """The trial ended, and was observed."""
        self.observation = self._lab.observations[-1] if self._lab.observations else None

    def process(self, fault: Fault | None = None) -> Process:
        """Start a process of the trial."""
        if self._trial is None:
            raise RuntimeError("the trial has not begun")
        return self._trial.process(fault, seat=self._seat)


def _workload(nodes: Sequence[str], effects: Sequence[str]) -> Workload:
    """The program as histories name it: any node may fire any effect."""
    fired = tuple(Effect(name) for name in effects)
    return Workload(tuple(Task(name, fired) for name in dict.fromkeys((*nodes, OUTSIDE))))
