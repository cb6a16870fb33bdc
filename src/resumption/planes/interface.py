"""The interface between the harness and a plane: the only thing a framework author writes.

A plane is one framework mechanism on one storage backend. Its adapter turns the abstract workload into a real program
of its framework, and maps the few operations below to that framework's calls. Probes are written once, against this.

An adapter has two modules: one that holds its `PlaneSpec` and imports nothing but this package (the harness reads it
without the framework), and one that exports `open_run`, and `tamper` where the plane has that capability, which is
imported in the framework's own environment. What the former says is defined in `planes.spec`, and imported from here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from resumption.history.events import Intent, Json, Pending
from resumption.history.workload import Workload
from resumption.planes.spec import Backend, Capability, Durability, Form, Operation, PlaneSpec

__all__ = [
    "Address",
    "Backend",
    "Call",
    "Capability",
    "Completed",
    "Copyable",
    "Decision",
    "Durability",
    "Failed",
    "Form",
    "Handle",
    "Historic",
    "Instruments",
    "LoseLeases",
    "OpenRun",
    "Operation",
    "Outcome",
    "Parked",
    "PastStates",
    "PlaneSpec",
    "Run",
    "Snapshot",
    "Store",
    "Tamper",
    "TaskSpan",
    "unknown_form",
]


# What an adapter is given -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Store:
    """Where a run lives. The same store and a new process is the recovering side."""

    backend: str
    location: Path
    """A folder of its own, for embedded backends."""
    thread: str = "run"
    """The run's durable identity within the store."""
    database: str = ""
    """A PostgreSQL connection string for backends of a server: a database of its own, in which opening a run may make
    the framework's tables."""


class Instruments(Protocol):
    """The worker's side of the bench: what an adapter calls from inside the program that it builds.

    Every call records, and may be the point at which this process is to die.
    """

    def task(self, name: str, trail: Json) -> AbstractContextManager[TaskSpan]:
        """Bracket the body of a task that sees `trail`."""

    def consume(self, task: str, interrupt: str, value: Json) -> None:
        """Say that a gate received a decision."""

    def fire(self, effect: str, *, task: str, value: Json) -> None:
        """Fire an external effect: a committed row in the oracle."""

    def work(self, seconds: float) -> None:
        """Be slow, as a gated task is."""

    def persist(self, name: str, covers: Sequence[str] = ()) -> AbstractContextManager[None]:
        """Bracket one storage operation, after which the results of the tasks in `covers` are durable."""


class TaskSpan(Protocol):
    """The open bracket of a running task."""

    def wrote(self, write: Json) -> None:
        """Say what the task hands to the framework when it ends."""


# What an adapter provides -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Address:
    """Where a decision can be sent: whatever the plane offers, by kind. All values are JSON."""

    checkpoint: Json = None
    requests: Mapping[str, Json] = field(default_factory=dict)
    """Identity of each pending interrupt, by its name in the workload."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One delivery: what, for which interrupt, at which address, in which form, and why.

    `delivery` names the attempt. A plane that carries such a name hands it on; others ignore it.
    """

    value: Json
    target: str
    address: Address
    form: str
    intent: Intent
    delivery: str
    answers: Mapping[str, Json] = field(default_factory=dict)
    """What the same delivery brings for further interrupts, by their names; only forms that name the interrupt do."""

    @property
    def responses(self) -> dict[Json, Json]:
        """All that the delivery brings, by the identity of the interrupt that it is for."""
        brought = {self.target: self.value, **self.answers}
        return {self.address.requests[name]: value for name, value in brought.items()}


@dataclass(frozen=True, slots=True)
class Parked:
    """The run waits for decisions."""

    pending: tuple[Pending, ...]


@dataclass(frozen=True, slots=True)
class Completed:
    """The plane reports the run as finished, with this trail."""

    trail: Json


@dataclass(frozen=True, slots=True)
class Failed:
    """The operation raised."""

    error: str
    message: str


Outcome = Parked | Completed | Failed


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the public inspection API says of a run."""

    trail: Json
    pending: tuple[Pending, ...]
    finished: bool


class Handle(Protocol):
    """An operation under way."""

    def wait(self, timeout: float | None = None) -> Outcome:
        """Return how the operation ended. Errors of the framework are `Failed`, not raised."""


@dataclass(frozen=True, slots=True)
class Call:
    """A handle for frameworks whose calls block: the call is made by `wait`, in the waiting thread."""

    call: Callable[[], Outcome]

    def wait(self, timeout: float | None = None) -> Outcome:
        """Make the call. It can't be interrupted, so `timeout` is the worker's to enforce."""
        try:
            return self.call()
        except Exception as error:
            return Failed(type(error).__name__, str(error))


class Run(Protocol):
    """One run on its plane, opened in this process. Opening executes nothing."""

    def start(self, value: Json) -> Handle:
        """Start the run with an input."""

    def deliver(self, decision: Decision) -> Handle:
        """Hand a decision over. With `Capability.LIVE_DELIVERY`, from any thread, another operation being under way."""

    def recover(self, form: str) -> Handle:
        """Ask a crashed run to go on, in the form named. A framework's automatic recovery belongs here."""

    def inspect(self) -> Snapshot:
        """Ask the public inspection API, and nothing else. May raise what that API raises."""

    def address(self) -> Address:
        """Return where decisions can be sent now."""

    def close(self) -> None:
        """Release what this process holds."""


@dataclass(frozen=True, slots=True)
class PastStates:
    """The trails of a run's past states, the newest first, and the error with which the listing ended, if it did."""

    trails: tuple[Json, ...]
    error: str = ""


class Historic(Protocol):
    """A run of a plane whose public API lists past states."""

    def past_states(self) -> PastStates:
        """List the past states, as far as that API gets. Its errors aren't raised."""


class Copyable(Protocol):
    """A run whose store can be copied within its process, for `Capability.COPY_INSIDE`."""

    def copy_store(self, location: Path) -> str:
        """Copy all that is durable to the store at an empty folder. Returns the SHA-256 of the copy's content.

        No operation is under way. The copy shares nothing with the original, and can be opened by its location.
        """


OpenRun = Callable[[Workload, Store, Instruments], Run]
"""The type of an adapter's `open_run`: inert, so that the recovering side opens what the dead one left."""

Tamper = Callable[[Store], None]
"""The type of an adapter's `tamper`: makes the trail of the run's newest durable state the number 7, in the store, as
an editor or a faulty migration would. No run is open then, and this process does nothing else. All beside the trail
stays as it is; a checksum that the framework keeps of it is left alone."""

LoseLeases = Callable[[Store], int]
"""The type of an adapter's `lose_leases`: takes every lease of the store from its holder, which lives and isn't told,
by what does that in earnest, such as a server that gives a session up. Returns how many, and this process does nothing
else."""


def unknown_form(form: str) -> ValueError:
    """The error of an adapter that is asked for a form which its spec doesn't list."""
    return ValueError(f"this plane has no resume form {form!r}")
