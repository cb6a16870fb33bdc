"""What an admission reads is of one moment, though it asks once."""

from __future__ import annotations

from typing import Any

from .programs import THREAD


def test_one_question_to_the_database_shows_the_newest_checkpoint_and_what_was_written_at_it(bench):
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
