"""No conjunct, guard or step of the semantics can be changed unnoticed by every figure and the other checker."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.model.mutants import Mutant, load, mutants

from resumption.model import semantics
from resumption.model.explore import explore
from resumption.model.machine import Machine
from resumption.model.published import FIGURES, FOOTPRINTS, SPACES
from resumption.model.search import eventually_completes, search, survey
from resumption.model.semantics import Bounds, Fault

LIMIT = 3_000
"""No space below has this many states: a mutant that passes the limit has lost a bound."""

RUNS = {
    "R0": (("EO", "PC", "FD", "CV", "CO", "RD", "TypeOK"), None, 1),
    "R1": (("EO",), "Replay", 1),
    "R2": (("FD",), "ForkIgnore", 1),
    "R3": (("CV",), "InvalidPersist", 1),
    "R4": (("RD",), "NondetRecovery", 2),
    "R5": (("CO",), "DoubleConsume", 1),
    "R9": (("EO",), "PrefixReplay", 1),
    "R9W": (("NoPrefixEffectAfterGate",), "PrefixReplay", 1),
}
OTHER_BOUNDS = [
    Bounds(tasks=2, gate=1, values=1, resumes=3, crashes=1, extras=2),
    Bounds(tasks=3, gate=3, values=2, resumes=2, crashes=2, extras=0),
]


class Fate(StrEnum):
    KILLED = "killed"
    CRASHED = "crashed"
    SURVIVED = "survived"


def machine_of(module: ModuleType, bounds: Bounds, fault: str | None) -> Machine[Any]:
    """The module's machine, with one more claim: that the space stays small."""
    own = module.Bounds(**{name: getattr(bounds, name) for name in Bounds.__slots__})
    machine: Machine[Any] = module.resume_contract(
        own, frozenset() if fault is None else frozenset({module.Fault(fault)})
    )
    seen = iter(range(LIMIT))
    return replace(machine, invariants={**machine.invariants, "small": lambda _: next(seen, None) is not None})


def suspicions(module: ModuleType) -> Iterator[bool]:
    """Whether each published figure, and each result of the packed checker, is missed; the cheap ones first."""
    for name, (claims, fault, crashes) in RUNS.items():
        outcome = search(machine_of(module, Bounds(crashes=crashes), fault), [*claims, "small"])
        figure = FIGURES[name]
        broken = outcome.violation.claim if outcome.violation else None
        yield (outcome.generated, outcome.distinct, outcome.depth) != (figure.generated, figure.distinct, figure.depth)
        yield broken != figure.broken
    for fault in (None, "Replay"):
        yield search(machine_of(module, Bounds(), fault), ["NoPrefixEffectAfterGate", "small"]).violation is not None
    yield eventually_completes(machine_of(module, Bounds(), None)) is not None
    yield from unreachable(module)
    yield from ill_typed(module)
    for fault, footprint in FOOTPRINTS.items():
        machine = machine_of(module, Bounds(crashes=2), fault)
        found = survey_within(machine, (*semantics.PROPERTIES, "TypeOK"))
        yield found is None or found[1] != footprint
        yield found is None or found[0] != SPACES.get(fault, found[0])
    for bounds in OTHER_BOUNDS:
        for fault in (None, *Fault):
            explored = explore(bounds, frozenset() if fault is None else frozenset({fault}), stop=False)
            found = survey_within(machine_of(module, bounds, fault), (*semantics.PROPERTIES, "TypeOK"))
            yield found != ((explored.generated, explored.distinct), explored.broken)


def survey_within(machine: Machine[Any], claims: tuple[str, ...]) -> tuple[tuple[int, int], dict[str, int]] | None:
    """The size of the space and what breaks in it; `None` if the space isn't small."""
    if search(machine, ["small"]).violation:
        return None
    surveyed = survey(machine, {claim: machine.invariants[claim] for claim in claims})
    return (surveyed.generated, surveyed.distinct), dict(surveyed.broken)


def unreachable(module: ModuleType) -> Iterator[bool]:
    """Whether an action is wrong in states that the reference never reaches, but its variants do."""
    bounds = module.Bounds()
    start = module.initial_state(bounds)
    asked_again = replace(start, pc=2, waiting=True, consumed=1)
    yield list(module.execute_task(bounds, frozenset(), asked_again)) != []
    regressed = replace(start, pc=3, durable=2, consumed=1, prefix_regress=True)
    yield not all(after.prefix_regress for after in module.execute_task(bounds, frozenset(), regressed))


def ill_typed(module: ModuleType) -> Iterator[bool]:
    """Whether a state outside of its type passes `type_ok`, one variable at a time."""
    bounds = module.Bounds()
    start = module.initial_state(bounds)
    recovered: list[dict[str, Any]] = [
        {"crashes": 1, "recoveries": (module.Recovery(*decision),)} for decision in ((0, 1), (3, 3))
    ]
    others: list[dict[str, Any]] = [
        {},
        {"fork_values": (2,), "fork_outcomes": (1,)},
        {"extras": 1},
        {"pc": 4, "durable": 3},
    ]
    for good in (*recovered, *others):
        yield not module.type_ok(bounds, replace(start, **good))
    wrong: list[dict[str, Any]] = [
        {"pc": 0},
        {"pc": 5},
        {"effects": (0, 0)},
        {"effects": (0, -1, 0)},
        {"log": (module.Record(4, True),)},
        {"durable": -1},
        {"durable": 4},
        {"consumed": -1},
        {"consumed": 3},
        {"fork_values": (1,)},
        {"fork_values": (1, 1), "fork_outcomes": (1, 1)},
        {"fork_values": (3,), "fork_outcomes": (1,)},
        {"fork_values": (1,), "fork_outcomes": (0,)},
        {"crashes": 1},
        {"crashes": 2, "recoveries": (module.Recovery(1, 2),) * 2},
        {"crashes": 1, "recoveries": (module.Recovery(-1, 2),)},
        {"crashes": 1, "recoveries": (module.Recovery(4, 2),)},
        {"crashes": 1, "recoveries": (module.Recovery(1, 4),)},
        {"extras": -1},
        {"extras": 2},
    ]
    yield from (module.type_ok(bounds, replace(start, **variables)) for variables in wrong)


def fate(mutant: Mutant, folder: Path) -> Fate:
    """What becomes of the mutant. An exception counts as its own only if the mutant's own code raised it."""
    try:
        return Fate.KILLED if any(suspicions(load(mutant, folder))) else Fate.SURVIVED
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        if any(Path(frame.filename).parent == folder for frame in frames):
            return Fate.CRASHED
        raise


def test_the_unchanged_file_raises_no_suspicion(tmp_path: Path) -> None:
    unchanged = Mutant("unchanged", Path(semantics.__file__).read_text(encoding="utf-8"))
    assert fate(unchanged, tmp_path) is Fate.SURVIVED


@pytest.mark.parametrize("part", range(4))
def test_no_mutant_of_the_semantics_survives(part: int, tmp_path: Path) -> None:
    fates = {mutant.name: fate(mutant, tmp_path) for mutant in mutants()[part::4]}
    crashed = [name for name, ended in fates.items() if ended is Fate.CRASHED]
    assert [name for name, ended in fates.items() if ended is Fate.SURVIVED] == []
    assert len(crashed) <= len(fates) // 10, crashed


def test_an_error_of_the_harness_is_no_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def defect(*_: object) -> Iterator[bool]:
        raise ZeroDivisionError

    monkeypatch.setattr(sys.modules[__name__], "ill_typed", defect)
    unchanged = Mutant("unchanged", Path(semantics.__file__).read_text(encoding="utf-8"))
    with pytest.raises(ZeroDivisionError):
        fate(unchanged, tmp_path)


def test_mutants_are_different_programs() -> None:
    sources = sorted(mutant.source for mutant in mutants())
    assert len(sources) > 100
    assert sum(one == other for one, other in pairwise(sources)) < len(sources) // 10
