"""Invalid state is refused before it is stored; writes become durable in their order."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import operator
import os
import signal
import sys
from collections import Counter
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.errors import InvalidUpdateError
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from pydantic import BaseModel, Field, ValidationError

from resumption.guard.langgraph import validity
from resumption.langgraph import InvalidCheckpoint, guard

from .programs import THREAD, Bench
from .test_crashes import in_child


class Model(BaseModel):
    xs: Annotated[list[str], operator.add] = []
    count: int = Field(default=0, ge=0)


@dataclasses.dataclass
class Data:
    xs: Annotated[list[str], operator.add] = dataclasses.field(default_factory=list)
    count: int = 0


class Hints(TypedDict, total=False):
    xs: Annotated[list[str], operator.add]
    count: int


def program(bench: Bench, schema: Any, write: Any, *, terminal: bool) -> Any:
    builder: StateGraph[Any] = StateGraph(schema)
    builder.add_node("first", lambda state: {"xs": ["a"]})
    builder.add_node("bad", lambda state: write)
    builder.add_node("last", lambda state: bench.fire("last"))
    for before, after in ((START, "first"), ("first", "bad"), ("bad", END if terminal else "last")):
        builder.add_edge(before, after)
    return guard(builder.compile(checkpointer=bench.saver()))


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("write", [{"xs": [None]}, {"xs": None}, {"count": "many"}])
@pytest.mark.parametrize("schema", [Model, Data])
def test_an_invalid_write_is_refused_and_the_thread_stays_usable(bench, schema, write, terminal):
    """LangGraph #6491."""
    app = program(bench, schema, write, terminal=terminal)
    with pytest.raises(InvalidCheckpoint, match="'bad'"):
        app.invoke({"xs": []}, THREAD)
    assert app.get_state(THREAD).values["xs"] == ["a"]
    assert app.get_state(THREAD).next == ("bad",)
    assert bench.fired() == []
    with pytest.raises(InvalidCheckpoint):
        app.invoke(None, THREAD)


@pytest.mark.parametrize("write", [{"xs": [None]}, {"xs": None}, {"count": "many"}])
@pytest.mark.parametrize("schema", [Model, Data])
def test_an_invalid_write_is_refused_before_a_conditional_edge_reads_it(bench, schema, write):
    """The edge fails on it, or the reducer does, and LangGraph stores a failed task's writes along with its error."""
    builder: StateGraph[Any] = StateGraph(schema)
    builder.add_node("bad", lambda state: write)
    builder.add_node("last", lambda state: bench.fire("last"))
    builder.add_edge(START, "bad")
    builder.add_conditional_edges("bad", lambda state: "last", ["last"])
    app = guard(builder.compile(checkpointer=bench.saver()))
    for given in ({"xs": ["a"]}, None):
        with pytest.raises(InvalidCheckpoint, match="'bad'"):
            app.invoke(given, THREAD)
        assert app.get_state(THREAD).values["xs"] == ["a"]
        assert app.get_state(THREAD).next == ("bad",)
    assert bench.fired() == []


def test_a_constraint_of_a_model_is_part_of_its_schema(bench):
    with pytest.raises(InvalidCheckpoint, match="greater than or equal to 0"):
        program(bench, Model, {"count": -1}, terminal=True).invoke({"xs": []}, THREAD)


def test_a_valid_write_is_stored_as_it_is(bench):
    app = program(bench, Model, {"xs": ["b"], "count": 2}, terminal=False)
    assert app.invoke({"xs": []}, THREAD) == {"xs": ["a", "b"], "count": 2}


def test_an_annotation_that_nobody_enforces_is_warned_of_once(bench, caplog):
    app = program(bench, Hints, {"xs": [None]}, terminal=True)
    with caplog.at_level(logging.WARNING, "resumption"):
        app.invoke({"xs": []}, THREAD)
        app.invoke({"xs": []}, THREAD)
    assert len([record for record in caplog.records if "annotation" in record.message]) == 1


@pytest.mark.parametrize("payload", [{"count": "many"}, {"count": -1}])
def test_a_node_is_sent_nothing_that_its_input_schema_excludes(bench, payload):
    """LangGraph stores it, and then fails whenever it runs the node."""
    builder: StateGraph[Any] = StateGraph(Model)
    builder.add_node("plan", lambda state: {"xs": ["planned"]})
    builder.add_node("work", lambda state: bench.fire("work"))
    builder.add_edge(START, "plan")
    builder.add_conditional_edges("plan", lambda state: [Send("work", {"count": 1}), Send("work", payload)], ["work"])
    app = guard(builder.compile(checkpointer=bench.saver()))
    with pytest.raises(InvalidCheckpoint, match="'plan' sends 'work'"):
        app.invoke({"xs": []}, THREAD)
    assert bench.fired() == []
    assert app.get_state(THREAD).next == ("plan",)
    app.update_state(THREAD, {"xs": ["by hand"]}, as_node="work")
    assert app.get_state(THREAD).values["xs"] == ["by hand"]


class SlowSaver(SqliteSaver):
    """Stores what a task wrote no sooner than told."""

    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        """Wait, as a busy database does."""
        if any(channel == "__return__" for channel, _ in writes):
            signal.sigtimedwait([], 0.2)
        super().put_writes(config, writes, task_id, task_path)


@pytest.mark.skipif(sys.platform != "linux", reason="needs fork")
def test_a_task_starts_when_the_result_of_the_one_before_is_durable(bench):
    """LangGraph #8039: the first task ran again after a crash in the second."""

    def build(*, die: bool) -> Any:
        @task
        def one() -> str:
            bench.fire("one")
            return "one"

        @task
        def two() -> str:
            if die:
                os.kill(os.getpid(), signal.SIGKILL)
            bench.fire("two")
            return "two"

        @entrypoint(checkpointer=SlowSaver(bench.saver().conn))
        def both(_: Any) -> list[str]:
            return [one().result(), two().result()]

        return guard(both)

    assert in_child(lambda: build(die=True).invoke(1, THREAD)) == -signal.SIGKILL
    assert build(die=False).invoke(None, THREAD) == ["one", "two"]
    assert bench.fired() == ["one", "two"]


class Small(BaseModel):
    """Holds no more than two things, and a sum of at most ten."""

    xs: Annotated[list[str], Field(max_length=2), operator.add] = []
    total: Annotated[int, Field(le=10), operator.add] = 0


def fan(bench: Bench, *writes: Any, schema: Any = Small) -> Any:
    """As many nodes at once as there are writes, and one behind them."""
    builder: StateGraph[Any] = StateGraph(schema)
    builder.add_node("last", lambda state: bench.fire("last"))
    for number, write in enumerate(writes):

        def node(state: Any, number: int = number, write: Any = write) -> Any:
            bench.fire(f"n{number}")
            return write

        builder.add_node(f"n{number}", node)
        builder.add_edge(START, f"n{number}")
        builder.add_edge(f"n{number}", "last")
    return guard(builder.compile(checkpointer=bench.saver()))


@pytest.mark.parametrize("write", [{"xs": ["x"]}, {"total": 4}])
def test_what_nodes_of_one_superstep_make_together_is_refused_before_a_checkpoint_has_it(bench, write):
    """Each of three is fine, and any two are."""
    app = fan(bench, write, write, write)
    with pytest.raises(InvalidCheckpoint, match="and others of its superstep"):
        app.invoke({"xs": []}, THREAD)
    stored = app.checkpointer.get_tuple(THREAD).checkpoint["channel_values"]
    assert (stored.get("xs", []), stored.get("total", 0)) == ([], 0)
    with pytest.raises(InvalidCheckpoint):
        app.invoke(None, THREAD)
    assert "last" not in bench.fired()


def test_a_superstep_that_was_refused_is_finished_by_a_corrected_node(bench):
    """The others' results are kept: they don't run again."""
    app = fan(bench, {"total": 4}, {"total": 4}, {"total": 4})
    with pytest.raises(InvalidCheckpoint):
        app.invoke({"xs": []}, THREAD)
    (again,) = app.get_state(THREAD).next
    corrected = fan(bench, *({"total": 1} if f"n{number}" == again else {"total": 4} for number in range(3)))
    assert corrected.invoke(None, THREAD)["total"] == 9
    fired = Counter(bench.fired())
    assert fired == {"n0": 1, "n1": 1, "n2": 1, "last": 1, again: 2}


def test_what_is_valid_when_all_have_finished_is_stored_whatever_it_was_in_between(bench):
    app = fan(bench, {"total": 6}, {"total": 6}, {"total": -6})
    assert app.invoke({"xs": []}, THREAD)["total"] == 6


def test_an_asynchronous_superstep_is_checked_too(bench):
    builder: StateGraph[Any] = StateGraph(Small)

    async def node(state: Any) -> Any:
        return {"total": 6}

    for name in ("a", "b"):
        builder.add_node(name, node)
        builder.add_edge(START, name)
    app = guard(builder.compile(checkpointer=InMemorySaver()))
    with pytest.raises(InvalidCheckpoint, match="and others of its superstep"):
        asyncio.run(app.ainvoke({"xs": []}, THREAD))


def test_nodes_that_are_sent_the_same_are_checked_together(bench):
    builder: StateGraph[Any] = StateGraph(Small)
    builder.add_node("work", lambda state: {"total": 4})
    builder.add_conditional_edges(START, lambda state: [Send("work", {"xs": []})] * 3, ["work"])
    app = guard(builder.compile(checkpointer=bench.saver()))
    with pytest.raises(InvalidCheckpoint, match="'work' and others"):
        app.invoke({"xs": []}, THREAD)


def test_two_writes_to_a_channel_that_takes_one_are_langgraphs_to_refuse(bench):
    app = fan(bench, {"count": 1}, {"count": 2}, schema=Model)
    with pytest.raises(InvalidUpdateError):
        app.invoke({"xs": []}, THREAD)


def test_without_the_check_of_a_superstep_its_state_is_stored(bench, monkeypatch):
    """The control: LangGraph stores it, and from then on fails whenever it wants to hand it to a node."""
    monkeypatch.setattr(validity, "superstep", lambda: None)
    app = fan(bench, {"total": 6}, {"total": 6})
    for payload in ({"xs": []}, None):
        with pytest.raises(ValidationError):
            app.invoke(payload, THREAD)
    assert app.checkpointer.get_tuple(THREAD).checkpoint["channel_values"]["total"] == 12
