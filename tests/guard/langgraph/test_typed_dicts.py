"""A `TypedDict` is warned of, unless the program wants it refused: then it is held to like a model."""

from __future__ import annotations

import copy
import logging
import operator
from typing import Annotated, Any, NotRequired

import pytest
from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, TodoListMiddleware
from langchain.tools import ToolRuntime, tool
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send
from pydantic import BaseModel
from typing_extensions import ReadOnly, TypedDict

from resumption.langgraph import InvalidCheckpoint, guard

from .programs import THREAD, Bench


class Hints(TypedDict):
    xs: Annotated[list[str], operator.add]
    total: Annotated[NotRequired[int], operator.add]
    note: NotRequired[Annotated[str, "free text"]]
    owner: ReadOnly[str]
    never: int


class Partial(TypedDict, total=False):
    xs: Annotated[list[str], operator.add]
    total: Annotated[int, operator.add]
    note: str
    owner: str


WRITES = [{"xs": [None]}, {"xs": None}, {"total": "many"}, {"note": 5}, {"owner": ["me"]}]


def program(bench: Bench, schema: Any, write: Any, **settings: Any) -> Any:
    builder: StateGraph[Any] = StateGraph(schema)
    builder.add_node("first", lambda state: {"xs": ["a"]})
    builder.add_node("bad", lambda state: write)
    builder.add_node("last", lambda state: bench.fire("last"))
    builder.add_edge(START, "first")
    builder.add_edge("first", "bad")
    builder.add_conditional_edges("bad", lambda state: "last", ["last"])
    return guard(builder.compile(checkpointer=bench.saver()), **settings)


@pytest.mark.parametrize("write", WRITES, ids=str)
@pytest.mark.parametrize("schema", [Hints, Partial])
def test_what_a_typed_dict_excludes_is_refused_if_the_program_wants_it(bench, schema, write):
    app = program(bench, schema, write, typed_dicts="refuse")
    for given in ({"xs": []}, None):
        with pytest.raises(InvalidCheckpoint, match=f"'bad' leaves channel '{next(iter(write))}'"):
            app.invoke(given, THREAD)
        assert app.get_state(THREAD).values == {"xs": ["a"], "total": 0}
        assert app.get_state(THREAD).next == ("bad",)
    assert bench.fired() == []


@pytest.mark.parametrize("schema", [Hints, Partial])
def test_what_it_allows_is_stored_though_some_of_it_never_has_a_value(bench, schema):
    app = program(bench, schema, {"xs": ["b"], "total": 2, "note": "fine"}, typed_dicts="refuse")
    assert app.invoke({"xs": []}, THREAD) == {"xs": ["a", "b"], "total": 2, "note": "fine"}


@pytest.mark.parametrize("settings", [{}, {"typed_dicts": "warn"}], ids=str)
def test_else_it_is_stored_and_warned_of(bench, caplog, settings):
    app = program(bench, Hints, {"note": 5}, **settings)
    with caplog.at_level(logging.WARNING, "resumption"):
        assert app.invoke({"xs": []}, THREAD)["note"] == 5
    assert [record.args[:2] for record in caplog.records] == [("bad", "note")]


def test_guarding_it_again_changes_what_becomes_of_it(bench):
    lenient = program(bench, Hints, {"note": 5}, wait=1.0)
    strict = guard(lenient, typed_dicts="refuse")
    with pytest.raises(InvalidCheckpoint, match="'bad' leaves channel 'note'"):
        strict.invoke({"xs": []}, THREAD)
    assert guard(strict) is guard(strict, typed_dicts="refuse") is strict
    with pytest.raises(InvalidCheckpoint):
        guard(strict, wait=2.0).invoke(None, THREAD)
    assert guard(strict, typed_dicts="warn").invoke(None, THREAD)["note"] == 5


def test_a_model_says_more_of_a_channel_than_a_typed_dict(bench):
    class Asked(BaseModel):
        note: str

    class Kept(TypedDict):
        note: Any

    builder: StateGraph[Any] = StateGraph(Kept, input_schema=Asked)
    builder.add_node("bad", lambda state: {"note": 5})
    builder.add_edge(START, "bad")
    app = guard(builder.compile(checkpointer=bench.saver()), typed_dicts="refuse")
    with pytest.raises(InvalidCheckpoint, match="'bad' leaves channel 'note'"):
        app.invoke({"note": "fine"}, THREAD)


def test_a_subgraph_is_held_to_its_own_typed_dict(bench):
    class Inner(TypedDict):
        xs: Annotated[list[str], operator.add]
        count: int

    inner: StateGraph[Any] = StateGraph(Inner)
    inner.add_node("bad", lambda state: {"count": "many"})
    inner.add_edge(START, "bad")
    outer: StateGraph[Any] = StateGraph(Partial)
    outer.add_node("inner", inner.compile())
    outer.add_edge(START, "inner")
    app = guard(outer.compile(checkpointer=bench.saver()), typed_dicts="refuse")
    with pytest.raises(InvalidCheckpoint, match="'bad' leaves channel 'count'"):
        app.invoke({"xs": []}, THREAD)


def test_a_node_may_be_sent_a_part_of_it_or_something_else(bench):
    def work(state: Any) -> Any:
        return {"xs": [str(state["job"])]}

    builder: StateGraph[Any] = StateGraph(Hints)
    builder.add_node("work", work)
    builder.add_conditional_edges(START, lambda state: [Send("work", {"job": 1}), Send("work", {"job": 2, "xs": 0})])
    builder.add_edge("work", END)
    app = guard(builder.compile(checkpointer=bench.saver()), typed_dicts="refuse")
    assert app.invoke({"xs": []}, THREAD) == {"xs": ["1", "2"], "total": 0}


class Notes(AgentState[Any]):
    notes: Annotated[list[str], operator.add]


class Script(BaseChatModel):
    """Calls its tool once for each thing that is said to it, and then says that it is done."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        """Know the tool already."""
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        answered = isinstance(messages[-1], ToolMessage)
        calls = [] if answered else [ToolCall(name="note", args={"text": "a"}, id=f"call-{len(messages)}")]
        said = AIMessage("done" if answered else "", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=said)])


def agent(bench: Bench, noted: Any, middleware: Any = (), **settings: Any) -> Any:
    @tool
    def note(text: str, runtime: ToolRuntime) -> Command[Any]:
        """Note a text."""
        done = ToolMessage("noted", name="note", tool_call_id=runtime.tool_call_id)
        return Command(update={"notes": noted, "messages": [done]})

    made = create_agent(Script(), [note], state_schema=Notes, middleware=middleware, checkpointer=bench.saver())
    return guard(made, **settings)


SAID = [
    [{"role": "user", "content": "note a"}],
    [("user", "note a")],
    "note a",
    {"role": "user", "content": "note a"},
    [HumanMessage("note a")],
]


@pytest.mark.parametrize("said", SAID, ids=str)
def test_an_agent_that_keeps_to_its_state_is_refused_nothing_however_messages_are_written(bench, said):
    """The channel holds messages: the reducer makes them of what it is given, before the state is looked at."""
    middleware = [HumanInTheLoopMiddleware({"note": True}), TodoListMiddleware()]
    app = agent(bench, ["a"], middleware, typed_dicts="refuse")
    for turn in (1, 2):
        assert "__interrupt__" in app.invoke({"messages": copy.deepcopy(said)}, THREAD)
        state = app.invoke(Command(resume={"decisions": [{"type": "approve"}]}), THREAD)
        assert state["notes"] == ["a"] * turn
        assert [type(message).__name__ for message in state["messages"][-4:]] == [
            "HumanMessage",
            "AIMessage",
            "ToolMessage",
            "AIMessage",
        ]


@pytest.mark.parametrize("noted", [[None], None, "text and no list"], ids=str)
def test_an_agents_tool_that_breaks_its_state_is_refused(bench, noted):
    app = agent(bench, noted, typed_dicts="refuse")
    for given in ({"messages": "note a", "notes": []}, None):
        with pytest.raises(InvalidCheckpoint, match="'tools' leaves channel 'notes'"):
            app.invoke(given, THREAD)
        assert app.get_state(THREAD).values["notes"] == []
        assert app.get_state(THREAD).next == ("tools",)


class Uncoerced(TypedDict):
    messages: Annotated[list[AnyMessage], operator.add]


@pytest.mark.parametrize("strict", [True, False])
def test_a_schema_that_fails_on_a_value_excludes_it(bench, caplog, strict):
    """The union of messages is told apart by a function, which takes no text."""
    builder: StateGraph[Any] = StateGraph(Uncoerced)
    builder.add_node("say", lambda state: {"messages": ["done"]})
    builder.add_edge(START, "say")
    app = guard(builder.compile(checkpointer=bench.saver()), typed_dicts="refuse" if strict else "warn")
    asked = {"messages": [HumanMessage("go on")]}
    if strict:
        with pytest.raises(InvalidCheckpoint, match=r"'messages'.*its validation raised TypeError"):
            app.invoke(asked, THREAD)
        assert app.get_state(THREAD).next == ("say",)
    else:
        with caplog.at_level(logging.WARNING, "resumption"):
            assert app.invoke(asked, THREAD)["messages"][1:] == ["done"]
        assert [record.args[:2] for record in caplog.records] == [("say", "messages")]


def test_by_default_an_agents_state_is_only_warned_of(bench, caplog):
    with caplog.at_level(logging.WARNING, "resumption"):
        assert agent(bench, [None]).invoke({"messages": "note a"}, THREAD)["notes"] == [None]
    assert [record.args[:2] for record in caplog.records] == [("tools", "notes")]
