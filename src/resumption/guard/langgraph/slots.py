"""LangGraph's own tables, as far as the guard reads and writes them: heads, pending questions, answers.

LangGraph keeps, for each task of a superstep, one slot for the question that it asked and one for the answers that it
was given. The guard puts a decision into the slot of the task that asked, so that LangGraph itself, guarded or not,
serves it when the task runs. It takes the question out of every slot that shows it, as a mark that it is answered.

LangGraph does not record which task asked, but the id of a question is a hash of that task's namespace, so it can be
proven (`owner_of`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langgraph.checkpoint.base import WRITES_IDX_MAP
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT
from langgraph.types import Interrupt
from xxhash import xxh3_128_hexdigest

from resumption.guard.langgraph.statements import SlotStatements
from resumption.guard.stores.protocol import Reply, Work

__all__ = [
    "NULL_TASK",
    "RESUME",
    "Names",
    "Owner",
    "Question",
    "Row",
    "Superstep",
    "Unpack",
    "answered",
    "copying",
    "dropping",
    "forgetting",
    "knowing",
    "newest",
    "placing",
    "putting",
    "question_id",
    "read_at",
    "read_place",
    "reading",
    "rows_of",
    "visiting",
]

RESUME = "__resume__"
NULL_TASK = "00000000-0000-0000-0000-000000000000"
"""The task id of writes that belong to no task, such as the answer of a bare resume in stock LangGraph."""

_SEPARATOR = "|"
_CONTROL = frozenset((ERROR, INTERRUPT, RESUME, "__error_source_node__"))

Unpack = Callable[[str, bytes], Any]
"""The saver's serializer, reading."""

Names = Callable[[str], Iterable[str]]
"""The names of the nodes in the graph that a namespace belongs to; empty where they can't be known."""


@dataclass(frozen=True, slots=True)
class Row:
    """One recorded write. The value stays packed until it is asked for."""

    task: str
    channel: str
    kind: str
    blob: bytes


@dataclass(frozen=True, slots=True)
class Question:
    """A question that is shown, and by which tasks."""

    interrupt: Interrupt
    shown_by: tuple[tuple[str, str, str], ...]
    """Namespace, checkpoint and task of every slot that shows it."""

    @property
    def identity(self) -> str:
        """The id by which clients name it."""
        return self.interrupt.id


@dataclass(frozen=True, slots=True)
class Owner:
    """The task that asked a question, and how many answers it had by then."""

    namespace: str
    checkpoint: str
    task: str
    answered: int

    @property
    def key(self) -> str:
        """The question's key: no other question of the thread has it, not even on another branch."""
        return f"{self.namespace}/{self.task}/{self.answered}"


@dataclass(frozen=True, slots=True)
class Superstep:
    """The writes recorded at the newest checkpoint of a thread and of the subgraphs under way in it."""

    head: str
    """The newest checkpoint of the root graph; empty if the thread has none."""
    rows: Mapping[tuple[str, str], Sequence[Row]] = field(default_factory=dict)
    """By namespace and checkpoint."""
    moved: frozenset[tuple[str, str]] = frozenset()
    """Checkpoints of subgraphs, by namespace, that are not the newest of theirs any more."""

    def questions(self, unpack: Unpack) -> list[Question]:
        """The questions that are shown at the root, in order: those that wait for an answer."""
        shown: dict[str, tuple[Interrupt, list[tuple[str, str, str]]]] = {}
        for (namespace, checkpoint), rows in self.rows.items():
            for row in rows:
                if row.channel == INTERRUPT and row.task != NULL_TASK:
                    for interrupt in _each(unpack(row.kind, row.blob)):
                        entry = shown.setdefault(interrupt.id, (interrupt, []))
                        entry[1].append((namespace, checkpoint, row.task))
        return [
            Question(interrupt, tuple(by))
            for interrupt, by in shown.values()
            # A task that ended keeps showing its last question, and so do those around it until they end.
            if any(at[0] == "" for at in by) and not any(self.finished(*at) for at in by)
        ]

    def answers_of(self, namespace: str, checkpoint: str, task: str, unpack: Unpack) -> list[Any]:
        """The answers that a task was given."""
        for row in self.rows.get((namespace, checkpoint), ()):
            if row.task == task and row.channel == RESUME:
                answers = unpack(row.kind, row.blob)
                return list(answers) if isinstance(answers, list) else [answers]
        return []

    def finished(self, namespace: str, checkpoint: str, task: str) -> bool:
        """Whether a task's result is recorded."""
        rows = self.rows.get((namespace, checkpoint), ())
        return any(row.task == task and row.channel not in _CONTROL for row in rows)

    @property
    def all_finished(self) -> list[str]:
        """The tasks whose results are recorded."""
        return sorted({row.task for rows in self.rows.values() for row in rows if row.channel not in _CONTROL})

    @property
    def answers_anybody(self) -> bool:
        """Whether an answer is recorded for whoever asks first."""
        rows = self.rows.get(("", self.head), ())
        return any(row.task == NULL_TASK and row.channel == RESUME for row in rows)

    def shown_at(self, at: tuple[str, str, str], unpack: Unpack) -> list[Interrupt]:
        """The questions that a task shows."""
        namespace, checkpoint, task = at
        rows = self.rows.get((namespace, checkpoint), ())
        slots = [row for row in rows if row.task == task and row.channel == INTERRUPT]
        return [interrupt for row in slots for interrupt in _each(unpack(row.kind, row.blob))]

    def owner_of(self, question: Question, names: Names, unpack: Unpack) -> Owner | None:
        """The task that asked; None if nothing proves which.

        The proof is the hash that the question's id is. Where a graph's nodes can't be known, because it is called by
        code that LangGraph doesn't look into, it is the innermost graph that shows the question.
        """
        for namespace, checkpoint, task in question.shown_by:
            answered = len(self.answers_of(namespace, checkpoint, task, unpack))
            for name in names(namespace):
                place = f"{namespace}{_SEPARATOR}{name}:{task}" if namespace else f"{name}:{task}"
                # Releases before 1.2.10 give all questions of a task the first one's id.
                if question.identity in (_hash(place), _hash(f"{place}{_SEPARATOR}{answered}")):
                    return Owner(namespace, checkpoint, task, answered)
        inside = sorted((at for at in question.shown_by if at[0]), key=lambda at: at[0].count(_SEPARATOR))
        depths = [at[0].count(_SEPARATOR) for at in inside]
        if not inside or depths.count(depths[-1]) > 1:
            return None
        return Owner(*inside[-1], answered=len(self.answers_of(*inside[-1], unpack)))


def newest(sql: SlotStatements, thread: str) -> Work[str]:
    """The newest checkpoint of the root graph; empty if the thread has none."""
    found = yield sql.head, (thread, "")
    return str(found.rows[0][0]) if found.rows else ""


def rows_of(reply: Reply) -> list[Row]:
    """The recorded writes that a reply to the statements `rows` and `rows_at_head` has."""
    return [Row(str(row[0]), str(row[1]), str(row[2]), bytes(row[3] or b"")) for row in reply.rows]  # type: ignore[call-overload]  # a blob


def reading(
    sql: SlotStatements, thread: str, root: Superstep, nested_under: Callable[[Sequence[Row]], Iterable[str]]
) -> Work[Superstep]:
    """Read the subgraphs under way too. `nested_under` names the namespaces under which there may be some."""
    everything = dict(root.rows)
    for prefix in nested_under(root.rows["", root.head]):
        # "~" sorts behind every character that continues a namespace.
        below = yield sql.nested, (thread, prefix, f"{prefix}~")
        for namespace, checkpoint in below.rows:
            place = (str(namespace), str(checkpoint))
            everything[place] = yield from read_place(sql, thread, *place)
    return Superstep(root.head, everything)


def visiting(sql: SlotStatements, thread: str, seen: Superstep, places: Iterable[tuple[str, str]]) -> Work[Superstep]:
    """Read these places of subgraphs too, by namespace and checkpoint, and whether their graphs have moved on."""
    rows, moved = dict(seen.rows), set(seen.moved)
    for place in places:
        newest = yield sql.head, (thread, place[0])
        if newest.rows and newest.rows[0][0] != place[1]:
            moved.add(place)
        elif place not in rows:
            rows[place] = yield from read_place(sql, thread, *place)
    return Superstep(seen.head, rows, frozenset(moved))


def read_place(sql: SlotStatements, thread: str, namespace: str, checkpoint: str) -> Work[list[Row]]:
    """Read the writes at one checkpoint of one graph."""
    return rows_of((yield sql.rows, (thread, namespace, checkpoint)))


def answered(sql: SlotStatements, thread: str, at: tuple[str, str, str]) -> Work[tuple[str, bytes] | None]:
    """The packed answers in a task's slot, if there are any."""
    found = yield sql.slot, (thread, *at, WRITES_IDX_MAP[RESUME])
    if not found.rows:
        return None
    kind, blob = found.rows[0]
    return str(kind), bytes(blob)  # type: ignore[call-overload]  # a blob


def knowing(sql: SlotStatements, thread: str, checkpoint: str) -> Work[bool]:
    """Whether a checkpoint of the root graph was issued for this thread."""
    found = yield sql.known, (thread, "", checkpoint)
    return bool(found.rows)


def putting(
    sql: SlotStatements, thread: str, at: tuple[str, str, str], channel: str, packed: tuple[str, bytes]
) -> Work[None]:
    """Fill a task's slot. `at` is its namespace, checkpoint and id."""
    yield sql.put, (thread, *at, WRITES_IDX_MAP[channel], channel, *packed)


def dropping(sql: SlotStatements, thread: str, at: tuple[str, str, str], channel: str) -> Work[None]:
    """Empty a task's slot."""
    yield sql.drop, (thread, *at, WRITES_IDX_MAP[channel])


def forgetting(sql: SlotStatements, thread: str, at: tuple[str, str, str]) -> Work[None]:
    """Remove all that a task wrote."""
    yield sql.forget, (thread, *at)


def placing(sql: SlotStatements, thread: str) -> Work[list[tuple[str, str]]]:
    """Every checkpoint of a thread, by namespace, the oldest first."""
    found = yield sql.places, (thread,)
    return [(str(namespace), str(checkpoint)) for namespace, checkpoint in found.rows]


def copying(sql: SlotStatements, thread: str, into: str, places: Iterable[tuple[str, str]]) -> Work[None]:
    """Copy these checkpoints of a thread, and what was written at them, to another thread, under the same names."""
    for table in sql.by_thread:
        yield (yield from _copy(sql, table)), (into, thread)
    statements = []
    for table in sql.by_checkpoint:
        statements.append((yield from _copy(sql, table)))
    for place in places:
        for statement in statements:
            yield statement, (into, thread, *place)


def _copy(sql: SlotStatements, table: str) -> Work[str]:
    """The statement that copies rows of a table; releases of a saver differ in what columns it has."""
    found = yield sql.columns, (table,)
    return sql.copy(table, [str(row[0]) for row in found.rows if row[0] != "thread_id"])


def _each(value: Any) -> Sequence[Interrupt]:
    return value if isinstance(value, list | tuple) else (value,)


def _hash(text: str) -> str:
    return xxh3_128_hexdigest(text.encode())


def read_at(sql: SlotStatements, thread: str, checkpoint: str) -> Work[Superstep]:
    """Read the writes at one checkpoint of the root graph."""
    rows = yield from read_place(sql, thread, "", checkpoint)
    return Superstep(checkpoint, {("", checkpoint): rows})


def question_id(place: str, answered: int, *, like: str, before: str) -> str:
    """The id of a question at `place`, made as the one that is `like`, which was asked at the place `before`."""
    return _hash(place) if like == _hash(before) else _hash(f"{place}{_SEPARATOR}{answered}")
