"""The proof fails where it should: on wrong functions, weak specs, and tools that crash."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
import z3
from proof.certificates import CERTIFICATES, with_rule
from proof.checking import check, demanded
from proof.differential import disagreements
from proof.formulas import call
from proof.inductive import Core, inductive, refinement
from proof.mutants import mutants
from proof.mutation import mutate
from proof.order import order_sensitive, reorderings
from proof.spec import Case, Given, Spec
from proof.specs import SPECS
from proof.translate import translate

import resumption.decide
from proof import mutation

FOLDER = Path(resumption.decide.__file__).parent
FILES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")


def source(name: str) -> str:
    return (FOLDER / f"{name}.py").read_text()


def core(**replaced: str) -> Core:
    names = ("branch", "claim", "commit", "recover", "view")
    return Core(**{name: translate(replaced.get(name, source(name))) for name in names})


DOOR = """
from enum import StrEnum
class Door(StrEnum):
    OPEN = "open"
    SHUT = "shut"
def door(*, hour: int) -> Door:
    if hour >= 9:
        return Door.OPEN
    return Door.SHUT
"""


def _opening_hours(p: Given) -> tuple[Case, ...]:
    return (Case("OPEN", p.hour >= 9), Case("SHUT", p.hour < 9))


DOOR_SPEC = Spec("door", _opening_hours)


def failing(text: str, *specs: Spec) -> set[str]:
    return {o.name for o in demanded(translate(text), specs) if check(o, second_opinion=True)}


@pytest.mark.parametrize("name", FILES)
def test_what_is_demanded_of_a_file_holds(name: str) -> None:
    found = list(demanded(translate(source(name)), SPECS[name]))
    assert found
    assert [failure for o in found if (failure := check(o, second_opinion=True))] == []


def test_a_right_function_meets_its_spec() -> None:
    assert failing(DOOR, DOOR_SPEC) == set()


def test_a_wrong_boundary_fails_the_case_that_it_is_in() -> None:
    assert "door: OPEN when it is due" in failing(DOOR.replace(">=", ">"), DOOR_SPEC)


def test_a_spec_with_a_gap_is_found_out() -> None:
    gap = Spec("door", lambda p: (Case("OPEN", p.hour >= 9), Case("SHUT", p.hour < 8)))
    assert failing(DOOR, gap) == {"door: cases cover everything", "door: nothing is left unstated"}


def test_a_spec_with_an_overlap_is_found_out() -> None:
    overlap = Spec("door", lambda p: (Case("OPEN", p.hour >= 9), Case("SHUT", p.hour < 10)))
    assert "door: cases OPEN and SHUT exclude each other" in failing(DOOR, overlap)


def test_two_branches_with_one_name_are_found_out() -> None:
    twice = DOOR.replace("    if hour", "    if hour > 20:\n        return Door.OPEN\n    if hour")
    assert failing(twice, DOOR_SPEC) == {"door: each branch has a name of its own"}


def test_a_branch_that_nothing_reaches_is_found_out() -> None:
    dead = DOOR.replace("    return Door.SHUT", "    if hour >= 10:\n        return Door.OPEN\n    return Door.SHUT")
    assert any("is reached" in name for name in failing(dead, DOOR_SPEC))


def test_a_function_without_a_spec_is_found_out() -> None:
    assert failing(DOOR) == {"door: is both in the file and in its spec"}


def test_a_law_that_doesnt_hold_is_found_out() -> None:
    law = Spec("door", _opening_hours, {"always open": lambda m: call(m, "door").result.member("OPEN")})
    assert failing(DOOR, law) == {"door: always open"}


def test_recovery_is_proved_independent_of_order_and_the_usual_mistake_is_not() -> None:
    found = [*reorderings(translate(source("recover"))), order_sensitive()]
    assert len(found) == 4
    assert [failure for o in found if (failure := check(o, second_opinion=True))] == []


def test_the_shipped_decisions_keep_the_invariant_and_refine_the_model() -> None:
    found = [*inductive(core()), *refinement(core())]
    assert len(found) == 72 + 108
    assert [failure for o in found if (failure := check(o, second_opinion=True))] == []


@pytest.mark.parametrize("certificate", CERTIFICATES, ids=lambda certificate: certificate.rule)
def test_a_wrong_rule_is_refuted_where_it_breaks_the_contract(certificate) -> None:
    wrong = core(**{certificate.module: with_rule(source(certificate.module), certificate)})
    assert {o.name for o in inductive(wrong) if check(o, second_opinion=False)} == certificate.breaks


def test_mutants_of_a_small_file_are_all_caught() -> None:
    mutated = mutate(DOOR, (DOOR_SPEC,))
    assert mutated.clean
    assert mutated.refuted == mutated.total == len(list(mutants(DOOR))) > 8


def test_a_weak_spec_lets_mutants_survive() -> None:
    weak = Spec("door", lambda p: (Case("OPEN", z3.And(p.hour >= 9, p.hour <= 0)), Case("SHUT", p.hour < 9)))
    assert not mutate(DOOR, (weak,)).clean


def test_a_file_that_fails_unmutated_gets_no_credit_for_its_mutants() -> None:
    mutated = mutate(DOOR.replace(">=", ">"), (DOOR_SPEC,))
    assert (mutated.clean, mutated.total) == (False, 0)
    assert mutated.unmutated


def test_a_crash_of_the_tools_is_no_refutation(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object) -> None:
        raise RuntimeError("the solver is gone")

    monkeypatch.setattr(mutation, "_caught", crash)
    mutated = mutate(DOOR, (DOOR_SPEC,))
    assert mutated.refuted == 0
    assert len(mutated.crashed) == mutated.total > 0
    assert not mutated.clean


@pytest.mark.parametrize("name", FILES)
def test_cpython_and_the_translation_agree(name: str) -> None:
    made, differ = disagreements(translate(source(name)), import_module(f"resumption.decide.{name}"), calls=60, seed=2)
    assert made >= 60
    assert differ == []


def test_a_translation_of_another_function_disagrees() -> None:
    recover = import_module("resumption.decide.recover")
    _, differ = disagreements(
        translate(source("recover").replace("missing > 0", "missing > 1")), recover, calls=60, seed=2
    )
    assert differ
