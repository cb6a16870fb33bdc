"""Executors killed at every boundary of a statement and of a node, on every saver: the winner, and who recovers it."""

from __future__ import annotations

import itertools
import signal
import sys
from collections.abc import Callable
from enum import StrEnum
from typing import Any

import pytest
from langgraph.types import interrupt

from resumption.guard.effects import effect

from .databases import Database
from .programs import THREAD, Bench, answer
from .soak import Fault, Harm, opened
from .test_crashes import die, in_child

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs fork and open file description locks")

INPUT: Any = {"trail": []}


class Role(StrEnum):
    """Whom the second or third process in a thread's life is."""

    WINNER = "winner"
    """It answers, and dies."""
    RECOVERER = "recoverer"
    """It goes on with a decision whose executor died in the gate, and dies too."""


def payload(role: Role) -> Any:
    """What the one that dies brings."""
    return answer("yes") if role is Role.WINNER else None


# Statements -----------------------------------------------------------------------------------------------------------

EVERY = 1
SOME = 13
"""Of the boundaries of statements, in the tests that are run each time."""


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("step", [pytest.param(EVERY, marks=pytest.mark.slow), SOME], ids=["every", "some"])
def test_an_executor_may_die_at_any_boundary_of_a_statement(quick, database, role, step, record_property: Any):
    """Its saver's, its lease's and its ledger's: before what is sent, and once the server has answered."""
    passed = 0
    for number in itertools.count(1, step):
        thread = f"{role} {number}"
        config = {"configurable": {"thread_id": thread}}
        _prepare(quick, database, role, thread)

        def execute(thread: str = thread, config: Any = config, number: int = number) -> None:
            with opened(quick, database, thread, Fault(Harm.KILL, number)) as program:
                program.call(payload(role), config, durability="sync")

        ended = in_child(execute)
        _finishes(quick, database, thread)
        if ended != -signal.SIGKILL:
            assert ended == 0
            break
        passed = number
    record_property("boundaries", passed)
    assert passed > 20


def _prepare(bench: Bench, database: Database, role: Role, thread: str) -> None:
    config = {"configurable": {"thread_id": thread}}
    with opened(bench, database, thread) as program:
        program.call(INPUT, config)
    if role is Role.RECOVERER:

        def win() -> None:
            with opened(bench, database, thread, Fault(Harm.KILL, "before pay")) as program:
                program.call(answer("yes"), config)

        assert in_child(win) == -signal.SIGKILL


def _finishes(bench: Bench, database: Database, thread: str) -> None:
    config = {"configurable": {"thread_id": thread}}
    with opened(bench, database, thread) as program:
        unclaimed = bool(program.state(config).interrupts)
        outcome = program.call(answer("yes") if unclaimed else None, config)
        assert outcome == {"trail": ["draft", "pay=yes", "notify"]}, thread
        assert program.call(answer("yes"), config) == outcome, thread
    fired = [what for who, _, what in (line.rpartition(" ") for line in bench.fired()) if who == thread]
    assert sorted(fired) == ["notify", "pay=yes"], thread


# Nodes ----------------------------------------------------------------------------------------------------------------

NODES = ("draft", "pay", "notify", "archive")
BOUNDARIES = [f"{edge} {node}" for node in NODES[1:] for edge in ("before", "after")]


def stepwise(bench: Bench, database: Database, at: str) -> Any:
    """Four nodes, the second of them a gate, each with an effect. The process dies at that boundary of a node."""
    ledger = database.ledger()

    def node(name: str) -> Callable[[Any], Any]:
        fire = effect(ledger, key=name)(lambda: bench.fire(name))

        def body(state: Any) -> Any:
            decision = interrupt("sure?") if name == "pay" else "done"
            if at == f"before {name}":
                die()
            fire()
            if at == f"after {name}":
                die()
            return {"trail": [f"{name}={decision}"]}

        return body

    return bench.builder(**{name: node(name) for name in NODES})


@pytest.mark.slow
@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("at", BOUNDARIES)
def test_an_executor_may_die_at_any_boundary_of_a_node(quick, database, at, role, durability):
    def execute(what: Any, at: str = "", **options: Any) -> None:
        with database.opened(stepwise(quick, database, at)) as program:
            program.call(what, THREAD, **options)

    execute(INPUT)
    if role is Role.RECOVERER:
        assert in_child(lambda: execute(answer("yes"), "before pay")) == -signal.SIGKILL
    assert in_child(lambda: execute(payload(role), at, durability=durability)) == -signal.SIGKILL
    with database.opened(stepwise(quick, database, "")) as program:
        program.call(None)
        state = program.state()
    assert (state.values["trail"], state.next) == (["draft=done", "pay=yes", "notify=done", "archive=done"], ())
    assert quick.fired() == list(NODES)
