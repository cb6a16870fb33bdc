"""Public cases about what LangGraph and its savers do inside one process, where no crash is needed."""

from __future__ import annotations

import asyncio
import importlib
import logging
import operator
import sqlite3
import sys
import threading
from collections.abc import Sequence
from contextvars import copy_context
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, StateSnapshot, interrupt

_THREAD: RunnableConfig = {"configurable": {"thread_id": "case"}}


class State(TypedDict):
    trail: Annotated[list[str], operator.add]


def _sequence(ran: list[str], *names: str, ask: str) -> StateGraph[State]:
    """Nodes one after the other, each of which notes that it ran; the one called `ask` parks first."""
    builder = StateGraph(State)
    for name in names:
        builder.add_node(name, _node(ran, name, ask))
    for before, after in zip([START, *names[:-1]], names, strict=True):
        builder.add_edge(before, after)
    return builder


def _node(ran: list[str], name: str, ask: str) -> Any:
    def node(state: State) -> dict[str, list[str]]:
        ran.append(name)
        return {"trail": [interrupt(name) if name == ask else name]}

    return node


def test_8458_a_checkpoint_inside_a_subgraph_is_not_where_its_replay_begins() -> None:
    """The whole subgraph runs again, whatever checkpoint before its interrupt is named at the root."""
    ran: list[str] = []
    parent = StateGraph(State)
    parent.add_node("sub", _sequence(ran, "a", "b", "c", "gate", ask="gate").compile())
    parent.add_edge(START, "sub")
    graph = parent.compile(checkpointer=InMemorySaver())
    graph.invoke({"trail": []}, _THREAD)
    before = next(state.config for state in graph.get_state_history(_THREAD) if state.next == ("sub",))
    ran.clear()
    graph.invoke(None, before)
    assert ran == ["a", "b", "c", "gate"]


def test_6626_only_one_of_two_questions_asked_from_two_threads_of_a_node_surfaces() -> None:
    def node(state: State) -> dict[str, list[str]]:
        errors: list[BaseException] = []

        def ask(question: str) -> None:
            try:
                interrupt(question)
            except BaseException as error:
                errors.append(error)

        for question in ("left", "right"):
            thread = threading.Thread(target=copy_context().run, args=(ask, question))
            thread.start()
            thread.join()
        raise errors[0]

    builder = StateGraph(State)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    graph = builder.compile(checkpointer=InMemorySaver())
    graph.invoke({"trail": []}, _THREAD)
    assert [asked.value for asked in graph.get_state(_THREAD).interrupts] == ["left"]


@pytest.mark.parametrize("backend", ["memory", "sqlite"])
def test_1996_writes_that_arrive_before_their_checkpoint_are_found_with_it(backend: str, tmp_path: Path) -> None:
    """langgraphjs #1996: there, the interrupt disappears. Python's savers keep it."""
    saver: BaseCheckpointSaver[str] = InMemorySaver()
    if backend == "sqlite":
        with SqliteSaver.from_conn_string(str(tmp_path / "case.sqlite")) as saver:
            assert _writes_first(saver) == [("task", "__interrupt__", "asked")]
    else:
        assert _writes_first(saver) == [("task", "__interrupt__", "asked")]


def _writes_first(saver: BaseCheckpointSaver[str]) -> list[tuple[str, str, Any]] | None:
    checkpoint = empty_checkpoint()
    root: RunnableConfig = {"configurable": {"thread_id": "case", "checkpoint_ns": ""}}
    at: RunnableConfig = {"configurable": {**root["configurable"], "checkpoint_id": checkpoint["id"]}}
    saver.put_writes(at, [("__interrupt__", "asked")], "task")
    saver.put(root, checkpoint, {"source": "loop", "step": 0, "parents": {}}, {})
    found = saver.get_tuple(at)
    return found.pending_writes if found else None


class _ShallowSaver(InMemorySaver):
    """Keeps no record that a task has parked."""

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        if any(channel != "__interrupt__" for channel, _ in writes):
            super().put_writes(config, writes, task_id, task_path)


def test_134_without_the_parked_task_s_writes_an_answer_by_id_is_ignored_in_silence() -> None:
    """langgraph-redis #134, with a shallow saver of the project's own: the run asks again, and raises nothing."""
    ran: list[str] = []
    graph = _sequence(ran, "a", "gate", "b", ask="gate").compile(checkpointer=_ShallowSaver())
    (asked,) = graph.invoke({"trail": []}, _THREAD)["__interrupt__"]
    assert graph.get_state(_THREAD).interrupts == ()
    ignored = graph.invoke(Command(resume={asked.id: "yes"}), _THREAD)
    assert [again.value for again in ignored["__interrupt__"]] == ["gate"]
    assert graph.invoke(Command(resume="yes"), _THREAD)["trail"] == ["a", "yes", "b"]


def test_5672_a_cancelled_task_under_exit_durability_looks_as_if_it_had_never_started() -> None:
    began = asyncio.Event()

    async def hang(state: State) -> dict[str, list[str]]:
        began.set()
        await asyncio.Event().wait()
        return {"trail": ["never"]}

    async def cancel() -> StateSnapshot:
        builder = StateGraph(State)
        builder.add_node("hang", hang)
        builder.add_edge(START, "hang")
        graph = builder.compile(checkpointer=InMemorySaver())
        run = asyncio.create_task(graph.ainvoke({"trail": []}, _THREAD, durability="exit"))
        await began.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        return await graph.aget_state(_THREAD)

    state = asyncio.run(cancel())
    (task,) = state.tasks
    assert (state.next, task.error, task.result) == (("hang",), None, None)


def test_8136_no_acknowledged_write_of_many_concurrent_ones_is_lost(tmp_path: Path) -> None:
    """Forty threads of a graph on two savers of one file: a run that returned has its state there."""
    threads = 40

    async def one(graph: Any, thread: int) -> int | None:
        try:
            await graph.ainvoke({"trail": []}, {"configurable": {"thread_id": str(thread)}})
        except sqlite3.OperationalError:
            return None  # "database is locked": a loud refusal, which acknowledges nothing
        return thread

    async def race() -> None:
        path = str(tmp_path / "case.sqlite")
        async with AsyncSqliteSaver.from_conn_string(path) as left, AsyncSqliteSaver.from_conn_string(path) as right:
            graphs = [_sequence([], "a", "b", ask="").compile(checkpointer=saver) for saver in (left, right)]
            runs = (one(graphs[thread % 2], thread) for thread in range(threads))
            acknowledged = [thread for thread in await asyncio.gather(*runs) if thread is not None]
            assert acknowledged
            for thread in acknowledged:
                state = await graphs[0].aget_state({"configurable": {"thread_id": str(thread)}})
                assert state.values["trail"] == ["a", "b"]

    asyncio.run(race())


def test_5952_an_answer_to_a_parallel_node_that_has_finished_is_ignored_in_silence() -> None:
    builder = StateGraph(State)
    ran: list[str] = []
    for name in ("left", "right"):
        builder.add_node(name, _node(ran, name, name))
        builder.add_edge(START, name)
    graph = builder.compile(checkpointer=InMemorySaver())
    graph.invoke({"trail": []}, _THREAD)
    asked = {item.value: item.id for item in graph.get_state(_THREAD).interrupts}
    graph.invoke(Command(resume={asked["left"]: "yes"}), _THREAD)
    ran.clear()
    again = graph.invoke(Command(resume={asked["left"]: "no"}), _THREAD)
    assert [item.value for item in again["__interrupt__"]] == ["right"]
    assert graph.invoke(Command(resume={asked["right"]: "yes"}), _THREAD)["trail"] == ["yes", "yes"]


_SHAPES = """
import dataclasses, enum

class Colour(enum.Enum):
    RED = "red"

@dataclasses.dataclass
class Order:
    class Status(enum.Enum):
        OPEN = "open"

    status: Status
"""


class Shapes(TypedDict):
    colour: Any
    order: Any


def test_6718_what_cannot_be_built_again_is_restored_as_raw_data_with_a_line_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An Enum inside a class never comes back; what is at a module's top level does, until its module is gone."""
    module = tmp_path / "case_shapes.py"
    module.write_text(_SHAPES)
    monkeypatch.syspath_prepend(tmp_path)
    shapes = importlib.import_module(module.stem)
    builder = StateGraph(Shapes)
    written = {"colour": shapes.Colour.RED, "order": shapes.Order(shapes.Order.Status.OPEN)}
    builder.add_node("write", lambda state: written)
    builder.add_edge(START, "write")

    def restored() -> dict[str, Any]:
        caplog.clear()
        with caplog.at_level(logging.WARNING), SqliteSaver.from_conn_string(str(tmp_path / "case.sqlite")) as saver:
            return builder.compile(checkpointer=saver).get_state(_THREAD).values

    with SqliteSaver.from_conn_string(str(tmp_path / "case.sqlite")) as saver:
        builder.compile(checkpointer=saver).invoke({}, _THREAD)
    assert restored() == {"colour": shapes.Colour.RED, "order": shapes.Order("open")}
    assert f"Could not reconstruct {module.stem}.Status" in caplog.text
    del sys.modules[module.stem]
    module.unlink()
    importlib.invalidate_caches()
    assert restored() == {"colour": "red", "order": {"status": "open"}}
    assert f"Could not reconstruct {module.stem}.Order" in caplog.text
