"""What a plane says of itself, so that the harness knows it without its framework: what it is, has and lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from resumption.history.events import Json

__all__ = ["Backend", "Capability", "Durability", "Form", "Operation", "PlaneSpec"]


class Operation(StrEnum):
    """What a resume form is a form of."""

    DELIVER = "deliver"
    RECOVER = "recover"
    FORK = "fork"


class Capability(StrEnum):
    """Machinery that a plane may lack; a probe that needs it is then `not_applicable`, for the plane's reason."""

    PROCESS_DEATH = "process-death"
    """Durable state outlives the process."""
    GATE = "gate"
    """A run can park for a decision."""
    GATE_SEQUENCE = "gate-sequence"
    """One task can ask for two decisions, one after the other."""
    FAN_OUT = "fan-out"
    """Several tasks can run at once."""
    PARALLEL_GATES = "parallel-gates"
    """Several tasks that run at once can ask for decisions at once."""
    SEVERAL_ANSWERS = "several-answers"
    """One delivery can bring the decisions for several interrupts."""
    FORK = "fork"
    """A decision can be delivered to an interrupt that has one already."""
    RECOVERY = "recovery"
    """A crashed run can be asked to go on."""
    SCHEMA = "schema"
    """State has a declared schema."""
    CONCURRENT_RUNS = "concurrent-runs"
    """Several processes can open one run at once."""
    LIVE_DELIVERY = "live-delivery"
    """A decision can be delivered in the process where the run is under way: `Run.deliver` may be called from a second
    thread while another one is in the `Handle.wait` of an operation."""
    OWN_WRITES = "own-writes"
    """The framework decides what becomes durable, so that it can refuse a write. Never listed in `lacks`: a plane whose
    durability is the caller's lacks it, for the snapshot policy that it states, unless the framework makes what is
    saved (`PlaneSpec.framework_snapshots`)."""
    COPY_INSIDE = "copy-inside"
    """A run that is open can copy its store within its process. Never listed in `lacks`: a backend says that it has it,
    by `Backend.copies`."""
    LEASE_LOSS = "lease-loss"
    """An executor that lives can lose what gives a run to it alone. Never listed in `lacks`: a backend says that its
    executors can, by `Backend.loses_leases`."""
    TAMPER = "tamper"
    """Durable state can be altered from outside in a way that breaks the schema. The adapter module then exports
    `tamper` (see `interface.Tamper`)."""


class Durability(StrEnum):
    """Who decides when state becomes durable."""

    FRAMEWORK = "framework"
    CALLER = "caller"


@dataclass(frozen=True, slots=True)
class Form:
    """One documented way to resume. The first form of an operation in a spec is its primary one.

    `statement` names the citation in the plane's `statements.toml`; empty where nobody documents the form.
    """

    name: str
    operation: Operation
    description: str
    statement: str = ""
    names_interrupt: bool = False
    """Whether a delivery in this form names the interrupt that it answers."""
    brings: Json = None
    """The decision that a recovery in this form hands over as well; None if it hands over none."""


@dataclass(frozen=True, slots=True)
class Backend:
    """One storage backend of a plane, and the capabilities that it takes away, with the reason."""

    name: str
    lacks: Mapping[Capability, str] = field(default_factory=dict)
    by_default: bool = True
    """Whether it is measured when a user names no backend: the embedded ones are, the costly ones aren't."""
    server: bool = False
    """Whether a run lives in a database of a PostgreSQL server, which the harness provides, not in a folder."""
    requires: Sequence[str] = ()
    """Distributions that only this backend needs; where one of them isn't installed, nothing is measured."""
    loses_leases: bool = False
    """Whether an executor can lose its lease while it lives. The adapter module then exports `lose_leases` (see
    `interface.LoseLeases`)."""
    copies: bool = False
    """Whether an open run can copy its store, as is needed where that dies with the process. Its runs are then
    `interface.Copyable`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaneSpec:
    """What the harness has to know of a plane, without importing its framework."""

    name: str
    """Name of the family, as users type it: `langgraph`."""
    package: str
    """Distribution that is under test; empty for planes that live in this package."""
    requires: Sequence[str] = ()
    """What an environment of its own installs along with the package, where the plane has no `locks/recipe.toml`."""
    since: Mapping[str, str] = field(default_factory=dict)
    """The first release of each distribution that has what the plane measures; on earlier ones, nothing is."""
    path: str
    """The mechanism: `graph`."""
    adapter: str
    """Import path of the module that exports `open_run`."""
    resumes_copies: bool = True
    """Whether a crashed run goes on from a copy of its store as from the store: not where the store tells, by its own
    identity, whether who was at work in it is dead."""
    locks: str = ""
    """The package whose `locks/` its environments are made from; the adapter's own unless another is named."""
    preload: Sequence[str] = ()
    """What the zygote loads once, before any fork: modules to import, and functions to call, as `module:function`.

    A function may compute what each process would else compute anew (`planes.rehearsal`). It opens nothing that lasts,
    and leaves no thread: the zygote refuses to fork beside one."""
    backends: Sequence[Backend]
    forms: Sequence[Form]
    durability: Durability = Durability.FRAMEWORK
    past_states: bool = False
    """Whether a public API lists the past states of a run. Its runs are then `interface.Historic`."""
    snapshots: str = ""
    """With `Durability.CALLER`: the snapshot policy, a sentence that says when the adapter saves, as a caller would."""
    framework_snapshots: bool = False
    """With `Durability.CALLER`: whether the framework makes what is saved of typed state, so that it can refuse one."""
    fork_discriminator: str = ""
    """What in the resume call tells a fork from a retry; empty if nothing does."""
    lacks: Mapping[Capability, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    """Environment variables for the worker, such as those that turn telemetry off."""
    by_default: bool = True
    """Whether it is measured when a user names the family and no path."""

    def forms_of(self, operation: Operation) -> tuple[Form, ...]:
        """The forms of one operation, the primary one first; empty if the plane has none."""
        return tuple(form for form in self.forms if form.operation is operation)

    def reason_against(self, backend: Backend, capability: Capability) -> str:
        """Why `capability` is missing on `backend`; empty if it is there."""
        callers = self.durability is Durability.CALLER and not self.framework_snapshots
        if capability is Capability.OWN_WRITES and callers:
            return f"What is saved, and when, is the caller's affair. {self.snapshots}".strip()
        if capability is Capability.COPY_INSIDE:
            return "" if backend.copies else "No copy of the store is made inside its process."
        if capability is Capability.LEASE_LOSS:
            return "" if backend.loses_leases else "No executor has a lease that it can lose while it lives."
        return backend.lacks.get(capability, self.lacks.get(capability, ""))
