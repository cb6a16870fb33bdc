"""Invalid state is refused before it is stored; writes become durable in their order."""

from __future__ import annotations

import dataclasses
import logging
import operator
import os
import signal
import sys
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from pydantic import BaseModel, Field

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
