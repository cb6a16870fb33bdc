"""Races: the grid of a race, and what came of all its heats, on every plane and backend that was asked for."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from resumption.contract.verdicts import Label
from resumption.errors import BackendMissing, HostsUnavailable, PostgresMissing, ReceiptUnreadable, ResumptionError
from resumption.harness.environments import Environment
from resumption.harness.heats import Heat, Means, Point, Terms, run_heat
from resumption.harness.installations import Installation
from resumption.harness.lab import Lab
from resumption.harness.network import Hosts
from resumption.harness.stores import DatabaseStores, PostgresServer, Stores, stores_for
from resumption.harness.workspace import workspace_folder
from resumption.planes.interface import Backend, PlaneSpec

__all__ = ["FORMAT", "PRESETS", "Grid", "Race", "Unraced", "read_race", "run_race"]

FORMAT = "resumption.race/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Which heats a race has: one for each number of racers, jitter, gate and repetition."""

    racers: tuple[int, ...] = (2, 4)
    jitters_ms: tuple[float, ...] = (0.0, 5.0)
    gates_ms: tuple[float, ...] = (80.0,)
    repetitions: int = 3
    seed: int = 1

    def points(self) -> Iterator[Point]:
        """The points, gate by gate."""
        return (
            Point(racers=racers, jitter_ms=jitter, gate_ms=gate, repetition=repetition, seed=self.seed)
            for gate in self.gates_ms
            for racers in self.racers
            for jitter in self.jitters_ms
            for repetition in range(1, self.repetitions + 1)
        )


PRESETS = {
    "paper-jitter": Grid(racers=(2, 4, 8, 16), jitters_ms=(0.0, 1.0, 5.0, 10.0, 25.0), gates_ms=(0.0,), repetitions=10),
    "paper-gate": Grid(
        racers=(4,), jitters_ms=(0.0, 100.0, 500.0, 1000.0, 3000.0), gates_ms=(0.0, 500.0, 2000.0), repetitions=10
    ),
}
"""The grids of "Resume Means Resume" (arXiv 2608.03836): short jitters by racers, and long jitters by gate.

Of the first, the paper gives racers, repetitions, and that there are five jitters up to 25 ms; those between are ours.
Of the second, it gives gates and jitters; racers and repetitions are ours.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unraced:
    """A plane and backend where no race, or no further heat, could be run."""

    plane: str
    path: str
    backend: str
    label: Label
    """Not applicable where the plane has no such race, not run where something is missing here, else inconclusive."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """A whole race, as `resumption race --json` writes it."""

    format: str = FORMAT
    created: str
    platform: str
    python: str
    pins: dict[str, dict[str, str]]
    """Versions of every distribution in the environment of each plane, by `PLANE/PATH@VERSION`."""
    terms: Terms
    grid: Grid
    heats: tuple[Heat, ...]
    unraced: tuple[Unraced, ...]

    @property
    def is_open(self) -> bool:
        """Whether something could not be raced here and now, which can be elsewhere or another time."""
        return any(unraced.label is not Label.NOT_APPLICABLE for unraced in self.unraced)


def read_race(path: Path) -> Race:
    """Read what `resumption race --json` wrote. Raises `ReceiptUnreadable` if the file is no race of this format."""
    try:
        race = msgspec.json.decode(path.read_bytes(), type=Race)
    except OSError as error:
        raise ReceiptUnreadable(
            f"The race {path} can't be read: {error.strerror}.", advice="Check the path and its permissions."
        ) from error
    except (msgspec.DecodeError, ValueError) as error:
        raise ReceiptUnreadable(
            f"{path} is no race: {error}.", advice=f"Races are what `race --json` writes, of format {FORMAT}."
        ) from error
    if race.format != FORMAT:
        raise ReceiptUnreadable(f"{path} has the format {race.format!r}.", advice=f"This version reads {FORMAT}.")
    return race


def run_race(
    specs: Sequence[tuple[PlaneSpec, Installation]],
    terms: Terms,
    grid: Grid,
    *,
    postgres: str = "",
    listen: Callable[[int, int], None] = lambda done, total: None,
) -> Race:
    """Run every heat, one after the other: heats at the same time would slow each other down.

    `listen` is told how many heats of how many are done. Raises `EnvironmentBroken` if a framework can't be imported.
    """
    heats: list[Heat] = []
    unraced: list[Unraced] = []
    pins: dict[str, dict[str, str]] = {}
    total = sum(1 for spec, _ in specs for _ in spec.backends for _ in grid.points())
    with ExitStack() as stack:
        server = PostgresServer(postgres)
        stack.callback(server.close)
        for spec, installation in specs:
            folder = Path(stack.enter_context(workspace_folder()))
            with closing(Environment(spec, folder, 1, installation, folder)) as environment:
                pins[f"{spec.name}/{spec.path}@{installation.version}".rstrip("@")] = environment.pins
                for backend in spec.backends:
                    course = _Course(spec, backend, environment, server, folder / backend.name)
                    try:
                        for heat in course.heats(terms, grid):
                            heats.append(heat)
                            listen(len(heats), total)
                    except (_NoSuchRace, ResumptionError, OSError) as error:
                        unraced.append(course.unraced(error))
    return Race(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        platform=platform.platform(),
        python=platform.python_version(),
        pins=pins,
        terms=terms,
        grid=grid,
        heats=tuple(heats),
        unraced=tuple(unraced),
    )


class _NoSuchRace(Exception):
    """The plane lacks what the race needs; the message is the reason."""


@dataclass(frozen=True, slots=True)
class _Course:
    """One plane on one backend."""

    spec: PlaneSpec
    backend: Backend
    environment: Environment
    server: PostgresServer
    folder: Path

    def heats(self, terms: Terms, grid: Grid) -> Iterator[Heat]:
        """Run the heats. Raises what kept one from being run."""
        for need in terms.needs():
            if reason := self.spec.reason_against(self.backend, need):
                raise _NoSuchRace(reason)
        stores = stores_for(self.spec, self.backend, self.environment, self.server)
        version = self.environment.pins.get(self.spec.package, "")
        with self.environment.launcher() as launcher, self._hosts(terms, grid, stores) as hosts:
            lab = Lab("race", self.spec, self.backend, None, launcher, self.folder, stores=stores)
            for point in grid.points():
                yield run_heat(lab, terms, point, version, hosts)

    def unraced(self, error: Exception) -> Unraced:
        """What to say of it after an error."""
        match error:
            case _NoSuchRace():
                label, reason = Label.NOT_APPLICABLE, str(error)
            case BackendMissing() | HostsUnavailable() | PostgresMissing():
                label, reason = Label.NOT_RUN, f"{error.what} {error.advice}"
            case _:
                label, reason = Label.INCONCLUSIVE, f"{type(error).__name__}: {error}"
        return Unraced(
            plane=self.spec.name,
            path=self.spec.path,
            backend=self.backend.name,
            label=label,
            reason=reason,
        )

    def _hosts(self, terms: Terms, grid: Grid, stores: Stores) -> Hosts | nullcontext[None]:
        if terms.means is not Means.HOSTS:
            return nullcontext()
        if not isinstance(stores, DatabaseStores):
            raise _NoSuchRace("A store in a file isn't reached from another host.")
        return Hosts(max(grid.racers), stores.address, terms.latency_ms / 1000)
