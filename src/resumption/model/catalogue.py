"""Every run of the model by name: what is explored, at which bounds, and which claims are made of it.

A run names a TLA+ module with its constants and the same machine in Python, so that each can be checked by both. The
names follow Table II of "Resume Means Resume" (arXiv 2608.03836); the cells of a matrix are runs of one claim each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from resumption.model.invariant import INDUCTIVE_INVARIANT, NO_RESPONDER, fork_intent, inductive_check
from resumption.model.machine import Machine
from resumption.model.search import LIVENESS
from resumption.model.semantics import PROPERTIES, WITNESS_AFTER_GATE, Bounds, Fault, Faults, resume_contract
from resumption.model.variants import (
    STATE_REBUILT,
    ConsumeArm,
    ForkPath,
    Parking,
    Rebuilding,
    Separation,
    consume_count,
    langgraph_fork,
    parked,
    separations,
    state_rebuild,
)

__all__ = [
    "CONJUNCTION",
    "MATRIX_BOUNDS",
    "R8_BOUNDS",
    "WIDE_BOUNDS",
    "Run",
    "consume_cells",
    "inductive_runs",
    "matrix_cells",
    "named_runs",
    "parked_cells",
    "separation_cells",
    "table_runs",
]

R0_BOUNDS = Bounds()
MATRIX_BOUNDS = Bounds(crashes=2)
"""R0 with a second crash: with one, no two recoveries could ever be compared, and RD would hold vacuously."""
R8_BOUNDS = Bounds(tasks=10, gate=5, values=4, resumes=5, crashes=4, extras=4)
WIDE_BOUNDS = Bounds(tasks=6, gate=3, values=3, resumes=3, crashes=2, extras=2)
INDUCTION_BOUNDS = (
    Bounds(tasks=3, gate=2, values=2, resumes=2, crashes=1, extras=1),
    Bounds(tasks=4, gate=1, values=3, resumes=2, crashes=2, extras=2),
    Bounds(tasks=2, gate=2, values=1, resumes=1, crashes=3, extras=0),
)
"""Three sets of constants, among which each of the six bounds varies."""

CONJUNCTION = (*PROPERTIES, "TypeOK")
COUNTED = ("EO", "PC", "FD", "CV", "CO-c", "CO-e", "RD", "TypeOK")

Constants = Mapping[str, int | bool | str]


@dataclass(frozen=True, slots=True)
class Run:
    """One exploration and the claims that are checked in it."""

    name: str
    about: str
    module: str
    constants: Constants
    claims: tuple[str, ...]
    machine: Callable[[], Machine[Any]]  # the state type differs from module to module, and no consumer needs it
    specification: str = "Spec"
    folder: str = "table2"
    packed: tuple[Bounds, Faults] | None = None
    """For a state space of millions: the bounds and faults with which `explore` takes it."""

    @property
    def liveness(self) -> bool:
        """Whether `EventuallyCompletes` is among the claims."""
        return LIVENESS in self.claims

    @property
    def safety(self) -> tuple[str, ...]:
        """The claims about single states."""
        return tuple(claim for claim in self.claims if claim != LIVENESS)


def contract_constants(bounds: Bounds, faults: Faults = frozenset()) -> dict[str, int | bool | str]:
    """The constants of `ResumeContract` and of every module that extends it."""
    return {
        "N": bounds.tasks,
        "IP": bounds.gate,
        "NumValues": bounds.values,
        "MaxResumes": bounds.resumes,
        "MaxCrashes": bounds.crashes,
        "MaxExtra": bounds.extras,
        **{f"Fault{fault}": fault in faults for fault in Fault},
    }


def _contract(
    name: str, about: str, claims: tuple[str, ...], fault: Fault | None = None, bounds: Bounds = R0_BOUNDS
) -> Run:
    faults: Faults = frozenset() if fault is None else frozenset({fault})
    packed = (bounds, faults) if bounds == R8_BOUNDS else None
    machine = partial(resume_contract, bounds, faults)
    return Run(name, about, "ResumeContract", contract_constants(bounds, faults), claims, machine, packed=packed)


def _separation(separation: Separation) -> Run:
    broken = {Separation.REGATE: "RD", Separation.REBUILD: "PC", Separation.REDELIVER: "EO"}[separation]
    constants = {**contract_constants(MATRIX_BOUNDS), "Separation": separation.value}
    return Run(
        f"R10-{separation}",
        f"{separation}, whole space: everything but {broken} holds",
        "Separations",
        constants,
        tuple(claim for claim in CONJUNCTION if claim != broken),
        partial(separations, MATRIX_BOUNDS, separation),
        specification="SepSpec",
    )


def _counted(name: str, about: str, arm: ConsumeArm, bounds: Bounds, claims: tuple[str, ...]) -> Run:
    constants = {**contract_constants(bounds), "Arm": arm.value, "FaultDoubleConsume": arm is ConsumeArm.EXTRA}
    machine = partial(consume_count, bounds, arm)
    return Run(name, about, "ConsumeCount", constants, claims, machine, specification="CountSpec")


def _parked(parking: Parking, bounds: Bounds, claims: tuple[str, ...], faults: Faults = frozenset()) -> Run:
    constants = {**contract_constants(bounds, faults), "VolatileParking": parking is Parking.VOLATILE}
    return Run(
        f"Parked-{parking}",
        f"a crash while parked, {parking} parking",
        "ResumeContractParked",
        constants,
        claims,
        partial(parked, bounds, parking, faults),
        specification="ParkedSpec",
    )


def _rebuilt(name: str, about: str, rebuilding: Rebuilding, claims: tuple[str, ...]) -> Run:
    constants = {**contract_constants(MATRIX_BOUNDS), "Forgetful": rebuilding is Rebuilding.FORGETFUL}
    machine = partial(state_rebuild, MATRIX_BOUNDS, rebuilding)
    return Run(name, about, "StateRebuild", constants, claims, machine, specification="RebuildSpec")


def _langgraph(path: ForkPath, about: str) -> Run:
    constants: Constants = {"NumValues": 2, "Path": path.value}
    return Run(f"LGF-{path}", about, "LangGraphFork", constants, ("FD",), partial(langgraph_fork, 2, path))


def _responders(name: str, about: str, discriminator: bool) -> Run:
    constants: Constants = {"NumValues": 2, "Discriminator": discriminator}
    machine = partial(fork_intent, 2, discriminator)
    return Run(name, about, "ForkIntent", constants, (NO_RESPONDER,), machine)


def table_runs() -> tuple[Run, ...]:
    """The runs of Table II, in its order, and those of the neighbouring modules."""
    return (
        _contract("R0", "the reference: every property and TypeOK", CONJUNCTION),
        _contract("R1", "replay fires effects again", ("EO",), Fault.REPLAY),
        _contract("R2", "a fork's value is ignored", ("FD",), Fault.FORK_IGNORE),
        _contract("R3", "an invalid write is stored", ("CV",), Fault.INVALID_PERSIST),
        _contract("R4", "two recoveries from one log differ", ("RD",), Fault.NONDET_RECOVERY, MATRIX_BOUNDS),
        _contract("R5", "an extra resume fires the gate again", ("CO",), Fault.DOUBLE_CONSUME),
        _contract("R6", "the reference: every run completes", (LIVENESS,)),
        _rebuilt("R7", "recovery rebuilds its state from the log", Rebuilding.FROM_LOG, (*CONJUNCTION, STATE_REBUILT)),
        _rebuilt("R7-F", "recovery forgets its state", Rebuilding.FORGETFUL, (STATE_REBUILT,)),
        _contract("R8", "the reference at large constants", CONJUNCTION, None, R8_BOUNDS),
        _contract("R8-F", "R2 at large constants", ("FD",), Fault.FORK_IGNORE, R8_BOUNDS),
        _contract("R8-D", "R5 at large constants", ("CO",), Fault.DOUBLE_CONSUME, R8_BOUNDS),
        _contract("R9", "prefix replay fires effects again", ("EO",), Fault.PREFIX_REPLAY),
        _contract(
            "R9-space", "prefix replay, whole space", ("FD", "CV", "CO", "RD"), Fault.PREFIX_REPLAY, MATRIX_BOUNDS
        ),
        _contract("R9W", "prefix replay across an answered gate", (WITNESS_AFTER_GATE,), Fault.PREFIX_REPLAY),
        *(_separation(separation) for separation in Separation),
        _counted("R11-reference", "consumptions counted", ConsumeArm.REFERENCE, R0_BOUNDS, COUNTED),
        _counted("R11-race", "idempotent race, all but CO-c", ConsumeArm.RACE, R0_BOUNDS, _all_but("CO-c")),
        _counted(
            "R11-firing", "firing race, what it keeps", ConsumeArm.FIRING, R0_BOUNDS, _all_but("CO-c", "CO-e", "EO")
        ),
        _counted("R11-wide", "idempotent race at wide bounds", ConsumeArm.RACE, WIDE_BOUNDS, _all_but("CO-c")),
        _parked(Parking.DURABLE, R0_BOUNDS, (*CONJUNCTION, LIVENESS)),
        _parked(Parking.VOLATILE, R0_BOUNDS, (*CONJUNCTION, LIVENESS)),
        _langgraph(ForkPath.STORED_ANSWER_WINS, "LangGraph: the stored answer wins"),
        _langgraph(ForkPath.ANSWER_CLEARED, "LangGraph: the fork is answered afresh"),
        _responders("FI-without", "Proposition 1: no responder without a discriminator", False),
        _responders("FI-with", "Proposition 1: a responder with one", True),
    )


def _all_but(*claims: str) -> tuple[str, ...]:
    return tuple(claim for claim in COUNTED if claim not in claims)


def inductive_runs() -> tuple[Run, ...]:
    """`IndCheck` at three sets of constants: the invariant is inductive at each."""
    return tuple(
        Run(
            f"IndCheck-{number}",
            f"the invariant is inductive at constants {number}",
            "IndCheck",
            contract_constants(bounds),
            (INDUCTIVE_INVARIANT,),
            partial(inductive_check, bounds),
            specification="IndSpec",
            folder="inductive",
        )
        for number, bounds in enumerate(INDUCTION_BOUNDS, start=1)
    )


def matrix_cells(bounds: Bounds = MATRIX_BOUNDS) -> Iterator[Run]:
    """Table III, 39 cells: six faults by six properties, and three of the reference.

    The paper's own composition of the last three isn't known to us; here they are the six properties together, `TypeOK`
    and `EventuallyCompletes`.
    """
    folder = "table3"
    for fault in Fault:
        for code in PROPERTIES:
            run = _contract(f"{fault}/{code}", f"{fault} against {code}", (code,), fault, bounds)
            yield replace(run, folder=folder)
    for name, claims in (("properties", tuple(PROPERTIES)), ("TypeOK", ("TypeOK",)), ("liveness", (LIVENESS,))):
        yield replace(_contract(f"reference/{name}", f"the reference: {name}", claims, None, bounds), folder=folder)


def separation_cells() -> Iterator[Run]:
    """R10, 21 cells: three separating deviations by six properties and `TypeOK`."""
    for separation in Separation:
        for code in CONJUNCTION:
            about = f"{separation} against {code}"
            whole = _separation(separation)
            yield replace(whole, name=f"{separation}/{code}", about=about, claims=(code,), folder="separations")


def consume_cells(bounds_name: str) -> Iterator[Run]:
    """R11, 32 cells: four arms by eight claims, at the bounds `reference` (R0's) or `wide`."""
    bounds = {"reference": R0_BOUNDS, "wide": WIDE_BOUNDS}[bounds_name]
    for arm in ConsumeArm:
        for code in COUNTED:
            run = _counted(f"{arm}/{code}", f"{arm} against {code}, {bounds_name} bounds", arm, bounds, (code,))
            yield replace(run, folder=f"consume-{bounds_name}")


def parked_cells(parking: Parking) -> Iterator[Run]:
    """The full matrix with crashes while parked: Table III's 39 cells again, for one kind of parking."""
    for fault in (*Fault, None):
        faults: Faults = frozenset() if fault is None else frozenset({fault})
        rows: list[tuple[str, tuple[str, ...]]] = [(code, (code,)) for code in PROPERTIES]
        if fault is None:
            rows = [("properties", tuple(PROPERTIES)), ("TypeOK", ("TypeOK",)), ("liveness", (LIVENESS,))]
        for label, claims in rows:
            run = _parked(parking, MATRIX_BOUNDS, claims, faults)
            yield replace(run, name=f"{fault or 'reference'}/{label}", folder=f"parked-{parking}")


def named_runs() -> dict[str, Run]:
    """Every run that has a name of its own, by that name: those of `table_runs` and `inductive_runs`."""
    return {run.name: run for run in (*table_runs(), *inductive_runs())}
