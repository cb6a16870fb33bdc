"""What is demanded of `decide.admit`: the decisions of the effect ledger.

The words are written out here, not taken from the file: a record stored by one version is read by the next.
"""

from __future__ import annotations

from typing import Any

import z3

from proof.formulas import absent, call, present, same
from proof.spec import Case, Given, Spec
from proof.symbolic import Module
from proof.terms import STR, Term, constant

__all__ = ["SPECS"]


def _is(term: Term, *words: str) -> Any:
    """That a string, which may be None, is one of these words."""
    return z3.Or([same(term, constant(STR, word)) for word in words])


def _kept(term: Term, due: Any) -> Case:
    return Case(term, due, "the argument as it was")


_UNSETTLED = ("running", "interrupted", "doubt", "unproven")


def _admit(p: Given) -> tuple[Case, ...]:
    fresh = z3.Or(absent(p.state), _is(p.state, "open"))
    known = _is(p.state, *_UNSETTLED, "done")
    mine = z3.And(known, p.same_arguments)
    waits = z3.And(_is(p.state, "running"), p.owner_alive)
    open_case = z3.And(mine, _is(p.state, *_UNSETTLED), z3.Not(waits))
    forced = z3.And(_is(p.on_doubt, "retry"), p.idempotent)
    over = z3.Or(
        _is(p.state, "doubt"),
        z3.And(_is(p.state, "running", "interrupted"), p.owner_dead, z3.Not(_is(p.earlier, "unproven"))),
    )
    settled = z3.And(open_case, z3.Not(forced), over)
    return (
        Case("UNKNOWN_STATE", z3.And(z3.Not(fresh), z3.Not(known))),
        Case("KEY_REUSED", z3.And(known, z3.Not(p.same_arguments))),
        Case("SERVE", z3.And(mine, _is(p.state, "done"), p.has_result)),
        Case("RESULT_ABSENT", z3.And(mine, _is(p.state, "done"), z3.Not(p.has_result))),
        Case("WAIT", z3.And(mine, waits)),
        Case("FIRE", z3.Or(fresh, z3.And(open_case, z3.Or(forced, z3.And(over, _is(p.on_doubt, "retry")))))),
        Case("IN_DOUBT_UNPROVEN", z3.And(open_case, z3.Not(forced), z3.Not(over))),
        Case("ASK", z3.And(settled, _is(p.on_doubt, "verify"))),
        Case("IN_DOUBT_ENDED", z3.And(settled, z3.Not(_is(p.on_doubt, "retry", "verify")))),
    )


def _completed_never_fires(m: Module) -> Any:
    """EO: an effect that is on record as completed never fires again."""
    one = call(m, "admit")
    return z3.Implies(_is(one.state, "done"), z3.Not(_is(one.result, "fire")))


def _doubt_never_fires_by_itself(m: Module) -> Any:
    """EO: what may have fired fires again only if the caller asked for it."""
    one = call(m, "admit")
    in_doubt = z3.And(_is(one.state, *_UNSETTLED), z3.Not(_is(one.on_doubt, "retry")))
    return z3.Implies(in_doubt, z3.Not(_is(one.result, "fire")))


def _living_owner_is_waited_for(m: Module) -> Any:
    one = call(m, "admit")
    runs = z3.And(_is(one.state, "running"), one.owner_alive, one.same_arguments)
    return z3.Implies(runs, _is(one.result, "wait"))


def _no_proof_no_second_attempt(m: Module) -> Any:
    """A mere expiry isn't a death: without proof, only a provider that deduplicates is tried again."""
    one = call(m, "admit")
    unproven = z3.And(_is(one.state, "running", "interrupted"), z3.Not(one.owner_dead), z3.Not(one.idempotent))
    return z3.Implies(unproven, z3.Not(_is(one.result, "fire", "ask")))


def _earlier_zombie_counts(m: Module) -> Any:
    """A proof about the last owner says nothing about a vanished one before it."""
    one = call(m, "admit", idempotent=False)
    haunted = z3.And(_is(one.earlier, "unproven"), _is(one.state, "running", "interrupted"))
    return z3.Implies(haunted, z3.Not(_is(one.result, "fire", "ask")))


def _observed(p: Given) -> tuple[Case, ...]:
    ended = z3.And(_is(p.state, "running", "interrupted"), p.owner_dead)
    haunted = _is(p.earlier, "unproven")
    return (
        Case("UNPROVEN", z3.And(ended, haunted)),
        Case("DOUBT", z3.And(ended, z3.Not(haunted))),
        _kept(p.state, z3.Not(ended)),
    )


def _shown(p: Given) -> tuple[Case, ...]:
    running = _is(p.state, "running")
    unknown = z3.And(running, z3.Not(p.owner_alive), z3.Not(p.owner_dead))
    ended = z3.And(_is(p.state, "running", "interrupted"), p.owner_dead)
    haunted = z3.And(ended, _is(p.earlier, "unproven"))
    return (
        Case("UNPROVEN", z3.Or(unknown, haunted)),
        Case("DOUBT", z3.And(ended, z3.Not(haunted))),
        _kept(p.state, z3.Not(z3.Or(unknown, ended))),
    )


def _only_the_living_run(m: Module) -> Any:
    one = call(m, "shown")
    return z3.Implies(_is(one.result, "running"), one.owner_alive)


def _doubt_is_never_shown_as_settled(m: Module) -> Any:
    one = call(m, "shown")
    return z3.Implies(_is(one.state, *_UNSETTLED), _is(one.result, *_UNSETTLED))


def _claimed(p: Given) -> tuple[Case, ...]:
    fresh = z3.Or(absent(p.state), _is(p.state, "open"))
    ended = z3.And(_is(p.state, "running", "interrupted"), p.owner_dead, z3.Not(_is(p.earlier, "unproven")))
    over = z3.Or(_is(p.state, "doubt"), ended)
    return (
        Case("OPEN", fresh),
        Case("DOUBT", z3.And(z3.Not(fresh), over)),
        Case("UNPROVEN", z3.And(z3.Not(fresh), z3.Not(over))),
    )


def _resumed(p: Given) -> tuple[Case, ...]:
    asks = z3.And(_is(p.earlier, "doubt"), _is(p.on_doubt, "verify"))
    return (Case("ASK", asks), Case("FIRE", z3.Not(asks)))


def _settle(p: Given) -> tuple[Case, ...]:
    own = z3.And(_is(p.state, "running"), p.same_version, p.same_owner)
    silent = _is(p.ended, "not-started", "not-fired")
    unclear = z3.And(own, z3.Not(silent), z3.Not(_is(p.ended, "returned")))
    haunted = _is(p.earlier, "unproven")
    return (
        Case("SUPERSEDED", z3.Not(own)),
        Case("DONE", z3.And(own, _is(p.ended, "returned"))),
        _kept(p.earlier, z3.And(own, silent)),
        Case("UNPROVEN", z3.And(unclear, haunted)),
        Case("DOUBT", z3.And(unclear, z3.Not(haunted), _is(p.ended, "raised"))),
        Case("INTERRUPTED", z3.And(unclear, z3.Not(haunted), z3.Not(_is(p.ended, "raised")))),
    )


def _zombie_settles_nothing(m: Module) -> Any:
    """A former owner never commits over its successor."""
    one = call(m, "settle")
    return z3.Implies(z3.Or(z3.Not(one.same_version), z3.Not(one.same_owner)), _is(one.result, "superseded"))


def _only_an_answer_is_done(m: Module) -> Any:
    """An attempt that ended in anything but an answer isn't a completed effect."""
    one = call(m, "settle")
    unknown_past = z3.Not(_is(one.earlier, "done"))
    return z3.Implies(z3.And(_is(one.result, "done"), unknown_past), _is(one.ended, "returned"))


def _exception_leaves_a_doubt(m: Module) -> Any:
    """After an exception that isn't declared harmless, no call that doesn't ask for a retry fires again."""
    ended = call(m, "settle", "_ended", ended=constant(STR, "raised"))
    own = z3.Not(_is(ended.result, "superseded"))
    again = call(m, "admit", "_again", state=Term(STR.as_optional(), ended.result.value, z3.BoolVal(True)))
    return z3.Implies(z3.And(own, z3.Not(_is(again.on_doubt, "retry"))), z3.Not(_is(again.result, "fire")))


def _renews_key(p: Given) -> tuple[Case, ...]:
    declared = z3.And(_is(p.ended, "not-fired"), _is(p.state, "open"))
    return (Case(True, declared), Case(False, z3.Not(declared)))


def _doubt_keeps_the_provider_key(m: Module) -> Any:
    """EO at the provider: after an attempt that may have fired, or beside one, the next carries the same key."""
    one = call(m, "settle")
    renewed = call(m, "renews_key", "_then", state=one.result, ended=one.ended)
    may_have_fired = z3.Or(_is(one.earlier, "doubt", "unproven"), z3.Not(_is(one.ended, "not-fired")))
    return z3.Implies(may_have_fired, z3.Not(renewed.result.value))


def _a_former_owner_renews_nothing(m: Module) -> Any:
    one = call(m, "settle")
    renewed = call(m, "renews_key", "_then", state=one.result, ended=one.ended)
    return z3.Implies(_is(one.result, "superseded"), z3.Not(renewed.result.value))


def _verified(p: Given) -> tuple[Case, ...]:
    return (
        Case("DONE", _is(p.answer, "fired")),
        Case("FIRE", _is(p.answer, "not-fired")),
        Case("DOUBT", z3.Not(_is(p.answer, "fired", "not-fired"))),
    )


def _resolve(p: Given) -> tuple[Case, ...]:
    unsettled = z3.And(present(p.state), _is(p.state, *_UNSETTLED))
    running = z3.And(_is(p.state, "running"), p.owner_alive)
    answerable = z3.And(unsettled, z3.Not(running))
    spoken = _is(p.answer, "fired", "not-fired")
    return (
        Case("NOTHING_TO_RESOLVE", z3.Or(z3.Not(unsettled), z3.And(answerable, z3.Not(spoken)))),
        Case("STILL_RUNNING", z3.And(unsettled, running)),
        Case("DONE", z3.And(answerable, _is(p.answer, "fired"))),
        Case("OPEN", z3.And(answerable, _is(p.answer, "not-fired"))),
    )


def _unsettled(p: Given) -> tuple[Case, ...]:
    settled = _is(p.state, "done", "open")
    return (Case(True, z3.Not(settled)), Case(False, settled))


def _prunable(p: Given) -> tuple[Case, ...]:
    forgettable = z3.And(_is(p.state, "done", "open"), p.old)
    return (Case(True, forgettable), Case(False, z3.Not(forgettable)))


def _no_doubt_is_forgotten(m: Module) -> Any:
    one = call(m, "prunable")
    return z3.Implies(one.result.value, z3.Not(_is(one.state, *_UNSETTLED)))


SPECS = (
    Spec(
        "admit",
        _admit,
        {
            "a completed effect never fires again (EO)": _completed_never_fires,
            "a doubt never fires by itself (EO)": _doubt_never_fires_by_itself,
            "a living owner is waited for": _living_owner_is_waited_for,
            "without proof no second attempt": _no_proof_no_second_attempt,
            "an earlier zombie counts": _earlier_zombie_counts,
        },
    ),
    Spec("observed", _observed),
    Spec(
        "shown",
        _shown,
        {
            "only an effect of a living owner is shown as running": _only_the_living_run,
            "a doubt is never shown as settled": _doubt_is_never_shown_as_settled,
        },
    ),
    Spec("claimed", _claimed),
    Spec("resumed", _resumed),
    Spec(
        "settle",
        _settle,
        {
            "a former owner settles nothing": _zombie_settles_nothing,
            "only an answer completes an effect": _only_an_answer_is_done,
            "an exception leaves a doubt": _exception_leaves_a_doubt,
        },
    ),
    Spec(
        "renews_key",
        _renews_key,
        {
            "what may have fired keeps its provider key (EO)": _doubt_keeps_the_provider_key,
            "a former owner renews no key": _a_former_owner_renews_nothing,
        },
    ),
    Spec("verified", _verified),
    Spec("resolve", _resolve),
    Spec("unsettled", _unsettled),
    Spec("prunable", _prunable, {"no doubt is forgotten": _no_doubt_is_forgotten}),
)
