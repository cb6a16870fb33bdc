"""Proposition 1 for any number of values: a fork is expressible only where an interface carries fork intent.

A responder decides what becomes of a resume that reaches a consumed interrupt. It is a function of what it can observe:
the recorded decision, the resume's value, and everything else that may differ from one moment to the next (`context`:
history, time, identities). Intent is observable only where the interface has a discriminator. The contract asks, by
intent: a fork gets the outcome of its own value and fires its own effect (FD), a retry gets the recorded outcome and
fires nothing (CO).
"""

from __future__ import annotations

from typing import Any

import z3

from resumption.model.induction import Obligation
from resumption.model.semantics import NOTHING

__all__ = ["fork_intent_obligations", "keyed_responder_obligations"]

RETRY, FORK = 0, 1
UNSEEN = -1


RECORDED, VALUE, CONTEXT = z3.Ints("recorded value context")
LEGAL = z3.And(RECORDED > NOTHING, VALUE > NOTHING)


def _right_outcome(responder: Any, intent: Any, seen: Any) -> Any:
    """A fork gets the outcome of its own value, a retry the recorded one."""
    return responder(RECORDED, VALUE, seen, CONTEXT) == z3.If(intent == FORK, VALUE, RECORDED)


def _right_effect(fires: Any, intent: Any, seen: Any) -> Any:
    """A fork fires an effect on its branch, a retry fires none."""
    return fires(RECORDED, VALUE, seen, CONTEXT) == (intent == FORK)


def fork_intent_obligations() -> list[Obligation]:
    """Without a discriminator no responder exists: what is asked of it at one point is contradictory already.

    The point is any recorded decision, any value and any context: a fork and a retry that look alike. The second
    obligation shows that this doesn't hang on effects: outcomes alone can't be right as soon as the values differ.
    """
    integer, boolean = z3.IntSort(), z3.BoolSort()
    responder = z3.Function("responder", integer, integer, integer, integer, integer)
    fires = z3.Function("fires", integer, integer, integer, integer, boolean)
    intents, unseen = (z3.IntVal(FORK), z3.IntVal(RETRY)), z3.IntVal(UNSEEN)
    outcomes = z3.And([_right_outcome(responder, intent, unseen) for intent in intents])
    effects = z3.And([_right_effect(fires, intent, unseen) for intent in intents])
    return [
        Obligation("no discriminator", "FD and CO", z3.And(LEGAL, outcomes, effects)),
        Obligation("no discriminator", "outcomes alone", z3.And(LEGAL, RECORDED != VALUE, outcomes)),
    ]


def keyed_responder_obligations() -> list[Obligation]:
    """With a discriminator the responder that keys on it satisfies the contract everywhere."""

    def keyed(recorded: Any, value: Any, seen: Any, _context: Any) -> Any:
        return z3.If(seen == FORK, value, recorded)

    def fires(_recorded: Any, _value: Any, seen: Any, _context: Any) -> Any:
        return seen == FORK

    intent = z3.Int("intent")
    is_intent = z3.Or(intent == FORK, intent == RETRY)
    right = z3.And(_right_outcome(keyed, intent, intent), _right_effect(fires, intent, intent))
    return [Obligation("discriminator", "keyed responder", z3.And(LEGAL, is_intent, z3.Not(right)))]
