"""Forks: a second decision at an interrupt, on a branch of its own.

A branch begins with a copy of the checkpoint at which the interrupt was raised. LangGraph makes the ids of tasks from
the checkpoint's, so the same task is another one there: it has claims, answers and effects of its own. Answers that the
task had before this interrupt are part of both branches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from langgraph.types import Command, StateSnapshot

from resumption.decide.branch import Branch, branch
from resumption.errors import AmbiguousAnswer, GuardError, NothingToFork, UnknownAddress
from resumption.guard.claims import protocol
from resumption.guard.claims.records import Claim
from resumption.guard.langgraph.calls import Call
from resumption.guard.langgraph.copies import Origin, copied
from resumption.guard.langgraph.deciding import accepting
from resumption.guard.langgraph.house import House, Run
from resumption.guard.langgraph.slots import NULL_TASK, RESUME, Owner, knowing, putting, question_id, read_at
from resumption.guard.langgraph.steps import Copy, Course, Inspect, Read, Write
from resumption.guard.langgraph.tenure import Tenure
from resumption.guard.stores.protocol import Work

__all__ = ["forked"]


@dataclass(frozen=True, slots=True)
class _Site:
    """Where a second decision is wanted: which interrupt, and who asked."""

    interrupt: str
    owner: Owner | None
    earlier: list[Any]
    """The answers that the task had before."""
    claims: Sequence[Claim] = ()
    """The claims that were made at the checkpoint."""


def forked(call: Call, house: House, tenure: Tenure) -> Course[Run]:
    """Open the branch and record its decision; what is left is to run it."""
    sight = yield from house.look(call, tenure)
    checkpoint = call.checkpoint or sight.superstep.head
    site = yield from _site(call, house, checkpoint)
    if site.owner is None:  # one that still waits may be known from where it waits
        site = replace(site, owner=sight.owners.get(site.interrupt))
    into = call.payload.into
    if into is not None:
        if site.owner is None:
            raise AmbiguousAnswer(
                f"Nothing tells which task raised interrupt {site.interrupt!r}, so no copy can be without its answer.",
                advice="Fork on the thread itself, or give the subgraph that asks a checkpointer.",
            )
        tenure.end()
        return (yield from copied(call, house, into, Origin(checkpoint, site.interrupt, site.owner, site.claims)))
    at = _at(call, checkpoint)
    if site.owner is not None and site.owner.namespace:
        return (yield from _inside(call, house, tenure, at, site.owner))
    before: StateSnapshot = yield Inspect(at.config)
    yield Copy(tenure, at.config)
    after: StateSnapshot = yield Inspect(call.config)
    yield Write(tenure, lambda: _deciding(call, house, site, before, after))
    return Run(tenure, None, call)


def _at(call: Call, checkpoint: str) -> Call:
    configurable = {**call.config["configurable"], "checkpoint_id": checkpoint}
    return replace(call, config={**call.config, "configurable": configurable})


def _site(call: Call, house: House, checkpoint: str) -> Course[_Site]:
    """Find the interrupt at a checkpoint: one that was answered there, or one that waits."""
    (answer,) = call.answers
    keeper = house.keeper
    known = yield Read(lambda: knowing(keeper.guard_slots, call.thread, checkpoint))
    claims: list[Claim] = yield Read(lambda: protocol.claims_at(keeper.guard_sql, call.thread, checkpoint))
    step = yield Read(lambda: read_at(keeper.guard_slots, call.thread, checkpoint))
    sites: dict[str, _Site] = {}
    for question in step.questions(house.unpack):
        owner = step.owner_of(question, house.topology.names, house.unpack)
        sites[question.identity] = _Site(question.identity, owner, [])
    for claim in claims:
        owner = Owner(claim.namespace, claim.checkpoint, claim.task, claim.answered) if claim.task else None
        sites[claim.interrupt] = _Site(claim.interrupt, owner, [])
    if answer.interrupt is not None:
        sites = {key: site for key, site in sites.items() if key == answer.interrupt}
    outcome = branch(known=known, head=False, interrupted=bool(sites), fork=True)
    if outcome is not Branch.FORK:
        raise _refusal(call, checkpoint, outcome)
    if len(sites) > 1:
        raise AmbiguousAnswer(
            f"{len(sites)} interrupts were raised at checkpoint {checkpoint!r}.",
            advice="Name the one to fork at: fork(…, interrupt=its id).",
        )
    (site,) = (replace(site, claims=claims) for site in sites.values())
    if site.owner is None or site.owner.namespace:
        return site
    answers = step.answers_of("", checkpoint, site.owner.task, house.unpack)
    return replace(site, earlier=answers[: site.owner.answered])


def _refusal(call: Call, checkpoint: str, outcome: Branch) -> GuardError:
    if outcome is Branch.UNKNOWN:
        return UnknownAddress(
            f"Thread {call.thread!r} has no checkpoint {checkpoint!r}.",
            advice="The thread's history names its checkpoints.",
            branch=outcome.value,
        )
    return NothingToFork(
        f"No such interrupt was raised at checkpoint {checkpoint!r} of thread {call.thread!r}.",
        advice="Fork at the checkpoint that get_state returned while the interrupt was pending.",
        branch=outcome.value,
    )


def _deciding(call: Call, house: House, site: _Site, before: StateSnapshot, after: StateSnapshot) -> Work[None]:
    """Record the branch's decision: for the task that asked, or for who asks first if a node calls that task."""
    (answer,) = call.answers
    keeper, serde = house.keeper, house.keeper.serde
    head = after.config["configurable"]["checkpoint_id"]
    task, name = _counterpart(site.owner, before, after)
    answered = len(site.earlier)
    if task:
        interrupt = question_id(f"{name}:{task}", answered, like=site.interrupt, before=_place(site.owner, name))
        key, at = Owner("", head, task, answered).key, ("", head, task)
        yield from putting(
            keeper.guard_slots, call.thread, at, RESUME, serde.dumps_typed([*site.earlier, answer.value])
        )
    else:
        interrupt, key, at = "", f"@/{head}", ("", head, NULL_TASK)
        yield from putting(keeper.guard_slots, call.thread, at, RESUME, serde.dumps_typed(answer.value))
    record = Claim(
        call.thread, key, interrupt, answer.digest, *serde.dumps_typed(answer.value), head, "", head, task, answered,
        "[]", call.delivery, protocol.now(), protocol.place(),
    )  # fmt: skip
    yield from protocol.claiming(keeper.guard_sql, record)
    if call.delivery:
        yield from protocol.accepting(keeper.guard_sql, house.delivery(call, head))


def _counterpart(owner: Owner | None, before: StateSnapshot, after: StateSnapshot) -> tuple[str, str]:
    """The id and name, on the branch, of the task that asked; empty for one that a node calls when it runs."""
    place = next((task for task in before.tasks if owner is not None and task.id == owner.task), None)
    if place is None:
        return "", ""
    found = next((task for task in after.tasks if (task.name, task.path) == (place.name, place.path)), None)
    return (found.id, found.name) if found is not None else ("", "")


def _place(owner: Owner | None, name: str) -> str:
    return f"{name}:{owner.task}" if owner is not None else ""


def _inside(call: Call, house: House, tenure: Tenure, at: Call, owner: Owner) -> Course[Run]:
    """A fork in a subgraph: LangGraph's own, at the subgraph's config, so that the code before it doesn't run again."""
    if call.delivery:
        yield Write(tenure, lambda: accepting(call, house))
    snapshot: StateSnapshot = yield Inspect(at.config)
    root = snapshot.config["configurable"]["checkpoint_id"]
    inner = {
        "checkpoint_ns": owner.namespace,
        "checkpoint_id": owner.checkpoint,
        "checkpoint_map": {"": root, owner.namespace: owner.checkpoint},
    }
    config = {**call.config, "configurable": {**call.config["configurable"], **inner}}
    (answer,) = call.answers
    return Run(tenure, Command(resume=answer.value), replace(call, config=config))  # type: ignore[arg-type]  # a config
