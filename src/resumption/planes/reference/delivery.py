"""One delivery, from its arrival to the claim: which interrupt, which attempt, and whether it may be consumed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace

from resumption.decide.branch import Branch, attempt_after, branch
from resumption.decide.claim import Binding, Claim, Redelivery, binding, claim, consumes, redelivery
from resumption.history.events import Json, Pending
from resumption.history.workload import Task
from resumption.planes.interface import Completed, Decision, Instruments, Outcome, Parked
from resumption.planes.reference.log import Kind, Row
from resumption.planes.reference.refusals import Refused
from resumption.planes.reference.sight import Sight
from resumption.planes.reference.spec import BARE, FORK

__all__ = ["Accepted", "Answered", "Arrival", "accept", "arrive", "settle"]


@dataclass(frozen=True, slots=True)
class Arrival:
    """The interrupt that a delivery was bound to when it arrived."""

    task: Task
    interrupt: str
    place: int
    attempt: int
    pending: bool
    """Whether it was pending then."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """The delivery is to be executed on this attempt."""

    attempt: int


@dataclass(frozen=True, slots=True)
class Answered:
    """The delivery came before, and this is what it came to."""

    outcome: Outcome


def arrive(sight: Sight, decision: Decision) -> Arrival:
    """Bind a delivery to an interrupt, before it waits for anything. Raises `Refused` if there is none."""
    pending = sight.pending()
    named = decision.form != BARE.name
    identity = decision.address.requests.get(decision.target) if named else None
    found = _raised(sight, identity)
    outcome = binding(named=named, known=found is not None, pending=len(pending), at_breakpoint=False)
    if outcome is Binding.SOLE:
        found = _raised(sight, pending[0].identity)
    if found is None or outcome not in (Binding.SOLE, Binding.NAMED):
        raise Refused(outcome, decision.target)
    return found


def _raised(sight: Sight, identity: Json) -> Arrival | None:
    """The interrupt with an identity that was given out by this thread; None if it never was."""
    if not isinstance(identity, str):
        return None
    name, _, attempt = identity.rpartition("#")
    task = sight.program.gate(name)
    if task is None or not attempt.isdecimal() or int(attempt) not in sight.log.attempts():
        return None
    place = sight.program.interrupts_of(task)[name]
    if all(row.attempt != int(attempt) for row in sight.log.at(Kind.INTERRUPT, place)):
        return None
    own = replace(sight, attempt=int(attempt))
    return Arrival(task, name, place, own.attempt, own.decision(place, name) is None)


def accept(
    sight: Sight, arrival: Arrival | None, decision: Decision, instruments: Instruments, *, leased: bool
) -> Accepted | Answered | None:
    """Decide a delivery and, if it consumes its interrupt, record claim and decision in one write.

    Runs between the store's lock and a commit. Returns None if the delivery has to wait for the thread's lease, and
    raises `Refused` if it may not be served. A delivery that was seen before needs no arrival.
    """
    seen = sight.log.delivery(decision.delivery)
    payload = _digest([decision.form, decision.target, decision.value, dict(decision.answers)])
    digest, attempt, outcome = seen if seen is not None else (None, 0, None)
    match redelivery(recorded_digest=digest, digest=payload, finished=outcome is not None, executing=not leased):
        case Redelivery.MISMATCH:
            raise Refused(Redelivery.MISMATCH, decision.delivery)
        case Redelivery.REPEATED:
            return Answered(_decoded(outcome))
        case Redelivery.IN_PROGRESS:
            return None
        case Redelivery.RETRIED:
            return Accepted(attempt)
        case Redelivery.FIRST:
            bound = arrival or arrive(sight, decision)
            return _claimed(sight, bound, decision, instruments, payload, leased=leased)


def _claimed(
    sight: Sight, arrival: Arrival, decision: Decision, instruments: Instruments, payload: str, *, leased: bool
) -> Accepted | None:
    log = sight.log
    own = replace(sight, attempt=arrival.attempt)
    line = own.program.in_line_with(arrival.task)
    places = [place for task in line for place in own.program.interrupts_of(task).values()]
    raised = [place for place in places if any(row.attempt == own.attempt for row in log.at(Kind.INTERRUPT, place))]
    where = branch(known=True, head=arrival.place == max(raised), interrupted=True, fork=decision.form == FORK.name)
    attempt = attempt_after(where, attempt=own.attempt, highest=max(log.attempts()))
    if attempt is None:
        raise Refused(where, arrival.interrupt)
    forks = where is Branch.FORK
    outcome = _claim(own, arrival, decision.value, leased=leased, forks=forks)
    if outcome is Claim.WAITS:
        return None
    claims = [(arrival, decision.value, outcome), *_further(sight, decision, leased=leased)]
    for claimed, _, how in claims:
        if not consumes(how):
            raise Refused(how, claimed.interrupt)
    with instruments.persist(f"claim({arrival.interrupt})"):
        if forks:
            log.fork(attempt, own.attempt, arrival.place)
            log.add(Kind.INTERRUPT, Row(attempt, arrival.place, arrival.interrupt, None))
        for claimed, value, how in claims if not own.rules.spreads else _spread(own, arrival, decision.value):
            if how is Claim.CONSUMED:
                log.add(Kind.DECISION, Row(attempt, claimed.place, claimed.interrupt, value))
        log.focus(attempt)
        log.accept(decision.delivery, payload, attempt)
        log.commit()
    return Accepted(attempt)


def _claim(own: Sight, arrival: Arrival, value: Json, *, leased: bool, forks: bool = False) -> Claim:
    """Decide whether a value consumes the interrupt that it came for."""
    recorded = None if forks else own.decision(arrival.place, arrival.interrupt)
    return claim(
        leased=leased,
        pending=forks or recorded is None,
        consumed=not forks and own.record(arrival.task) is not None,
        claimed_digest=None if recorded is None else _digest(recorded.value),
        digest=_digest(value),
    )


def _further(sight: Sight, decision: Decision, *, leased: bool) -> list[tuple[Arrival, Json, Claim]]:
    """Decide what a delivery brings for interrupts besides its target. Raises `Refused` if one is unknown."""
    found = []
    for target, value in decision.answers.items():
        arrival = arrive(sight, replace(decision, target=target, value=value))
        own = replace(sight, attempt=arrival.attempt)
        found.append((arrival, value, _claim(own, arrival, value, leased=leased)))
    return found


def _spread(own: Sight, arrival: Arrival, value: Json) -> list[tuple[Arrival, Json, Claim]]:
    """What a fault makes of one decision: one for every interrupt that is pending."""
    waiting = [_raised(own, pending.identity) for pending in own.pending()]
    others = [other for other in waiting if other is not None and other.interrupt != arrival.interrupt]
    return [(each, value, Claim.CONSUMED) for each in (arrival, *others)]


def settle(sight: Sight, decision: Decision, outcome: Outcome, instruments: Instruments) -> None:
    """Record what an accepted delivery came to, so that a repetition of it is served from there."""
    with sight.log.deciding(), instruments.persist(f"outcome({decision.delivery})"):
        sight.log.settle(decision.delivery, _encoded(outcome))
        sight.log.commit()


def _digest(value: Json) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _encoded(outcome: Outcome) -> Json:
    match outcome:
        case Completed(trail):
            return {"completed": trail}
        case Parked(pending):
            return {"parked": [[item.identity, item.name] for item in pending]}
        case _:
            raise TypeError(f"a failure is never recorded: {outcome}")


def _decoded(outcome: Json) -> Outcome:
    if "completed" in outcome:
        return Completed(outcome["completed"])
    return Parked(tuple(Pending(identity=identity, name=name) for identity, name in outcome["parked"]))
