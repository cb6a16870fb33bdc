"""What is demanded of `decide.branch`."""

from __future__ import annotations

from typing import Any

import z3

from proof.formulas import absent, call, is_any, present, some
from proof.spec import Case, Given, Spec
from proof.symbolic import Module
from proof.terms import INT, constant

__all__ = ["SPECS"]


def _branch(p: Given) -> tuple[Case, ...]:
    forks, plain = z3.And(p.known, p.fork), z3.And(p.known, z3.Not(p.fork))
    return (
        Case("UNKNOWN", z3.Not(p.known)),
        Case("FORK", z3.And(forks, p.interrupted)),
        Case("NOTHING_TO_FORK", z3.And(forks, z3.Not(p.interrupted))),
        Case("CONTINUE", z3.And(plain, p.head)),
        Case("SUPERSEDED", z3.And(plain, z3.Not(p.head))),
    )


def _intent_decides(m: Module) -> Any:
    """FI: without fork intent no delivery opens a branch, whatever it addresses."""
    one = call(m, "branch", fork=False)
    return z3.Not(one.result.member("FORK"))


def _retry_is_no_fork(m: Module) -> Any:
    """FI: at the same address, intent alone tells a retry from a fork."""
    retry, fork = call(m, "branch", fork=False), call(m, "branch", fork=True)
    return z3.Implies(fork.result.member("FORK"), z3.Not(retry.result.member("FORK")))


def _attempt_after(p: Given) -> tuple[Case, ...]:
    goes_on = is_any(p.outcome, "FORK", "CONTINUE")
    return (
        Case(some(p.highest + 1), p.outcome.member("FORK"), "a new attempt"),
        Case(some(p.attempt), p.outcome.member("CONTINUE"), "the attempt addressed"),
        Case(constant(INT.as_optional(), None), z3.Not(goes_on), "none"),
    )


def _new_attempt_is_new(m: Module) -> Any:
    """A fork's attempt is none of those that there are."""
    where = call(m, "branch")
    acts = call(m, "attempt_after", outcome=where.result)
    is_new = z3.And(acts.result.present, acts.result.value > acts.highest)
    return z3.Implies(where.result.member("FORK"), is_new)


def _refused_acts_nowhere(m: Module) -> Any:
    where = call(m, "branch")
    after = call(m, "attempt_after", outcome=where.result).result
    return z3.Implies(z3.Not(where.known), absent(after))


def _forks_differ(m: Module) -> Any:
    """Two attempts never share a claim key: of two forks, the one that is numbered later has another number."""
    where = call(m, "branch", fork=True)
    first = call(m, "attempt_after", "_first", outcome=where.result)
    later = call(m, "attempt_after", "_later", outcome=where.result)
    known = later.highest >= first.result.value
    forks = z3.And(where.result.member("FORK"), known)
    return z3.Implies(forks, first.result.value != later.result.value)


def _branch_is_kept(m: Module) -> Any:
    """Without fork intent a delivery acts on the attempt that it addresses, or on none."""
    where = call(m, "branch", fork=False)
    acts = call(m, "attempt_after", outcome=where.result)
    return z3.Implies(present(acts.result), acts.result.value == acts.attempt)


SPECS = (
    Spec(
        "branch",
        _branch,
        {"only intent opens a branch (FI)": _intent_decides, "a retry is no fork (FI)": _retry_is_no_fork},
    ),
    Spec(
        "attempt_after",
        _attempt_after,
        {
            "a fork's attempt is new": _new_attempt_is_new,
            "a refused delivery acts nowhere": _refused_acts_nowhere,
            "two forks never share an attempt": _forks_differ,
            "a retry stays on its attempt (FI)": _branch_is_kept,
        },
    ),
)
