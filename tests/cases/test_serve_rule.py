"""The mechanism of the fork violation (LangGraph #6663): a rule that reproduces what was recorded, and predicts."""

from __future__ import annotations

import operator
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from serve_rule import HEAD, PREDICTIONS, Prediction, Thread, deliveries_of

from resumption.harness.receipts import Receipt
from resumption.history.events import Consume, Deliver
from resumption.history.ndjson import decode_history

_TRAINING = ("fork/two-values", "fork/three-values", "fork/retry-or-fork")


@pytest.fixture(params=["memory", "sqlite"])
def saver(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BaseCheckpointSaver[str]]:
    """A saver of each kind."""
    if request.param == "memory":
        yield InMemorySaver()
    else:
        with closing(sqlite3.connect(tmp_path / "rule.sqlite", check_same_thread=False)) as connection:
            yield SqliteSaver(connection)


@pytest.mark.parametrize("probe", _TRAINING)
def test_the_rule_reproduces_every_recorded_invocation(probe: str, receipt: Receipt) -> None:
    history = decode_history(receipt.histories[f"langgraph/graph/sqlite/{probe}/direct#1"].encode())
    received = [
        next((consume.value for consume in history.during(asked.operation, Consume)), None)
        for asked in history.of(Deliver)
    ]
    thread = Thread(("approve",))
    assert [thread.serve(delivery) for delivery in deliveries_of(history)] == received


@pytest.mark.parametrize("prediction", PREDICTIONS, ids=lambda prediction: prediction.name)
def test_the_rule_is_what_predicts(prediction: Prediction) -> None:
    thread = Thread(prediction.gates)
    assert tuple(thread.serve(delivery) for delivery in prediction.deliveries) == prediction.served


@pytest.mark.parametrize("prediction", PREDICTIONS, ids=lambda prediction: prediction.name)
def test_the_prediction_comes_true(prediction: Prediction, saver: BaseCheckpointSaver[str]) -> None:
    assert _served(prediction, saver) == prediction.served


class State(TypedDict):
    trail: Annotated[list[str], operator.add]


def _served(prediction: Prediction, saver: BaseCheckpointSaver[str]) -> tuple[str | None, ...]:
    """Run the protocol on LangGraph, and return what each delivery's gate received first."""
    received: list[str] = []
    graph = _gates(prediction.gates, received).compile(checkpointer=saver)
    thread: RunnableConfig = {"configurable": {"thread_id": "rule"}}
    places: dict[str, tuple[RunnableConfig, str]] = {}
    graph.invoke({"trail": []}, thread)
    served: list[str | None] = []
    for delivery in prediction.deliveries:
        state = graph.get_state(thread)
        for asked in state.interrupts:
            places.setdefault(asked.value, (state.config, asked.id))
        config, identity = (thread, "") if delivery.at == HEAD else places[delivery.at]
        received.clear()
        graph.invoke(Command(resume={identity: delivery.value} if delivery.by_id else delivery.value), config)
        served.append(received[0] if received else None)
    return tuple(served)


def _gates(names: tuple[str, ...], received: list[str]) -> StateGraph[State]:
    builder = StateGraph(State)
    for name in names:
        builder.add_node(name, _gate(name, received))
    for before, after in zip([START, *names[:-1]], names, strict=True):
        builder.add_edge(before, after)
    return builder


def _gate(name: str, received: list[str]) -> Any:
    def node(state: State) -> dict[str, list[str]]:
        received.append(interrupt(name))
        return {"trail": [f"{name}={received[-1]}"]}

    return node
