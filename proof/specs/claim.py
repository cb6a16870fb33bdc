"""What is demanded of `decide.claim`."""

from __future__ import annotations

from typing import Any

import z3

from proof.formulas import absent, call, is_any, present, same
from proof.spec import Case, Given, Spec
from proof.symbolic import Module

__all__ = ["SPECS"]


def _redelivery(p: Given) -> tuple[Case, ...]:
    again = same(p.recorded_digest, p.digest)
    return (
        Case("FIRST", absent(p.recorded_digest)),
        Case("MISMATCH", z3.And(present(p.recorded_digest), z3.Not(again))),
        Case("REPEATED", z3.And(again, p.finished)),
        Case("IN_PROGRESS", z3.And(again, z3.Not(p.finished), p.executing)),
        Case("RETRIED", z3.And(again, z3.Not(p.finished), z3.Not(p.executing))),
    )


def _outcome_is_final(m: Module) -> Any:
    """A delivery with a recorded outcome is never executed again, under whatever payload."""
    one = call(m, "redelivery")
    recorded = z3.And(present(one.recorded_digest), one.finished)
    return z3.Implies(recorded, is_any(one.result, "REPEATED", "MISMATCH"))


def _other_payload_is_never_served(m: Module) -> Any:
    """An id stands for its first payload: with another one nothing is returned, joined or run."""
    one = call(m, "redelivery")
    other = z3.And(present(one.recorded_digest), z3.Not(same(one.recorded_digest, one.digest)))
    return z3.Implies(other, one.result.member("MISMATCH"))


def _failure_can_be_retried(m: Module) -> Any:
    """What was accepted and came to no outcome goes on once the thread is free; until then it is joined."""
    one = call(m, "redelivery", finished=False)
    again = same(one.recorded_digest, one.digest)
    return z3.Implies(again, z3.If(one.executing, one.result.member("IN_PROGRESS"), one.result.member("RETRIED")))


def _binding(p: Given) -> tuple[Case, ...]:
    bare = z3.Not(p.named)
    return (
        Case("NAMED", z3.And(p.named, p.known)),
        Case("UNKNOWN", z3.And(p.named, z3.Not(p.known))),
        Case("NOTHING_PENDING", z3.And(bare, p.pending < 1, z3.Not(p.at_breakpoint))),
        Case("BREAKPOINT", z3.And(bare, p.pending < 1, p.at_breakpoint)),
        Case("SOLE", z3.And(bare, p.pending == 1)),
        Case("AMBIGUOUS", z3.And(bare, p.pending > 1)),
    )


def _never_guesses(m: Module) -> Any:
    one = call(m, "binding")
    return z3.Implies(one.result.member("SOLE"), one.pending == 1)


def _answers_ahead_at_breakpoints_only(m: Module) -> Any:
    one = call(m, "binding", at_breakpoint=False)
    return z3.Not(one.result.member("BREAKPOINT"))


def _never_invents(m: Module) -> Any:
    one = call(m, "binding")
    return z3.Implies(one.result.member("NAMED"), one.known)


def _claim(p: Given) -> tuple[Case, ...]:
    unclaimed, again = absent(p.claimed_digest), same(p.claimed_digest, p.digest)
    other = z3.And(present(p.claimed_digest), z3.Not(again))
    is_open = z3.Not(p.consumed)
    return (
        Case("REPEATED", z3.And(p.consumed, again)),
        Case("ALREADY_CONSUMED", z3.And(p.consumed, z3.Not(again))),
        Case("CONSUMED", z3.And(is_open, unclaimed, p.pending, p.leased)),
        Case("WAITS", z3.And(is_open, unclaimed, p.pending, z3.Not(p.leased))),
        Case("WITHDRAWN", z3.And(is_open, unclaimed, z3.Not(p.pending))),
        Case("RECOVERED", z3.And(is_open, again, p.leased)),
        Case("JOINED", z3.And(is_open, again, z3.Not(p.leased))),
        Case("PENDING", z3.And(is_open, other, p.leased)),
        Case("CLAIMED", z3.And(is_open, other, z3.Not(p.leased))),
    )


def _consumes(m: Module, one: Any) -> Any:
    return call(m, "consumes", outcome=one.result).result.value


def _one_decision_only(m: Module) -> Any:
    """CO, its count: once a decision was claimed, no other one consumes the interrupt."""
    first = call(m, "claim", "_first")
    later = call(m, "claim", "_later", claimed_digest=first.digest)
    other = z3.Not(same(first.digest, later.digest))
    return z3.Implies(z3.And(_consumes(m, first), other), z3.Not(_consumes(m, later)))


def _nothing_after_consumption(m: Module) -> Any:
    """CO, its effects: at a consumed interrupt no delivery runs the gate."""
    one = call(m, "claim", consumed=True)
    return z3.Not(_consumes(m, one))


def _never_without_lease(m: Module) -> Any:
    one = call(m, "claim", leased=False)
    return z3.Not(_consumes(m, one))


def _dead_winner_blocks_nobody(m: Module) -> Any:
    """LV: whoever holds the lease can go on with the decision that was claimed."""
    one = call(m, "claim", leased=True, consumed=False)
    return z3.Implies(same(one.claimed_digest, one.digest), _consumes(m, one))


def _busy_burns_nothing(m: Module) -> Any:
    """Waiting for the lease leaves the decision as good as it was: with the lease, it consumes."""
    refused = call(m, "claim", leased=False)
    then = call(m, "claim", leased=True)
    return z3.Implies(refused.result.member("WAITS"), then.result.member("CONSUMED"))


def _is_consuming(p: Given) -> tuple[Case, ...]:
    runs = is_any(p.outcome, "CONSUMED", "RECOVERED")
    return (Case(True, runs), Case(False, z3.Not(runs)))


SPECS = (
    Spec(
        "redelivery",
        _redelivery,
        {
            "a recorded outcome is final": _outcome_is_final,
            "another payload is never served": _other_payload_is_never_served,
            "a failure can be retried (LV)": _failure_can_be_retried,
        },
    ),
    Spec(
        "binding",
        _binding,
        {
            "a bare delivery is bound to the only one": _never_guesses,
            "a name has to be known": _never_invents,
            "an answer comes ahead at breakpoints only": _answers_ahead_at_breakpoints_only,
        },
    ),
    Spec(
        "claim",
        _claim,
        {
            "one decision only (CO-c)": _one_decision_only,
            "nothing runs after consumption (CO-e)": _nothing_after_consumption,
            "nothing is claimed without the lease": _never_without_lease,
            "a dead winner blocks nobody (LV)": _dead_winner_blocks_nobody,
            "waiting burns no decision": _busy_burns_nothing,
        },
    ),
    Spec("consumes", _is_consuming),
)
