"""Forks on a thread of their own: a copy of the thread as it was when the interrupt waited, with another decision.

Checkpoints keep their ids in the copy, so tasks, which LangGraph names after them, do too. What was finished when the
first decision was taken is finished in the copy, in every shape of program: nothing before the interrupt runs again.
What followed from the first decision isn't part of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from resumption.errors import RunBusy, ThreadTaken
from resumption.guard.claims import protocol
from resumption.guard.claims.records import Claim
from resumption.guard.langgraph.calls import Call
from resumption.guard.langgraph.house import House, Run
from resumption.guard.langgraph.slots import (
    NULL_TASK,
    RESUME,
    Owner,
    Superstep,
    copying,
    dropping,
    forgetting,
    newest,
    placing,
    putting,
    read_place,
)
from resumption.guard.langgraph.steps import Course, Write
from resumption.guard.stores.protocol import Work

__all__ = ["Origin", "copied"]


@dataclass(frozen=True, slots=True)
class Origin:
    """What is copied: the thread as it was when this task asked, at this checkpoint of the root graph."""

    checkpoint: str
    interrupt: str
    owner: Owner
    claims: Sequence[Claim]
    """The claims that were made at that checkpoint, the oldest first."""

    @property
    def first(self) -> Claim | None:
        """The decision that the interrupt was given; None if it still waits."""
        return next((claim for claim in self.claims if claim.key == self.owner.key), None)

    @property
    def given(self) -> Mapping[str, int]:
        """How many answers each task had when the first decision was taken, as far as that is on record."""
        first = self.first
        before = self.claims[: self.claims.index(first)] if first else self.claims
        later = {claim.task: claim.answered for claim in reversed(self.claims[len(before) :])}
        return {**later, **{claim.task: claim.answered + 1 for claim in before}}


def copied(call: Call, house: House, into: str, origin: Origin) -> Course[Run]:
    """Copy the thread and record the decision there; what is left is to run it. Raises `ThreadTaken`, `RunBusy`."""
    tenure = house.lease(into)
    if tenure is None:
        raise RunBusy(f"Another executor has thread {into!r}.", advice="Name a new thread.")
    begun = False
    try:
        yield Write(tenure, lambda: _copying(call, house, into, origin))
        begun = True
    finally:
        if not begun:
            tenure.end()
    return Run(tenure, None, call.onto(into))


def _copying(call: Call, house: House, into: str, origin: Origin) -> Work[None]:
    keeper, owner = house.keeper, origin.owner
    slots, pack = keeper.guard_slots, keeper.serde.dumps_typed
    if (yield from newest(slots, into)):
        raise ThreadTaken(
            f"Thread {into!r} has checkpoints of its own.",
            advice="Copy to a new thread, or go on there with invoke(None) if it is an earlier copy.",
        )
    places = _kept((yield from placing(slots, call.thread)), origin)
    yield from copying(slots, call.thread, into, places)
    (answer,) = call.answers
    step = Superstep(origin.checkpoint, (yield from _under_way(house, into, places, origin)))
    finished = json.loads(origin.first.finished) if origin.first else step.all_finished
    for place, rows in step.rows.items():
        for task in {row.task for row in rows} - {*finished, NULL_TASK}:
            answers = step.answers_of(*place, task, house.unpack)
            yield from forgetting(slots, into, (*place, task))
            if task != owner.task and (kept := answers[: origin.given.get(task, len(answers))]):
                yield from putting(slots, into, (*place, task), RESUME, pack(kept))
    yield from dropping(slots, into, ("", origin.checkpoint, NULL_TASK), RESUME)
    at = (owner.namespace, owner.checkpoint, owner.task)
    earlier = step.answers_of(*at, house.unpack)[: owner.answered]
    yield from putting(slots, into, at, RESUME, pack([*earlier, answer.value]))
    record = Claim(
        into, owner.key, origin.interrupt, answer.digest, *pack(answer.value), origin.checkpoint, *at, owner.answered,
        json.dumps(sorted(finished)), call.delivery, protocol.now(), protocol.place(),
    )  # fmt: skip
    yield from protocol.claiming(keeper.guard_sql, record)
    if call.delivery:
        yield from protocol.accepting(keeper.guard_sql, house.delivery(call.onto(into), origin.checkpoint))


def _kept(places: Iterable[tuple[str, str]], origin: Origin) -> list[tuple[str, str]]:
    """The checkpoints that were there when the task asked. Their ids are ordered by time."""
    every = list(places)
    owner = origin.owner
    after = next(
        (checkpoint for namespace, checkpoint in every if not namespace and checkpoint > origin.checkpoint), "~"
    )

    def was_there(namespace: str, checkpoint: str) -> bool:
        if not namespace:
            return checkpoint <= origin.checkpoint
        if owner.namespace and f"{owner.namespace}|".startswith(f"{namespace}|"):
            return checkpoint <= owner.checkpoint
        return checkpoint < after

    return [place for place in every if was_there(*place)]


def _under_way(house: House, thread: str, places: Iterable[tuple[str, str]], origin: Origin) -> Work[dict[Any, Any]]:
    """What was written at the newest checkpoints of the root and of the graphs on the way to the task that asked."""
    line = {"": origin.checkpoint}
    for namespace, checkpoint in places:
        if namespace and f"{origin.owner.namespace}|".startswith(f"{namespace}|"):
            line[namespace] = checkpoint
    found = {}
    for place in line.items():
        found[place] = yield from read_place(house.keeper.guard_slots, thread, *place)
    return found
