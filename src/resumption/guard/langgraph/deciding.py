"""Writing a decision down: the claim, and the answer where LangGraph finds it, in the one transaction that consumes."""

from __future__ import annotations

import json
from collections.abc import Sequence

from langgraph.checkpoint.serde.types import INTERRUPT

from resumption.guard.claims import protocol
from resumption.guard.claims.records import Claim
from resumption.guard.langgraph.binding import Bound
from resumption.guard.langgraph.calls import Call, packed
from resumption.guard.langgraph.house import House
from resumption.guard.langgraph.sight import Sight
from resumption.guard.langgraph.slots import NULL_TASK, RESUME, dropping, newest, putting
from resumption.guard.stores.protocol import Work

__all__ = ["accepting", "claiming", "withdrawing"]


def accepting(call: Call, house: House) -> Work[None]:
    """Record that a delivery was accepted which claims nothing: an input, or what LangGraph itself takes on."""
    keeper = house.keeper
    head = yield from newest(keeper.guard_slots, call.thread)
    yield from protocol.accepting(keeper.guard_sql, house.delivery(call, head))


def claiming(call: Call, house: House, sight: Sight, taken: Sequence[Bound]) -> Work[None]:
    """Write claims, decisions and delivery: the one transaction by which interrupts are consumed."""
    keeper, head = house.keeper, sight.superstep.head
    finished = json.dumps(sight.superstep.all_finished)
    for one in taken:
        owner = sight.owners.get(one.interrupt)
        place = (owner.namespace, owner.checkpoint, owner.task) if owner else ("", "", "")
        stored = packed(one.answer.value, keeper.serde)
        answered = owner.answered if owner else 0
        record = Claim(
            call.thread, one.key, one.interrupt, one.answer.digest, *stored, head, *place, answered, finished,
            call.delivery, protocol.now(), protocol.place(),
        )  # fmt: skip
        yield from protocol.claiming(keeper.guard_sql, record)
    if sight.superstep.answers_anybody:  # stock LangGraph recorded it, and somebody else would be served it
        yield from dropping(keeper.guard_slots, call.thread, ("", head, NULL_TASK), RESUME)
    for one in taken:
        yield from _slotting(call, house, sight, one)
    if call.delivery:
        yield from protocol.accepting(keeper.guard_sql, house.delivery(call, head))


def _slotting(call: Call, house: House, sight: Sight, one: Bound) -> Work[None]:
    """Put a decision where LangGraph finds it, and take its question from wherever it is shown.

    The task that asked has a slot for it. If it isn't known who asks, the thread has one for whoever does.
    """
    keeper, step, serde = house.keeper, sight.superstep, house.keeper.serde
    question, owner = sight.question(one.key), sight.owners.get(one.interrupt)
    if question is None or owner is None:
        at = ("", step.head, NULL_TASK)
        yield from putting(keeper.guard_slots, call.thread, at, RESUME, serde.dumps_typed(one.answer.value))
        return
    place = (owner.namespace, owner.checkpoint, owner.task)
    answers = [*step.answers_of(*place, house.unpack), one.answer.value]
    yield from putting(keeper.guard_slots, call.thread, place, RESUME, serde.dumps_typed(answers))
    for at in question.shown_by:
        others = tuple(shown for shown in step.shown_at(at, house.unpack) if shown.id != one.interrupt)
        if others:
            yield from putting(keeper.guard_slots, call.thread, at, INTERRUPT, serde.dumps_typed(others))
        else:  # not an empty one: LangGraph up to 1.2.9 takes the first interrupt of every slot
            yield from dropping(keeper.guard_slots, call.thread, at, INTERRUPT)


def withdrawing(call: Call, house: House, sight: Sight, taken: Sequence[Bound]) -> Work[None]:
    """Undo `claiming`: the interrupt refused the decision by its response schema, and waits for another."""
    keeper, step, serde = house.keeper, sight.superstep, house.keeper.serde
    yield from protocol.unclaiming(keeper.guard_sql, call.thread, [one.key for one in taken], call.delivery)
    yield from dropping(keeper.guard_slots, call.thread, ("", step.head, NULL_TASK), RESUME)
    for one in taken:
        question, owner = sight.question(one.key), sight.owners.get(one.interrupt)
        if question is None or owner is None:
            continue
        place = (owner.namespace, owner.checkpoint, owner.task)
        yield from dropping(keeper.guard_slots, call.thread, place, RESUME)
        if answers := step.answers_of(*place, house.unpack):
            yield from putting(keeper.guard_slots, call.thread, place, RESUME, serde.dumps_typed(answers))
        for at in question.shown_by:
            shown = serde.dumps_typed(tuple(step.shown_at(at, house.unpack)))
            yield from putting(keeper.guard_slots, call.thread, at, INTERRUPT, shown)
