"""Where a drill takes place: the survey of the program, the environment of its processes, and labs for its trials."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from resumption import errors
from resumption.errors import WorkerLost
from resumption.harness.environments import Environment
from resumption.harness.lab import Lab
from resumption.harness.process import Process, Seat
from resumption.harness.trials import Observation, Trial
from resumption.history.events import EffectBegin
from resumption.history.history import History
from resumption.history.workload import Effect, Task, Workload
from resumption.planes.drill.settings import OUTSIDE, Settings
from resumption.planes.drill.spec import looking, plane
from resumption.planes.interface import Form, PlaneSpec, Snapshot
from resumption.worker.faults import Fault

__all__ = ["Ground", "Site", "Survey", "Way"]

_FEW = 40
"""Modules that each process may import for itself: for more, the environment is started once more."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What was found out of a program without running it."""

    nodes: tuple[str, ...]
    asynchronous: bool
    """Whether it can only be awaited, as far as that can be seen."""
    guards_itself: bool
    """Whether the graph is one that `guard` returned."""
    preload: tuple[str, ...]
    """What it imports, and can be imported before a process is forked."""


@dataclass(frozen=True, slots=True)
class Way:
    """How the program is run."""

    guarded: bool = False
    """Whether the drill guards it."""
    asynchronous: bool = False
    guards_itself: bool = False

    @property
    def protected(self) -> bool:
        """Whether it is guarded, by whom ever."""
        return self.guarded or self.guards_itself

    def plane(self, settings: Settings) -> PlaneSpec:
        """The plane of the program, run like this."""
        return plane(settings, guarded=self.guarded, asynchronous=self.asynchronous, protected=self.protected)


class Site:
    """The processes of one drill. Use as a context manager."""

    def __init__(self, settings: Settings, effects: Sequence[str], workspace: Path, jobs: int) -> None:
        """Look at the program. `effects` are the names of the effects in histories.

        Raises what is wrong with it: `TargetNotFound`, `TargetUnusable`, `EffectNotFound`, `StubMissing`; or
        `WorkerLost` if importing it ends its process.
        """
        self._settings = settings
        self._workspace = workspace
        self._exit = ExitStack()
        self._environment = self._open(plane(settings), jobs)
        try:
            self.survey = self._look()
            if len(self.survey.preload) > _FEW:
                self._exit.close()
                self._environment = self._open(plane(settings, self.survey.preload), jobs)
        except BaseException:
            self._exit.close()
            raise
        self.pins = self._environment.pins
        self._workload = _workload(self.survey.nodes, effects)

    def __enter__(self) -> Site:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End every process."""
        self._exit.close()

    @contextmanager
    def ground(self, name: str, form: Form | None, way: Way) -> Iterator[Ground]:
        """A trial in a folder of its own, on a thread that no other trial has. It is observed when the block ends."""
        with self._trial(name, form, way.plane(self._settings), self._workload) as ground:
            yield ground

    @contextmanager
    def _trial(self, name: str, form: Form | None, spec: PlaneSpec, workload: Workload) -> Iterator[Ground]:
        folder = self._workspace / uuid.uuid4().hex
        with self._environment.launcher() as launcher:
            lab = Lab(name, spec, spec.backends[0], form, launcher, folder)
            ground = Ground(lab, Seat(thread=str(uuid.uuid4())))
            with lab.trial(workload) as trial:
                ground.enter(trial)
                yield ground
            ground.leave()

    def _open(self, spec: PlaneSpec, jobs: int) -> Environment:
        environment = Environment(spec, self._workspace, jobs)
        self._exit.callback(environment.close)
        return environment

    def _look(self) -> Survey:
        with self._trial("survey", None, looking(self._settings), Workload(())) as ground:
            said = ground.process().inspect()
        if not isinstance(said, Snapshot):
            raise WorkerLost("The look at the program failed.", advice=f"It ended with {said}.")
        found = said.trail
        if "error" in found:
            raise getattr(errors, found["error"])(found["what"], advice=found["advice"])
        return Survey(tuple(found["nodes"]), found["asynchronous"], found["guarded"], tuple(found["preload"]))


class Ground:
    """One trial under way, and its observation afterwards."""

    def __init__(self, lab: Lab, seat: Seat) -> None:
        self._lab = lab
        self._seat = seat
        self._trial: Trial | None = None
        self.observation: Observation | None = None
        """The history; None before the block ended, and where the moment that was asked for doesn't exist."""

    def enter(self, trial: Trial) -> None:
        """The trial begins."""
        self._trial = trial

    def leave(self) -> None:
        """The trial ended, and was observed."""
        if self._lab.observations:
            seen = self._lab.observations[-1]
            self.observation = replace(seen, history=_widened(seen.history))

    def process(self, fault: Fault | None = None) -> Process:
        """Start a process of the trial."""
        if self._trial is None:
            raise RuntimeError("the trial has not begun")
        return self._trial.process(fault, seat=self._seat)


def _widened(history: History) -> History:
    """The history of a program that has the tasks, too, that only a run shows: a function's, or a graph's in a node."""
    known = {task.name for task in history.workload.tasks}
    effects = history.workload.tasks[-1].effects if history.workload.tasks else ()
    more = dict.fromkeys(begin.task for begin in history.of(EffectBegin) if begin.task not in known)
    workload = Workload((*history.workload.tasks, *(Task(name, effects) for name in more)))
    return replace(history, header=replace(history.header, workload=workload))


def _workload(nodes: Sequence[str], effects: Sequence[str]) -> Workload:
    """The program as histories name it: any node may fire any effect."""
    fired = tuple(Effect(name) for name in effects)
    return Workload(tuple(Task(name, fired) for name in dict.fromkeys((*nodes, OUTSIDE))))
