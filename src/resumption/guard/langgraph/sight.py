"""Reading what is durable about a thread: its questions, who asked them, and which decisions have claimed them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langgraph.pregel import Pregel

from resumption.guard.claims.records import Claim, Fence
from resumption.guard.claims.statements import Statements
from resumption.guard.langgraph.calls import Call
from resumption.guard.langgraph.slots import (
    Owner,
    Question,
    Row,
    Superstep,
    Unpack,
    newest,
    reading,
    rows_of,
    visiting,
)
from resumption.guard.langgraph.statements import SlotStatements
from resumption.guard.langgraph.steps import Course, Inspect, Read
from resumption.guard.langgraph.tenure import Tenure
from resumption.guard.stores.protocol import Batch, Reply, Work

__all__ = ["UNPROVEN", "Sight", "Topology", "consumed", "look"]

UNPROVEN = "?/"
"""How the key begins of a question of which nothing proves who asked: in a subgraph that keeps no checkpoints, say."""


class Topology:
    """The names of the nodes of a graph and of the subgraphs that LangGraph finds in it."""

    def __init__(self, graph: Pregel[Any, Any, Any, Any]) -> None:
        self._graph = graph
        self._names: dict[str, tuple[str, ...]] | None = None

    def names(self, namespace: str) -> Iterable[str]:
        """The names of the nodes in the graph that a namespace belongs to; none if LangGraph can't find that graph."""
        if not namespace:
            return tuple(self._graph.nodes)  # without a search for subgraphs, which most calls don't need
        parts = [part.partition(":")[0] for part in namespace.split("|") if part and not part.isdigit()]
        return self._all().get("|".join(parts), ())

    def breaks(self) -> bool:
        """Whether a run may rest at a breakpoint of one of the subgraphs."""
        found = (graph for _, graph in self._graph.get_subgraphs(recurse=True) if isinstance(graph, Pregel))
        return any(graph.interrupt_before_nodes or graph.interrupt_after_nodes for graph in found)

    def _all(self) -> dict[str, tuple[str, ...]]:
        if self._names is None:
            found: dict[str, tuple[str, ...]] = {}
            for namespace, graph in self._graph.get_subgraphs(recurse=True):
                if isinstance(graph, Pregel):
                    found[namespace] = tuple(graph.nodes)
            self._names = found
        return self._names


@dataclass(frozen=True, slots=True)
class Sight:
    """What is durable about a thread, read at once."""

    superstep: Superstep
    questions: Sequence[Question]
    owners: dict[str, Owner | None]
    """The owner of each question, by the question's id; None where nothing proves it."""
    claims: dict[str, Claim]
    """The claims that bear on the call, by key."""
    last: Claim | None
    """The newest claim on the thread."""
    named: dict[str, Claim] = field(default_factory=dict)
    """The newest claim on each interrupt that the call names."""
    addressed: Sequence[Claim] = ()
    """The claims that were made at the checkpoint that the call names."""
    orphans: frozenset[str] = frozenset()
    """The ids of the questions that no task of this program can have asked: it changed since."""

    def key_of(self, question: Question) -> str:
        """The question's key."""
        owner = self.owners[question.identity]
        return owner.key if owner else f"{UNPROVEN}{self.superstep.head}/{question.identity}"

    def question(self, key: str) -> Question | None:
        """The question with that key, if it still waits."""
        return next((question for question in self.questions if self.key_of(question) == key), None)


@dataclass(frozen=True, slots=True)
class _Found:
    """What the database said."""

    superstep: Superstep
    last: Sequence[Claim]
    named: Mapping[str, Sequence[Claim]]
    addressed: Sequence[Claim]
    fence: Fence | None


def look(
    call: Call, tenure: Tenure | None, sql: Statements, slots: SlotStatements, topology: Topology, unpack: Unpack
) -> Course[Sight]:
    """Read all that a call's admission depends on, and what the tenure's grant will depend on."""

    def nested_under(rows: Sequence[Row]) -> Iterable[str]:
        root = Superstep("", {("", ""): rows})
        for question in root.questions(unpack):
            if root.owner_of(question, topology.names, unpack) is None:
                for _, _, task in question.shown_by:
                    yield from (f"{name}:{task}" for name in topology.names(""))

    glancing = tenure is not None and not tenure.exclusive and tenure.seen is None
    found: _Found = yield Read(lambda: _seeing(call, glancing, sql, slots, nested_under))
    if tenure is not None and glancing:
        tenure.seen = found.fence
        tenure.must_hold()  # or the grant that was seen may be a successor's
    step = found.superstep
    questions = step.questions(unpack)
    owners = {question.identity: step.owner_of(question, topology.names, unpack) for question in questions}
    unproven = [question for question in questions if owners[question.identity] is None]
    orphans: frozenset[str] = frozenset()
    if unproven:
        snapshot = yield Inspect(call.config)
        nodes = frozenset(task.id for task in snapshot.tasks)
        orphans = frozenset(question.identity for question in unproven if not _asked_by(question, nodes))
        for question in unproven:
            owners[question.identity] = _sole_call(step, question, nodes, unpack)
    every = [*found.addressed, *(claim for claims in found.named.values() for claim in claims), *found.last]
    return Sight(
        superstep=step,
        questions=questions,
        owners=owners,
        claims={claim.key: claim for claim in every},
        last=found.last[-1] if found.last else None,
        named={interrupt: claims[0] for interrupt, claims in found.named.items() if claims},
        addressed=found.addressed,
        orphans=orphans,
    )


def _seeing(
    call: Call,
    glancing: bool,
    sql: Statements,
    slots: SlotStatements,
    nested_under: Callable[[Sequence[Row]], Iterable[str]],
) -> Work[_Found]:
    thread = call.thread
    names = [answer.interrupt for answer in call.answers if answer.interrupt is not None]
    # The last grant before all else: there is another, if the lease is lost before the rest is read. And the questions
    # before the claims: a claim that is made in between is then seen on a question that waits.
    found = yield Batch(
        [
            *([(sql.glance, (thread,))] if glancing else []),
            (slots.rows_at_head, (thread, "", thread, "")),
            (sql.last_claims, (thread, thread)),
            *([(sql.claims_at, (thread, call.checkpoint))] if call.checkpoint else []),
            *((sql.claims_of, (thread, name)) for name in names),
        ]
    )
    replies = iter(found.parts)
    fence = Fence.of(next(replies).rows, thread) if glancing else None
    rows, last = next(replies), _claims(next(replies))
    addressed = _claims(next(replies)) if call.checkpoint else []
    named = {name: _claims(reply) for name, reply in zip(names, replies, strict=True)}
    # Where nothing was written, nothing is asked: so it was a moment ago, whatever is the newest by now.
    head = str(rows.rows[0][-1]) if rows.rows else (yield from newest(slots, thread))
    superstep = yield from reading(slots, thread, Superstep(head, {("", head): rows_of(rows)}), nested_under)
    waiting = [claim for claim in last if claim.root == head]
    inside = {(claim.namespace, claim.checkpoint) for claim in waiting if claim.namespace}
    superstep = yield from visiting(slots, thread, superstep, sorted(inside))
    return _Found(superstep, last, named, addressed if call.checkpoint != head else (), fence)


def _claims(reply: Reply) -> list[Claim]:
    return [Claim.of(row) for row in reply.rows]


def _asked_by(question: Question, nodes: frozenset[str]) -> bool:
    """Whether one of these tasks of the root shows a question, its own or one that was asked inside it."""
    return any(at[0] == "" and at[2] in nodes for at in question.shown_by)


def _sole_call(step: Superstep, question: Question, nodes: frozenset[str], unpack: Unpack) -> Owner | None:
    """The task that a node's code called, where it alone can have asked.

    A `@task` has the name of a function, which no node tells. But beside the node that called it, nothing else at the
    root shows its question.
    """
    calls = [at for at in question.shown_by if at[2] not in nodes]
    if len(calls) != 1 or calls[0][0] != "":
        return None
    return Owner(*calls[0], answered=len(step.answers_of(*calls[0], unpack)))


def consumed(claim: Claim, step: Superstep, unpack: Unpack) -> bool:
    """Whether the gate received the claim's decision, and its task's progress is durable."""
    if step.head != claim.root or (claim.namespace, claim.checkpoint) in step.moved:
        return True
    if not claim.task:
        return False
    at = (claim.namespace, claim.checkpoint, claim.task)
    if step.finished(*at):
        return True
    return bool(step.shown_at(at, unpack)) and len(step.answers_of(*at, unpack)) > claim.answered
