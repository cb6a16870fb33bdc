"""Runs TLC on the modules of the guard's specification: what each has for constants and claims, and at which bounds."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from resumption.errors import ToolMissing
from resumption.model.tlc import find_jar, find_java, specification_folder

__all__ = ["DELIVERY", "EFFECTS", "FORK", "GUARD", "Module", "actions", "check", "constants", "run", "taken"]

_TAKEN = re.compile(r"^<(\w+) line .*>: \d+:(\d+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Module:
    """One module, with everything of those that it extends."""

    name: str
    specification: str
    faults: tuple[str, ...]
    invariants: tuple[str, ...]
    properties: tuple[str, ...]
    bounds: Mapping[str, str] = field(default_factory=dict)
    """The bounds at which it is checked with each run of the tests."""


def _extending(base: Module, name: str, specification: str, **more: tuple[str, ...] | Mapping[str, str]) -> Module:
    return Module(
        name,
        specification,
        (*base.faults, *more.get("faults", ())),
        (*base.invariants, *more.get("invariants", ())),
        (*base.properties, *more.get("properties", ())),
        {**base.bounds, **more.get("bounds", {})},  # type: ignore[dict-item]  # of the keywords only this is a mapping
    )


GUARD = Module(
    "Guard",
    "Spec",
    faults=(
        "ClaimOnRead",
        "NoRelease",
        "ClaimBeforeLease",
        "CoarseKey",
        "SharedKey",
        "Unfenced",
        "LateFence",
    ),
    invariants=("TypeOK", "ConsumedOnce", "DecisionKept", "OneEffective", "NoFencedWrite", "ClaimedUnderLease"),
    properties=("Finishes", "FenceGrows", "DecisionStays"),
    bounds={"Threads": "1", "Attempts": "1", "Interrupts": "2", "MaxFaults": "2", "Expiring": "FALSE"},
)
FORK = _extending(
    GUARD,
    "GuardFork",
    "ForkSpec",
    faults=("UnleasedFork",),
    invariants=("OwnDecision",),
    properties=("ForksEnd", "AttemptsAreNew"),
    bounds={"Threads": "2", "Attempts": "2", "MaxFaults": "1"},
)
DELIVERY = _extending(
    FORK,
    "GuardDelivery",
    "DeliverySpec",
    faults=("ClaimFirst", "PayloadIgnored", "IntentIgnored", "ForkUnrecorded", "FailureRecorded"),
    invariants=("ServedOnce", "FirstPayload", "OutcomeEarned"),
    properties=("DeliveryKept",),
    bounds={"Threads": "1", "Attempts": "1", "Ids": '{"d1", "d2"}'},
)
EFFECTS = _extending(
    FORK,
    "GuardEffects",
    "EffectSpec",
    faults=("Unchecked", "EarlyTakeover", "DoubtIgnored", "ExpiryIsDeath", "SharedEffectKey"),
    invariants=("FiredOnce", "ResultEarned", "CheckedEffect"),
    bounds={"Threads": "1", "Attempts": "1", "Interrupts": "1", "MaxFaults": "2"},
)


def check(
    module: Module,
    scratch: Path,
    *,
    executors: int = 2,
    fault: str = "",
    claim: str = "",
    coverage: bool = False,
    **bounds: object,
) -> str:
    """What TLC says of a module: of all its claims, or of one, with none of its faults switched on, or with one."""
    lines = constants(module, (f"e{number}" for number in range(executors)), {**module.bounds, **bounds}, fault)
    invariants = [one for one in module.invariants if claim in ("", one)]
    properties = [one for one in module.properties if claim in ("", one)]
    lines = [f"SPECIFICATION {module.specification}", *lines]
    lines += ["INVARIANTS", *invariants] if invariants else []
    lines += ["PROPERTIES", *properties] if properties else []
    configuration = scratch / "guard.cfg"
    configuration.write_text("\n".join(lines) + "\n")
    options = ["-metadir", str(scratch / "states"), "-config", str(configuration)]
    options += ["-coverage", "1"] if coverage else []
    return run([*options, module.name], specification_folder(), timeout=900)


def constants(module: Module, executors: Iterable[str], bounds: Mapping[str, object], fault: str = "") -> list[str]:
    """The lines of a configuration that give a module's constants their values."""
    names = ", ".join(f'"{name}"' for name in executors)
    given = {**bounds, **{name: str(name == fault).upper() for name in module.faults}}
    return ["CONSTANTS", f"    Executors = {{{names}}}", *(f"    {name} = {value}" for name, value in given.items())]


def run(arguments: Sequence[str], folder: Path, *, timeout: float, library: Path | None = None) -> str:
    """What TLC prints. A run may end, so its search for deadlocks is off. Skips the test if TLC isn't there."""
    try:
        java, jar = find_java(), find_jar()
    except ToolMissing as error:
        pytest.skip(str(error))
    memory = ["-Xmx1g", "-XX:+UseSerialGC", *([f"-DTLA-Library={library}"] if library else [])]
    command = [str(java), *memory, "-cp", str(jar), "tlc2.TLC", "-deadlock", "-workers", "1", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=timeout, check=False).stdout


def actions(said: str) -> set[str]:
    """The actions that a run with `coverage` was asked about."""
    return {name for name, _ in _TAKEN.findall(said)}


def taken(said: str) -> set[str]:
    """The actions that a run with `coverage` took."""
    return {name for name, count in _TAKEN.findall(said) if int(count)}
