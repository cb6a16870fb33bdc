"""What a probe works with: a lab makes trials of one plane, backend and resume form, and keeps what they saw."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from resumption.harness.prefixes import Beginning, Prefixes
from resumption.harness.stores import Folders, Place, Stores
from resumption.harness.trials import Observation, Trial
from resumption.harness.zygote import Launcher
from resumption.history.events import Json
from resumption.history.history import Header, History
from resumption.history.workload import Workload
from resumption.planes.interface import Backend, Capability, Form, Operation, PlaneSpec
from resumption.worker.faults import Fault

__all__ = ["Lab"]

_EMPTY = Workload(())


class Lab:
    """One plane, one backend, one resume form, and a folder of its own."""

    def __init__(
        self,
        probe: str,
        spec: PlaneSpec,
        backend: Backend,
        form: Form | None,
        launcher: Launcher,
        folder: Path,
        *,
        stores: Stores | None = None,
        spawner: Launcher | None = None,
        prefixes: Prefixes | None = None,
        thorough: bool = False,
    ) -> None:
        """`spawner` starts the processes that a probe doesn't want to be forks; without one, no probe can have them.

        `prefixes` are the first halves of protocols that this lab shares with others of the same installation.
        """
        self.spec = spec
        self.backend = backend
        self.form = form
        self.thorough = thorough
        self.observations: list[Observation] = []
        self.infeasible = 0
        """How many trials asked for a moment that the plane doesn't have; they are not among the observations."""
        self._probe = probe
        self._launcher = launcher
        self._folder = folder
        self._stores = stores or Folders()
        self._spawner = spawner
        self.prefixes = prefixes or Prefixes(folder / "prefixes")
        """First halves of protocols, each run once."""
        self._trials = 0

    def has(self, capability: Capability) -> bool:
        """Whether the plane has `capability` on this backend."""
        return not self.spec.reason_against(self.backend, capability)

    @property
    def form_is_primary(self) -> bool:
        """Whether the resume form under test is the primary one of its operation."""
        return self.form is None or self.form == self.spec.forms_of(self.form.operation)[0]

    @property
    def names_interrupt(self) -> bool:
        """Whether a delivery in the form under test names the interrupt that it answers."""
        return self.form is not None and self.form.names_interrupt

    def form_for(self, operation: Operation) -> str:
        """The form to use for an operation: the one under test if it is of that operation, else the primary one."""
        form = self._form(operation)
        return form.name if form else ""

    @property
    def brings(self) -> Json:
        """The decision that recoveries hand over as well; None if they hand over none."""
        form = self._form(Operation.RECOVER)
        return form.brings if form else None

    def _form(self, operation: Operation) -> Form | None:
        if self.form is not None and self.form.operation is operation:
            return self.form
        return next(iter(self.spec.forms_of(operation)), None)

    @contextmanager
    def trial(self, workload: Workload, *, effect_service: bool = False) -> Iterator[Trial]:
        """Run one protocol. Its history is among `observations` once the block has ended without an error."""
        self._trials += 1
        folder = self._folder / f"trial-{self._trials}"
        place = self.make_store(folder / "store")
        trial = Trial(self, workload, folder, self._stores, place, self._launcher, effect_service=effect_service)
        try:
            yield trial
            observation = trial.finish()
            if observation.infeasible:
                self.infeasible += 1
            else:
                self.observations.append(observation)
        finally:
            trial.abandon()

    def trace(self, workload: Workload) -> History:
        """The history of `workload` without faults, start to end: what kill points are enumerated from."""
        with self.trial(workload) as trial:
            trial.run_through()
        return self.observations[-1].history

    def beginning(self, workload: Workload, fault: Fault | None) -> Beginning:
        """What the first half of a protocol is, from the start to a fault, whatever comes after it."""
        return Beginning(
            plane=self.spec.name,
            path=self.spec.path,
            backend=self.backend.name,
            form=self.form_for(Operation.DELIVER),
            workload=workload,
            fault=fault,
        )

    @property
    def spawner(self) -> Launcher:
        """What starts processes that are no forks."""
        if self._spawner is None:
            raise LookupError("this lab was made without a spawner")
        return self._spawner

    def make_store(self, folder: Path) -> Place:
        """Make an empty store, whose files go into `folder`."""
        return self._stores.make(folder, self._prepare)

    def _prepare(self, place: Place) -> None:
        """Open a run in an empty store, and nothing else."""
        folder = self._folder / "preparation"
        folder.mkdir(parents=True, exist_ok=True)
        trial = Trial(self, _EMPTY, folder, self._stores, place, self._launcher, keep=True)
        try:
            trial.process().close()
        finally:
            trial.abandon()

    def header(self, workload: Workload) -> Header:
        """The header of a history of this lab."""
        return Header(
            probe=self._probe,
            plane=self.spec.name,
            path=self.spec.path,
            backend=self.backend.name,
            form=self.form.name if self.form else "",
            workload=workload,
        )
