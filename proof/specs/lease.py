"""What is demanded of `decide.lease`."""

from __future__ import annotations

from typing import Any

import z3

from proof.formulas import absent, call, is_any, number, present, same
from proof.spec import Case, Given, Spec
from proof.symbolic import Module
from proof.terms import STR, Term

__all__ = ["SPECS"]


def _lease(p: Given) -> tuple[Case, ...]:
    asks_anew = absent(p.held_fence)
    held = present(p.holder)
    expired = z3.And(present(p.expires), p.expires.value <= p.now)
    still_own = z3.And(present(p.held_fence), p.held_fence.value == p.fence, same(p.holder, p.caller))
    return (
        Case("FREE", z3.And(asks_anew, z3.Not(held))),
        Case("KEPT", still_own),
        Case("LOST", z3.And(z3.Not(asks_anew), z3.Not(still_own))),
        Case("TAKEN_FROM_DEAD", z3.And(asks_anew, held, p.dead)),
        Case("TAKEN_AFTER_EXPIRY", z3.And(asks_anew, held, z3.Not(p.dead), expired)),
        Case("BUSY", z3.And(asks_anew, held, z3.Not(p.dead), z3.Not(expired))),
    )


def _live_holder_stays(m: Module) -> Any:
    one = call(m, "lease")
    alive = z3.And(z3.Not(one.dead), z3.Or(absent(one.expires), one.expires.value > one.now))
    asks_anew = z3.And(present(one.holder), absent(one.held_fence))
    return z3.Implies(z3.And(asks_anew, alive), z3.Not(call(m, "holds", outcome=one.result).result.value))


def _death_frees(m: Module) -> Any:
    one = call(m, "lease")
    return z3.Implies(z3.And(one.dead, absent(one.held_fence)), call(m, "holds", outcome=one.result).result.value)


def _time_only_frees(m: Module) -> Any:
    early, late = call(m, "lease"), call(m, "lease", now=z3.Int("later"))
    kept = z3.Implies(
        call(m, "holds", outcome=early.result).result.value, call(m, "holds", outcome=late.result).result.value
    )
    return z3.Implies(late.now >= early.now, kept)


def _zombie_has_lost(m: Module) -> Any:
    """Once another holder was granted the lease, the former one can't keep it with the fence that it has."""
    granted = call(m, "lease", "_granted")
    taken = z3.And(call(m, "holds", outcome=granted.result).result.value, z3.Not(granted.result.member("KEPT")))
    fence = call(m, "fence_after", outcome=granted.result, fence=granted.fence).result.value
    zombie = call(m, "lease", "_zombie", fence=z3.Int("fence_now"))
    older = z3.And(zombie.fence >= fence, present(zombie.held_fence), zombie.held_fence.value <= granted.fence)
    return z3.Implies(z3.And(taken, older), zombie.result.member("LOST"))


def _only_proof_or_expiry(m: Module) -> Any:
    one = call(m, "lease")
    takes = is_any(one.result, "TAKEN_FROM_DEAD", "TAKEN_AFTER_EXPIRY")
    return z3.Implies(takes, z3.Or(one.dead, z3.And(present(one.expires), one.expires.value <= one.now)))


def _holds(p: Given) -> tuple[Case, ...]:
    refused = is_any(p.outcome, "BUSY", "LOST")
    return (Case(False, refused), Case(True, z3.Not(refused)))


def _fence_after(p: Given) -> tuple[Case, ...]:
    new = is_any(p.outcome, "FREE", "TAKEN_FROM_DEAD", "TAKEN_AFTER_EXPIRY")
    return (
        Case(number(p.fence + 1), new, "a new fence"),
        Case(number(p.fence), z3.Not(new), "the fence as it was"),
    )


def _fence_never_decreases(m: Module) -> Any:
    asked = call(m, "lease")
    return call(m, "fence_after", outcome=asked.result, fence=asked.fence).result.value >= asked.fence


def _new_holder_new_fence(m: Module) -> Any:
    """No two grants have the same fence: whoever is granted a lease that it doesn't keep has one of its own."""
    asked = call(m, "lease")
    after = call(m, "fence_after", outcome=asked.result, fence=asked.fence).result.value
    granted = z3.And(call(m, "holds", outcome=asked.result).result.value, absent(asked.held_fence))
    return z3.Implies(granted, after > asked.fence)


def _one_holder(m: Module) -> Any:
    """Of two requests at one time, the second is refused, unless it is proven that the first one's owner is dead."""
    first = call(m, "lease", "_first")
    fence = call(m, "fence_after", outcome=first.result, fence=first.fence).result
    now = z3.Int("now")
    second = call(
        m,
        "lease",
        "_second",
        holder=Term(STR.as_optional(), first.caller.value, z3.BoolVal(True)),
        fence=fence,
        dead=False,
        now=now,
    )
    anew = z3.And(call(m, "holds", outcome=first.result).result.value, absent(second.held_fence))
    lasts = z3.Or(absent(second.expires), second.expires.value > now)
    return z3.Implies(z3.And(anew, lasts), z3.Not(call(m, "holds", outcome=second.result).result.value))


SPECS = (
    Spec(
        "lease",
        _lease,
        {
            "a live holder is never replaced": _live_holder_stays,
            "a proven death frees the thread": _death_frees,
            "time only ever frees": _time_only_frees,
            "a former holder can't come back": _zombie_has_lost,
            "a lease is taken over on proof or expiry only": _only_proof_or_expiry,
            "of two requests one is granted": _one_holder,
        },
    ),
    Spec("holds", _holds),
    Spec(
        "fence_after",
        _fence_after,
        {"a fence never decreases": _fence_never_decreases, "each grant has a fence of its own": _new_holder_new_fence},
    ),
)
