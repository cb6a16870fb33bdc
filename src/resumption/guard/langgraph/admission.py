"""The admission of a call to a thread: take the lease, see what is durable, bind, claim, and say what to run.

Nothing is claimed without the lease, so a caller that doesn't get it has burnt no decision.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from resumption.decide.branch import Branch, branch
from resumption.decide.claim import Claim as Verdict
from resumption.decide.claim import Redelivery, claim, consumes, redelivery
from resumption.errors import (
    AmbiguousAnswer,
    DeliveryMismatch,
    Fenced,
    GuardError,
    ProgramChanged,
    RunBusy,
    SupersededCheckpoint,
    UnknownAddress,
)
from resumption.guard.claims import protocol
from resumption.guard.claims.records import Delivery
from resumption.guard.langgraph import refusals
from resumption.guard.langgraph.binding import ANYBODY, Bound, bind
from resumption.guard.langgraph.calls import Call, Intent
from resumption.guard.langgraph.deciding import accepting, claiming, withdrawing
from resumption.guard.langgraph.forking import forked
from resumption.guard.langgraph.house import House, Replay, Run
from resumption.guard.langgraph.sight import UNPROVEN, Sight, consumed
from resumption.guard.langgraph.slots import knowing, newest
from resumption.guard.langgraph.steps import Course, Inspect, Pause, Read, Write
from resumption.guard.langgraph.tenure import Tenure
from resumption.guard.stores.protocol import Work
from resumption.guard.stores.session import backoff

__all__ = ["admit", "held"]

_LONGEST_PAUSE = 0.1
_BY_HAND = frozenset(("update", "fork"))
"""How LangGraph calls the source of a checkpoint that no run made."""


@dataclass(frozen=True, slots=True)
class _Wait:
    """Somebody else has the thread. What the answers are for is settled; None if that can wait too."""

    bound: tuple[Bound, ...] | None = None


def held(thread: str, house: House) -> Course[Tenure]:
    """Wait for a thread's lease. Raises `RunBusy`."""
    give_up = time.monotonic() + house.wait
    for pause in backoff(_LONGEST_PAUSE):
        tenure = house.lease(thread)
        if tenure is not None:
            try:
                yield from _glance(tenure, house)
            except BaseException:
                tenure.end()
                raise
            return tenure
        if time.monotonic() + pause > give_up:
            raise _busy(thread, house)
        yield Pause(pause)
    raise AssertionError("unreachable")  # backoff() is endless


def _glance(tenure: Tenure, house: House) -> Course[None]:
    """See who had the thread last, before anything else is read: if the lease is lost, another has had it since.

    A lease that expires may have been taken from one that wakes and writes. So the fence is up before anything is read,
    unless this executor has paused for so long, too: then another may have put up its own before the look.
    """
    if not tenure.exclusive and tenure.seen is None:
        tenure.seen = yield Read(lambda: protocol.glancing(house.keeper.guard_sql, tenure.thread))
        tenure.must_hold()  # or the grant that was seen may be a successor's
    if tenure.expires:
        yield Write(tenure, _nothing)


def _looks_first(call: Call, tenure: Tenure) -> bool:
    """Whether what is read first is all that the decision depends on, and the last grant ahead of it."""
    return call.intent is Intent.RESUME and not call.delivery and not tenure.expires


def _nothing() -> Work[None]:
    """What there is to write besides a fence."""
    yield from ()


def _busy(thread: str, house: House) -> RunBusy:
    return RunBusy(
        f"Another executor has had thread {thread!r} for {house.wait} seconds.",
        advice="Nothing was recorded. Call again, or guard with a longer `wait`.",
    )


def admit(call: Call, house: House) -> Course[Run | Replay]:
    """Wait for a call's turn and decide it. Raises a `GuardError` if it is refused."""
    call = yield from _addressed(call, house)
    give_up = time.monotonic() + house.wait
    bound: tuple[Bound, ...] | None = None
    for pause in backoff(_LONGEST_PAUSE):
        tenure = house.lease(call.thread)
        decided: Run | Replay | _Wait | None = None
        try:
            if tenure is not None and not _looks_first(call, tenure):
                yield from _glance(tenure, house)
            decided = yield from _decide_fenced(call, house, tenure, bound)
        except GuardError as error:
            yield Write(None, _note(call, house, error))
            raise
        finally:
            if tenure is not None and not isinstance(decided, Run):
                tenure.end()
        if not isinstance(decided, _Wait):
            return decided
        bound = decided.bound
        if time.monotonic() + pause > give_up:
            raise _busy(call.thread, house)
        yield Pause(pause)
    raise AssertionError("unreachable")  # backoff() is endless


def _decide_fenced(
    call: Call, house: House, tenure: Tenure | None, bound: tuple[Bound, ...] | None
) -> Course[Run | Replay | _Wait]:
    """Decide a call; if what it comes to runs a gate, its fence is up before.

    A claim puts it up. A recovery has nothing to write before its gate has run, and until then a replaced executor
    could still store. An input does nothing before it is stored, under its fence.
    """
    decided = yield from _decide(call, house, tenure, bound)
    if isinstance(decided, Run) and decided.tenure.fence is None and call.intent is not Intent.START:
        yield Write(decided.tenure, _nothing)
    return decided


def _decide(
    call: Call, house: House, tenure: Tenure | None, bound: tuple[Bound, ...] | None
) -> Course[Run | Replay | _Wait]:
    if call.delivery:
        known = yield from _redelivered(call, house, tenure)
        if known is not None:
            return known
    if call.intent is Intent.RESUME:
        return (yield from _resume(call, house, tenure, bound))
    if tenure is None:
        return _Wait()
    if call.intent is Intent.FORK:
        return (yield from forked(call, house, tenure))
    if call.checkpoint:
        yield from _must_be_head(call, house)
    if call.delivery:
        yield Write(tenure, lambda: accepting(call, house))
    return Run(tenure, call.payload, call)


# Deliveries with an id ------------------------------------------------------------------------------------------------


def _addressed(call: Call, house: House) -> Course[Call]:
    """A call with the thread that it is about: of a fork that made a thread before, under the same id, that thread."""
    if not call.delivery or call.intent is not Intent.FORK or call.payload.into is None:
        return call
    made = call.onto(call.payload.into)
    sql = house.keeper.guard_sql
    before = yield Read(lambda: protocol.delivered(sql, made.thread, made.delivery))
    return call if before is None else made


def _redelivered(call: Call, house: House, tenure: Tenure | None) -> Course[Run | Replay | _Wait | None]:
    """What is known of this delivery; None if it is new."""
    sql = house.keeper.guard_sql
    before: Delivery | None = yield Read(lambda: protocol.delivered(sql, call.thread, call.delivery))
    outcome = redelivery(
        recorded_digest=before.digest if before else None,
        digest=call.digest,
        finished=before is not None and before.outcome is not None,
        executing=tenure is None,
    )
    if before is None or outcome is Redelivery.FIRST:
        return None
    if outcome is Redelivery.MISMATCH:
        raise DeliveryMismatch(
            f"The delivery id {call.delivery!r} was used on thread {call.thread!r} for another payload.",
            advice="Name each decision by an id of its own, and repeat it only with the same payload.",
            branch=outcome.value,
        )
    if outcome is Redelivery.REPEATED:
        return Replay((before.kind or "", before.outcome or b""))
    if tenure is None:
        return _Wait()
    return (yield from _retried(call, house, tenure, before))


def _retried(call: Call, house: House, tenure: Tenure, before: Delivery) -> Course[Run | Replay | None]:
    """Go on with a delivery that was accepted and came to no outcome."""
    sight = yield from house.look(call, tenure)
    mine = [one for one in sight.claims.values() if one.delivery == call.delivery]
    if sight.superstep.head == before.head and not mine:  # it was accepted, no more: nothing of it is durable
        if call.intent is Intent.START:
            return Run(tenure, call.payload, call)
        if call.intent is Intent.FORK:
            return None
    if any(not consumed(one, sight.superstep, house.unpack) for one in mine):
        return Run(tenure, None, call)
    return (yield from _finished(call, house, tenure))


def _finished(call: Call, house: House, tenure: Tenure) -> Course[Run | Replay]:
    """Go on with a run whose decision was consumed, if it was cut off since and doesn't rest anywhere."""
    snapshot = yield Inspect(call.config)
    if house.breaks or snapshot.interrupts or not snapshot.tasks:
        return Replay(None)
    return Run(tenure, None, call)


# Addresses and recoveries ---------------------------------------------------------------------------------------------


def _must_be_head(call: Call, house: House) -> Course[None]:
    """A checkpoint id says where, not that another outcome is wanted: an old one is refused."""
    slots = house.keeper.guard_slots
    head = yield Read(lambda: newest(slots, call.thread))
    if head == call.checkpoint:
        return
    known = yield Read(lambda: knowing(slots, call.thread, call.checkpoint))
    raise _superseded(call, branch(known=known, head=False, interrupted=False, fork=False))


def _superseded(call: Call, outcome: Branch) -> GuardError:
    if outcome is Branch.UNKNOWN:
        return UnknownAddress(
            f"Thread {call.thread!r} has no checkpoint {call.checkpoint!r}.",
            advice="Ask for the state, whose config names the newest one, or leave the checkpoint id away.",
            branch=outcome.value,
        )
    return SupersededCheckpoint(
        f"Thread {call.thread!r} has moved past checkpoint {call.checkpoint!r}.",
        advice="To go on, leave the checkpoint id away; for a second outcome, call resumption.langgraph.fork.",
        branch=outcome.value,
    )


# Answers --------------------------------------------------------------------------------------------------------------


def _resume(
    call: Call, house: House, tenure: Tenure | None, bound: tuple[Bound, ...] | None
) -> Course[Run | Replay | _Wait]:
    sight = yield from house.look(call, tenure)
    if bound is None:
        bound = yield from _bind(call, house, sight, busy=tenure is None)
    verdicts = [(one, _claim(one, sight, house, leased=tenure is not None)) for one in bound]
    refusals.raise_refused(call, verdicts, sight, join=house.join)
    if tenure is None:  # a repetition too, whose outcome isn't there before the run has ended or rests
        return _Wait(bound)
    if not any(consumes(verdict) for _, verdict in verdicts):
        return (yield from _finished(call, house, tenure))
    taken = [one for one, verdict in verdicts if verdict is Verdict.CONSUMED]
    _must_have_a_receiver(call, taken, sight)
    if len(sight.questions) > 1:
        _must_be_addressable(taken)
    if taken or call.delivery:
        try:
            yield Write(tenure, lambda: claiming(call, house, sight, taken))
        except Fenced:
            # An executor that had lost the thread was granted it after all, between the look and the claim. Unless it
            # was this one's lease that was lost, there is another state to look at, for the same interrupts.
            tenure.must_hold()
            return _Wait(bound)
        for owner in filter(None, (sight.owners.get(one.interrupt) for one in taken)):
            tenure.answered[owner.namespace, owner.checkpoint, owner.task] = owner.answered + 1
    return Run(tenure, call.remainder, call, withdraw=lambda: withdrawing(call, house, sight, taken))


def _bind(call: Call, house: House, sight: Sight, *, busy: bool) -> Course[tuple[Bound, ...]]:
    superseded = bool(call.checkpoint) and call.checkpoint != sight.superstep.head
    finished, rests = not sight.superstep.head, True
    if not (sight.questions or superseded or finished or call.answers[0].interrupt):
        snapshot = yield Inspect(call.config)
        finished = not snapshot.tasks
        rests = house.breaks or house.topology.breaks() or (snapshot.metadata or {}).get("source") in _BY_HAND
    bound = bind(call, sight, superseded=superseded, busy=busy, finished=finished, rests=rests)
    if not bound:
        slots = house.keeper.guard_slots
        known = yield Read(lambda: knowing(slots, call.thread, call.checkpoint))
        raise _superseded(call, branch(known=known, head=False, interrupted=False, fork=False))
    return bound


def _must_have_a_receiver(call: Call, taken: Sequence[Bound], sight: Sight) -> None:
    """Refuse an answer to a task that this program doesn't have: LangGraph would read the run as finished."""
    for one in taken:
        if one.interrupt in sight.orphans:
            raise ProgramChanged(
                f"Interrupt {one.interrupt!r} of thread {call.thread!r} was raised by a node that this program doesn't"
                " have: it was renamed or removed since.",
                advice="Nothing was recorded. Answer with a program that has the node, under the name it had.",
                interrupt=one.interrupt,
            )


def _must_be_addressable(taken: Sequence[Bound]) -> None:
    """Refuse an answer that another of the tasks that ask could take."""
    for one in taken:
        if one.key.startswith(UNPROVEN):
            raise AmbiguousAnswer(
                f"Nothing tells which task raised interrupt {one.interrupt!r}, and others wait for answers too.",
                advice="Answer the others first, or give the subgraph that asks a checkpointer.",
                interrupt=one.interrupt,
            )


def _claim(one: Bound, sight: Sight, house: House, *, leased: bool) -> Verdict:
    recorded = sight.claims.get(one.key)
    return claim(
        leased=leased,
        pending=one.key.startswith(ANYBODY) or sight.question(one.key) is not None,
        consumed=recorded is not None and consumed(recorded, sight.superstep, house.unpack),
        claimed_digest=recorded.digest if recorded else None,
        digest=one.answer.digest,
    )


def _note(call: Call, house: House, error: GuardError) -> Any:
    """What is recorded of a refusal: the interrupts that the call names, or the one that its bare answer was for."""
    names = ",".join(answer.interrupt or error.interrupt for answer in call.answers)
    digests = ",".join(answer.digest for answer in call.answers)
    branch_ = error.branch or error.code
    return lambda: protocol.refusing(house.keeper.guard_sql, call.thread, names, branch_, digests, call.delivery)
