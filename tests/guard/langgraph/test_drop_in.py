"""A guarded graph is what it was made from, and says so when it can't be guarded."""

from __future__ import annotations

import copy
import math
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from langgraph._internal._constants import CONFIG_KEY_CHECKPOINTER
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import interrupt
from pydantic import BaseModel

from resumption.errors import SchemaMismatch
from resumption.guard.langgraph.seams import SEAMS, missing
from resumption.langgraph import (
    AlreadyConsumed,
    EmptyAnswer,
    RunBusy,
    UnstorableValue,
    UnsupportedSaver,
    UnusableSetting,
    fork,
    guard,
)

from .programs import THREAD, answer, pending

INPUT: Any = {"trail": []}


def test_it_has_the_type_and_the_methods_of_the_graph(bench):
    app = bench.approval()
    assert isinstance(app, CompiledStateGraph)
    assert isinstance(app.checkpointer, SqliteSaver)
    assert guard(app) is app
    assert app.get_graph().to_json() == _stock(bench).get_graph().to_json()
    assert app.get_input_jsonschema() == _stock(bench).get_input_jsonschema()


def test_guarding_it_again_changes_the_settings_that_are_given_and_no_other(bench):
    app = bench.approval(on_conflict="raise")
    hasty = guard(app, wait=0.0)
    app.invoke(INPUT, THREAD)
    app.invoke(answer("yes"), THREAD)
    with pytest.raises(AlreadyConsumed, match="the same decision"):
        hasty.invoke(answer("yes"), THREAD)
    with _busy(app), pytest.raises(RunBusy, match=r"for 0\.0 seconds"):
        hasty.invoke(INPUT, THREAD)
    assert guard(hasty, wait=0, on_conflict="raise") is hasty
    assert guard(hasty, on_conflict="join").invoke(answer("yes"), THREAD)["trail"][-1] == "notify"


def test_guarding_it_again_with_another_store_is_refused(bench):
    with pytest.raises(UnusableSetting, match=r"guarded already, with store=None, and can't have 'claims\.db'"):
        guard(bench.approval(), store="claims.db")


@contextmanager
def _busy(app: Any) -> Iterator[None]:
    """A time in which somebody else has the thread."""
    held = app.checkpointer.guard_locks.attempt("t")
    assert held is not None
    try:
        yield
    finally:
        held.release()


def _stock(bench: Any) -> Any:
    builder = bench.builder(draft=bench.step("draft"), pay=bench.gate("pay"), notify=bench.step("notify"))
    return builder.compile(checkpointer=bench.saver())


@pytest.mark.parametrize("change", [copy.copy, lambda app: app.with_config(tags=["x"]), lambda app: app.copy()])
def test_a_copy_of_it_is_guarded(bench, change):
    app = change(bench.approval())
    app.invoke(INPUT, THREAD)
    (asked,) = pending(app)
    app.invoke(answer({asked: "yes"}), THREAD)
    app.invoke(answer({asked: "yes"}), THREAD)
    assert bench.fired() == ["draft", "pay=yes", "notify"]


@pytest.mark.parametrize("mode", ["values", "updates", ["values", "updates"]])
@pytest.mark.parametrize("subgraphs", [False, True])
def test_it_streams_what_the_graph_streams(bench, mode, subgraphs):
    def shown(app: Any, thread: str) -> list[Any]:
        config = {"configurable": {"thread_id": thread}}
        asked = list(app.stream(INPUT, config, stream_mode=mode, subgraphs=subgraphs))
        return [_without_ids(asked), list(app.stream(answer("yes"), config, stream_mode=mode, subgraphs=subgraphs))]

    assert shown(bench.approval(), "guarded") == shown(_stock(bench), "stock")


def _without_ids(chunks: list[Any]) -> list[str]:
    return [re.sub("[0-9a-f]{32}", "…", repr(chunk)) for chunk in chunks]


@pytest.mark.parametrize("mode", ["values", "updates", ["updates", "values"]])
def test_a_repetition_streams_the_outcome(bench, mode):
    app = bench.approval()
    app.invoke(INPUT, THREAD)
    app.invoke(answer("yes"), THREAD)
    chunks = list(app.stream(answer("yes"), THREAD, stream_mode=mode))
    values = {"trail": ["draft", "pay=yes", "notify"]}
    assert chunks == ([] if mode == "updates" else [values] if mode == "values" else [("values", values)])


def test_what_it_stores_has_no_trace_of_the_guard(bench):
    app = bench.approval()
    app.invoke(INPUT, THREAD)
    app.invoke(answer("yes"), THREAD, delivery_id="x")
    for state in app.get_state_history(THREAD):
        assert set(state.config["configurable"]) == {"thread_id", "checkpoint_ns", "checkpoint_id"}
        assert set(state.metadata) <= {"source", "step", "parents"}


def test_a_decision_that_the_interrupts_schema_refuses_is_not_consumed(bench):
    from langgraph import errors

    if not hasattr(errors, "is_invalid_resume"):
        pytest.skip("this release has no response schemas")

    def node(state: Any) -> Any:
        return {"trail": [str(interrupt("how many?", response_schema=_Count).count)]}

    app = bench.guarded(bench.builder(ask=node))
    app.invoke(INPUT, THREAD)
    with pytest.raises(ValueError, match="count"):
        app.invoke(answer({"count": "many"}), THREAD, delivery_id="x")
    assert len(pending(app)) == 1
    assert app.invoke(answer({"count": 3}), THREAD, delivery_id="x")["trail"] == ["3"]


class _Count(BaseModel):
    count: int


def test_a_saver_that_cannot_be_fenced_is_refused(bench):
    class Foreign(BaseCheckpointSaver[Any]):
        """Nobody knows how it writes."""

    builder: StateGraph[Any] = bench.builder(draft=bench.step("draft"))
    with pytest.raises(UnsupportedSaver, match="Foreign"):
        guard(builder.compile(checkpointer=Foreign()))
    with pytest.raises(UnsupportedSaver, match="part of another graph"):
        guard(builder.compile(checkpointer=False))


def test_a_graph_without_a_saver_is_guarded_on_the_one_that_a_platform_gives_it(bench):
    """By the run's config, or by a copy of the graph."""
    builder = bench.builder(draft=bench.step("draft"), pay=bench.gate("pay"))
    app = guard(builder.compile())
    for ways, thread in ((lambda saver: (app, {CONFIG_KEY_CHECKPOINTER: saver}), "a"), (_copied(app), "b")):
        served, given = ways(bench.saver())
        config = {"configurable": {"thread_id": thread, **given}}
        served.invoke(INPUT, config)
        assert served.invoke(answer("yes"), config)["trail"] == ["draft", "pay=yes"]
        with pytest.raises(AlreadyConsumed):
            served.invoke(answer("no"), config)
    with pytest.raises(UnsupportedSaver, match="no checkpointer"):
        app.invoke(INPUT, THREAD)
    assert bench.fired() == ["draft", "pay=yes"] * 2


def _copied(app: Any) -> Any:
    return lambda saver: (app.copy({"checkpointer": saver}), {})


def test_a_saver_has_one_guarded_copy(bench):
    saver = bench.saver()
    builder = bench.builder(draft=bench.step("draft"))
    first, second = (guard(builder.compile(checkpointer=saver)).checkpointer for _ in range(2))
    assert first is second


def test_this_release_has_every_seam():
    assert list(missing()) == []


@pytest.mark.parametrize("purpose", SEAMS)
def test_a_seam_that_moved_is_named(purpose):
    module, _ = SEAMS[purpose]
    assert list(missing({purpose: (f"{module}.moved", lambda _: True)})) == [f"{purpose} ({module}.moved)"]
    assert list(missing({purpose: (module, lambda found: found.no_such_name)})) == [f"{purpose} ({module})"]


@pytest.mark.parametrize(
    "settings",
    [
        {"wait": -1},
        {"wait": math.nan},
        {"wait": "30"},
        {"on_conflict": "merge"},
        {"store": 5},
        {"typed_dicts": "strict"},
        {"typed_dicts": True},
    ],
    ids=str,
)
def test_a_setting_that_cannot_be_meant_is_refused_at_once(bench, settings):
    with pytest.raises(UnusableSetting, match=next(iter(settings))):
        guard(_stock(bench), **settings)


@pytest.mark.parametrize("value", [10**60, 1j, {"at": object()}], ids=["huge", "complex", "object"])
def test_a_decision_that_cannot_be_stored_is_refused_and_consumes_nothing(bench, value):
    app = bench.approval()
    app.invoke(INPUT, THREAD)
    parked = app.get_state(THREAD)
    for delivery in (None, "d"):
        with pytest.raises(UnstorableValue, match="can't store"):
            app.invoke(answer(value), THREAD, delivery_id=delivery)
    with pytest.raises(UnstorableValue, match="can't store"):
        fork(app, parked.config, value)
    assert app.get_state(THREAD).config == parked.config
    assert app.invoke(answer("yes"), THREAD)["trail"] == ["draft", "pay=yes", "notify"]
    assert bench.fired() == ["draft", "pay=yes", "notify"]


def test_an_answer_of_none_is_empty(bench):
    app = bench.approval()
    app.invoke(INPUT, THREAD)
    with pytest.raises(EmptyAnswer, match="None"):
        app.invoke(answer(None), THREAD)
    assert app.invoke(answer("yes"), THREAD)["trail"] == ["draft", "pay=yes", "notify"]


@pytest.mark.parametrize(
    ("table", "call"), [("claims", answer("no")), ("fences", None), ("refusals", answer("no"))], ids=str
)
def test_a_table_of_the_guards_that_was_dropped_is_named_and_nothing_runs(bench, table, call):
    app = bench.approval()
    app.invoke(INPUT, THREAD)
    app.invoke(answer("yes"), THREAD)
    with sqlite3.connect(bench.database) as connection:
        connection.execute(f"DROP TABLE resumption_{table}")
    with pytest.raises(SchemaMismatch, match=f"resumption_{table}"):
        app.invoke(call, THREAD)
    assert bench.fired() == ["draft", "pay=yes", "notify"]
    with sqlite3.connect(bench.database) as connection:
        for (left,) in connection.execute("SELECT name FROM sqlite_master WHERE name LIKE 'resumption%'").fetchall():
            connection.execute(f"DROP TABLE IF EXISTS {left}")
    again = bench.approval()
    again.invoke(INPUT, THREAD)
    assert again.invoke(answer("no"), THREAD)["trail"][-2:] == ["pay=no", "notify"]


@pytest.mark.parametrize("column", ["finished", "thread"])
def test_a_column_of_the_guards_that_is_gone_is_named_and_nothing_runs(bench, column):
    app = bench.approval()
    app.invoke(INPUT, THREAD)
    with sqlite3.connect(bench.database) as connection:
        connection.execute(f"ALTER TABLE resumption_claims RENAME COLUMN {column} TO other")
    with pytest.raises(SchemaMismatch, match=f"column(?:: | named ){column}"):
        app.invoke(answer("yes"), THREAD)
    assert bench.fired() == ["draft"]


@pytest.mark.parametrize("column", ["channel", "value"])
def test_a_column_of_langgraphs_that_is_gone_is_not_taken_for_the_guards(bench, column):
    app = bench.approval()
    app.invoke(INPUT, THREAD)
    with sqlite3.connect(bench.database) as connection:
        connection.execute(f"ALTER TABLE writes RENAME COLUMN {column} TO other")
    with pytest.raises(sqlite3.OperationalError, match=f"no such column: {column}"):
        app.invoke(answer("yes"), THREAD)
    assert bench.fired() == ["draft"]


def test_a_table_of_somebody_elses_by_the_guards_name_is_refused(bench):
    with sqlite3.connect(bench.database) as connection:
        connection.execute("CREATE TABLE resumption_schema (mine int)")
    with pytest.raises(SchemaMismatch, match="aren't its own"):
        bench.approval()
