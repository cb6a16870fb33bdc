"""What is demanded of `decide.view`."""

from __future__ import annotations

from typing import Any

import z3

from proof.formulas import absent, call, is_any, present, same, some
from proof.spec import Case, Given, Spec
from proof.symbolic import Module

__all__ = ["LAWS", "SPECS"]


def _view(p: Given) -> tuple[Case, ...]:
    asked = same(p.recorded_for, p.interrupt)
    own = p.recorded_on == p.attempt
    before = z3.And(present(p.shared_before), p.position < p.shared_before.value)
    return (
        Case("NONE", absent(p.recorded_for)),
        Case("OTHER_INTERRUPT", z3.And(present(p.recorded_for), z3.Not(asked))),
        Case("OWN", z3.And(asked, own)),
        Case("INHERITED", z3.And(asked, z3.Not(own), before)),
        Case("OTHER_BRANCH", z3.And(asked, z3.Not(own), z3.Not(before))),
    )


def _served(m: Module, one: Any) -> Any:
    return call(m, "visible", outcome=one.result).result.value


def _fork_is_not_served_the_first(m: Module) -> Any:
    """FD: at the interrupt where an attempt forked off, it isn't served what was decided before."""
    position = z3.Int("position")
    one = call(m, "view", position=position, shared_before=some(position))
    return z3.Implies(one.recorded_on != one.attempt, z3.Not(_served(m, one)))


def _own_decision_is_served(m: Module) -> Any:
    """FD: an attempt is served the decision that was given to it."""
    one = call(m, "view")
    own = z3.And(one.recorded_on == one.attempt, same(one.recorded_for, one.interrupt))
    return z3.Implies(own, _served(m, one))


def _one_decision_one_interrupt(m: Module) -> Any:
    """CO, its count: a decision is served to the interrupt that it was given for, and to no other."""
    one, other = call(m, "view", "_one"), call(m, "view", "_other")
    record = same(one.recorded_for, other.recorded_for)
    both = z3.And(record, _served(m, one), _served(m, other))
    return z3.Implies(both, same(one.interrupt, other.interrupt))


def _unrelated_is_hidden(m: Module) -> Any:
    one = call(m, "view")
    unrelated = z3.And(one.recorded_on != one.attempt, absent(one.shared_before))
    return z3.Implies(unrelated, z3.Not(_served(m, one)))


def _visible(p: Given) -> tuple[Case, ...]:
    served = is_any(p.outcome, "OWN", "INHERITED")
    return (Case(True, served), Case(False, z3.Not(served)))


LAWS = {
    "a fork isn't served the first decision (FD)": _fork_is_not_served_the_first,
    "an attempt is served its own decision (FD)": _own_decision_is_served,
    "one decision answers one interrupt (CO-c)": _one_decision_one_interrupt,
    "an unrelated branch's decision is hidden": _unrelated_is_hidden,
}

SPECS = (Spec("view", _view, LAWS), Spec("visible", _visible))
