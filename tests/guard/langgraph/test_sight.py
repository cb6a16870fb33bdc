"""What an admission reads is of one moment, though it asks once."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig

from resumption.guard.claims import statements
from resumption.guard.langgraph import statements as slots
from resumption.guard.langgraph.calls import Call, read_call
from resumption.guard.langgraph.sight import Topology, look
from resumption.guard.langgraph.steps import Read
from resumption.guard.stores.protocol import Reply
from resumption.guard.stores.session import drive

from .programs import THREAD, answer

_BLOB = ("msgpack", b"")


def call(bench: Any) -> Call:
    return read_call(answer("yes"), RunnableConfig(**THREAD), None, bench.saver().serde)


def test_rows_of_a_checkpoint_that_was_superseded_meanwhile_are_not_taken_for_the_newest_ones(bench):
    """Somebody who has the lease stored a checkpoint between the two answers."""
    sql = slots.SQLITE
    said = {
        sql.rows_at_head: [("t1", "trail", *_BLOB, "1")],
        sql.head: [("2",)],
        sql.rows: [("t2", "trail", *_BLOB)],
    }
    asked = []

    def execute(text: str, parameters: tuple[object, ...]) -> Reply:
        asked.append((text, parameters))
        return Reply(said.get(text, []), -1)

    topology = Topology(bench.builder(pay=bench.gate("pay")).compile())
    course = look(call(bench), None, statements.SQLITE, sql, topology, lambda kind, blob: ())
    step = next(course)
    assert isinstance(step, Read)
    try:
        course.send(drive(step.make(), execute))
    except StopIteration as end:
        seen = end.value.superstep
    assert (seen.head, [row.task for row in seen.rows["", "2"]]) == ("2", ["t2"])
    assert asked[-1] == (sql.rows, ("t", "", "2"))


def test_one_question_to_the_database_shows_the_newest_checkpoint_and_what_was_written_at_it(bench):
    """On both, an empty thread has neither."""
    app = bench.guarded(bench.builder(pay=bench.gate("pay")))
    keeper = app.checkpointer

    def rows() -> Any:
        found = yield keeper.guard_slots.rows_at_head, ("t", "", "t", "")
        head = yield keeper.guard_slots.head, ("t", "")
        return found.rows, head.rows

    assert keeper.guard_read(rows) == ([], [])
    app.invoke({"trail": []}, THREAD)
    found, ((head,),) = keeper.guard_read(rows)
    assert {row[-1] for row in found} == {head}
    assert "__interrupt__" in {row[1] for row in found}
