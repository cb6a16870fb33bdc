"""What is demanded of `decide.commit`."""

from __future__ import annotations

from typing import Any

import z3

from proof.formulas import call, number
from proof.spec import Case, Given, Spec
from proof.symbolic import Module

__all__ = ["SPECS"]


def _commit(p: Given) -> tuple[Case, ...]:
    own = p.fence == p.current_fence
    new = z3.And(own, z3.Not(p.recorded))
    return (
        Case("FENCED", z3.Not(own)),
        Case("ALREADY_DURABLE", z3.And(own, p.recorded)),
        Case("INVALID", z3.And(new, z3.Not(p.valid))),
        Case("OUT_OF_ORDER", z3.And(new, p.valid, p.missing > 0)),
        Case("STORED", z3.And(new, p.valid, p.missing <= 0)),
    )


def _stored_once(m: Module) -> Any:
    """After a task's record is stored, no later request for it is, whoever makes it."""
    first = call(m, "commit", "_first")
    again = call(m, "commit", "_again", recorded=True)
    return z3.Implies(first.result.member("STORED"), z3.Not(again.result.member("STORED")))


def _valid_only(m: Module) -> Any:
    one = call(m, "commit")
    return z3.Implies(one.result.member("STORED"), one.valid)


def _no_hole(m: Module) -> Any:
    one = call(m, "commit")
    return z3.Implies(one.result.member("STORED"), one.missing <= 0)


def _current_fence_only(m: Module) -> Any:
    one = call(m, "commit")
    return z3.Implies(one.fence < one.current_fence, one.result.member("FENCED"))


def _frontier_after(p: Given) -> tuple[Case, ...]:
    stored = p.outcome.member("STORED")
    return (
        Case(number(p.position), stored, "the task stored"),
        Case(number(p.frontier), z3.Not(stored), "the frontier as it was"),
    )


def _frontier_is_maximum(m: Module) -> Any:
    """In a sequence without holes, storing a task makes its position the highest, and moves the frontier by one."""
    frontier, position = z3.Ints("frontier position")
    ahead = position - frontier - 1
    one = call(m, "commit", missing=z3.If(ahead > 0, ahead, 0), recorded=position <= frontier)
    after = call(m, "frontier_after", outcome=one.result, frontier=frontier, position=position).result.value
    return z3.And(z3.Or(after == frontier, after == frontier + 1), z3.Implies(after != frontier, after == position))


def _answers(p: Given) -> tuple[Case, ...]:
    own = p.fence == p.current_fence
    return (
        Case("FENCED", z3.Not(own)),
        Case("KEPT", z3.And(own, p.offered < p.stored)),
        Case("STORED", z3.And(own, p.offered >= p.stored)),
    )


def _answers_never_shrink(m: Module) -> Any:
    one = call(m, "answers")
    after = z3.If(one.result.member("STORED"), one.offered, one.stored)
    return after >= one.stored


def _superseded_answers_nothing(m: Module) -> Any:
    one = call(m, "answers")
    return z3.Implies(one.fence < one.current_fence, one.result.member("FENCED"))


SPECS = (
    Spec(
        "commit",
        _commit,
        {
            "a record is stored once": _stored_once,
            "only a valid write is stored": _valid_only,
            "the log has no hole": _no_hole,
            "a superseded writer stores nothing": _current_fence_only,
        },
    ),
    Spec("frontier_after", _frontier_after, {"the frontier is the highest position": _frontier_is_maximum}),
    Spec(
        "answers",
        _answers,
        {
            "answers never shrink": _answers_never_shrink,
            "a superseded writer answers nothing": _superseded_answers_nothing,
        },
    ),
)
