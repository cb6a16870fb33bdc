"""The decisions of the effect ledger: may this effect fire, and what does its end mean.

All functions here are pure and total; whatever they need to know about time, locks or other processes comes in as an
argument. The caller evaluates them between a lock on the record and a write conditional on the record's version.

Where the rules come from: the contract's EO (no effect fires twice on one branch), and the observation that a caller
can know only three things about the owner of an unsettled record: it is alive (its lock is held), it is dead (the
operating system of this very kernel has freed its lock), or neither. The third covers a zombie that is cut off from the
database and may fire at any moment, so it never lets another attempt start unless the provider deduplicates.

A record may have seen several attempts. What is known about the earlier ones stays with it as `earlier`: an attempt
that didn't fire leads back there, never to "nothing fired", and a proof about the last owner says nothing about a
zombie before it.
"""

from __future__ import annotations

__all__ = [
    "admit",
    "claimed",
    "observed",
    "prunable",
    "renews_key",
    "resolve",
    "resumed",
    "settle",
    "shown",
    "unsettled",
    "verified",
]

# States of a record. OPEN, DOUBT and UNPROVEN are also what `earlier` can be.
OPEN = "open"  # every attempt is known not to have fired
RUNNING = "running"
INTERRUPTED = "interrupted"  # left before its end: over when its owner is dead
DOUBT = "doubt"  # may have fired, and every attempt is over
UNPROVEN = "unproven"  # may have fired, and an attempt by a vanished owner may still run
DONE = "done"

# What a caller wants done with a record that is in doubt.
RAISE = "raise"
RETRY = "retry"
VERIFY = "verify"

# Outcomes of `admit`.
FIRE = "fire"
SERVE = "serve"
RESULT_ABSENT = "result-absent"
WAIT = "wait"
ASK = "ask"
KEY_REUSED = "key-reused"
IN_DOUBT_ENDED = "in-doubt/ended"
IN_DOUBT_UNPROVEN = "in-doubt/unproven"
UNKNOWN_STATE = "unknown-state"

# How an attempt ended.
RETURNED = "returned"
NOT_STARTED = "not-started"
NOT_FIRED = "not-fired"
RAISED = "raised"
LEFT = "left"

# Outcomes of `settle` and `resolve` that are no state of a record.
SUPERSEDED = "superseded"
NOTHING_TO_RESOLVE = "nothing-to-resolve"
STILL_RUNNING = "still-running"

# What a `verify` callable, or an operator, says about the outside world.
FIRED = "fired"
UNKNOWN = "unknown"


def admit(
    state: str | None,
    earlier: str,
    same_arguments: bool,
    has_result: bool,
    owner_alive: bool,
    owner_dead: bool,
    on_doubt: str,
    idempotent: bool,
) -> str:
    """What a call of this effect has to do, given its record (`state` is None if there is none).

    `owner_alive` and `owner_dead` are proofs; both False means that nobody can tell. `idempotent` means that the
    provider deduplicates by key, so that a second attempt beside a first that still runs is harmless.
    """
    if state is None or state == OPEN:
        return FIRE
    if state != RUNNING and state != INTERRUPTED and state != DOUBT and state != UNPROVEN and state != DONE:
        return UNKNOWN_STATE
    if not same_arguments:
        return KEY_REUSED
    if state == DONE and has_result:
        return SERVE
    if state == DONE:
        return RESULT_ABSENT
    if state == RUNNING and owner_alive:
        return WAIT
    if on_doubt == RETRY and idempotent:
        return FIRE
    if observed(state, earlier, owner_dead) != DOUBT:
        return IN_DOUBT_UNPROVEN
    if on_doubt == RETRY:
        return FIRE
    if on_doubt == VERIFY:
        return ASK
    return IN_DOUBT_ENDED


def observed(state: str, earlier: str, owner_dead: bool) -> str:
    """The state to write down when a caller has seen this one: a proven death ends the last attempt for good."""
    if state != RUNNING and state != INTERRUPTED:
        return state
    if not owner_dead:
        return state
    if earlier == UNPROVEN:
        return UNPROVEN
    return DOUBT


def shown(state: str, earlier: str, owner_alive: bool, owner_dead: bool) -> str:
    """The state to show to people: only an attempt whose owner is known to live is shown as running."""
    if state == RUNNING and not owner_alive and not owner_dead:
        return UNPROVEN
    return observed(state, earlier, owner_dead)


def claimed(state: str | None, earlier: str, owner_dead: bool) -> str:
    """What a new attempt has to remember as `earlier` when it takes over a record in this state."""
    if state is None or state == OPEN:
        return OPEN
    if observed(state, earlier, owner_dead) == DOUBT:
        return DOUBT
    return UNPROVEN


def resumed(earlier: str, on_doubt: str) -> str:
    """What `admit` said to the attempt that made a record its own, told from the record it left.

    For a claim that is repeated because the first answer of the database got lost.
    """
    if earlier == DOUBT and on_doubt == VERIFY:
        return ASK
    return FIRE


def settle(state: str | None, earlier: str, same_version: bool, same_owner: bool, ended: str) -> str:
    """The record's next state after an attempt, or SUPERSEDED if the record is no longer this attempt's.

    An attempt that was left (cancelled, interrupted) may have started something that still runs, hence a state of its
    own; so does an end that this function doesn't know.
    """
    if state != RUNNING or not same_version or not same_owner:
        return SUPERSEDED
    if ended == RETURNED:
        return DONE
    if ended == NOT_STARTED:
        return earlier
    if ended == NOT_FIRED:
        return earlier
    if earlier == UNPROVEN:
        return UNPROVEN
    if ended == RAISED:
        return DOUBT
    return INTERRUPTED


def renews_key(state: str, ended: str) -> bool:
    """Whether the next attempt hands another key to the provider; `state` is what `settle` said about this one.

    Providers that deduplicate repeat a stored failure as faithfully as a success, so a declared failure needs a new
    key. While any attempt may have fired the key has to stay: it is what keeps the provider from firing twice.
    """
    if ended != NOT_FIRED:
        return False
    return state == OPEN


def verified(answer: str) -> str:
    """What to do after a `verify` callable spoke, with the record claimed: DONE, FIRE, or back to DOUBT."""
    if answer == FIRED:
        return DONE
    if answer == NOT_FIRED:
        return FIRE
    return DOUBT


def resolve(state: str | None, owner_alive: bool, answer: str) -> str:
    """The state that an operator's answer leads to, or why there is nothing to answer.

    An effect that still runs is nobody's to settle but its owner's. One that was interrupted is: a person has looked.
    """
    if state != RUNNING and state != INTERRUPTED and state != DOUBT and state != UNPROVEN:
        return NOTHING_TO_RESOLVE
    if state == RUNNING and owner_alive:
        return STILL_RUNNING
    if answer == FIRED:
        return DONE
    if answer == NOT_FIRED:
        return OPEN
    return NOTHING_TO_RESOLVE


def unsettled(state: str) -> bool:
    """Whether an operator should see this record: running, or in doubt in one of its forms."""
    if state == DONE:
        return False
    return state != OPEN


def prunable(state: str, old: bool) -> bool:
    """Whether a record may be forgotten: only settled ones, since forgetting lets the key fire again."""
    if state == DONE:
        return old
    if state == OPEN:
        return old
    return False
