"""The examples do what they say, and a drill of each says what is wrong with it as it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from resumption.errors import PostgresMissing
from resumption.harness.drill.decisions import Decisions
from resumption.harness.drill.engine import drill
from resumption.harness.drill.request import Request
from resumption.harness.postgres import ThrowawayPostgres, find_binaries
from resumption.history.events import Json

_ROOT = Path(__file__).parent.parent.parent


def _run(name: str, *arguments: str) -> str:
    command = [sys.executable, f"examples/{name}.py", *arguments]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_payment() -> None:
    assert _run("payment_approval") == "stock LangGraph: charged 2 times\nguarded:         charged 1 time\n"


def test_the_agent() -> None:
    pytest.importorskip("langchain")
    assert _run("agent_with_approval") == "as it is:       refunded 2 times\nbehind @effect: refunded 1 time\n"


def test_the_parallel_approvals() -> None:
    assert _run("parallel_approvals") == "paid: a, b, c\n"


def test_the_recovery_on_a_file() -> None:
    assert "recovering rent\ntransfers made: 1\n" in _run("recovery_worker")


def test_the_recovery_on_postgresql() -> None:
    pytest.importorskip("langgraph.checkpoint.postgres")
    try:
        find_binaries()
    except PostgresMissing as error:
        pytest.skip(str(error))
    with ThrowawayPostgres() as server:
        assert "recovering rent\ntransfers made: 1\n" in _run("recovery_worker", server.dsn)


@pytest.mark.parametrize(
    ("program", "effect", "input_", "gates"),
    [
        (
            "agent_with_approval:agent",
            "refund",
            {"messages": [{"role": "user", "content": "Refund order 7, please."}]},
            ["HumanInTheLoopMiddleware.after_model"],
        ),
        (
            "parallel_approvals:program",
            "pay",
            {"batches": [["a", "b"], ["c"]]},
            ["approve", "approve#2", "approve"],
        ),
    ],
)
def test_a_drill_finds_the_double_effect_and_nothing_once_guarded(
    program: str, effect: str, input_: Json, gates: list[str]
) -> None:
    if program.startswith("agent"):
        pytest.importorskip("langchain")
    module = program.partition(":")[0]
    request = Request(
        target=f"examples.{program}",
        effects=(f"examples.{module}:{effect}",),
        input=input_,
        decisions=Decisions(everywhere="yes"),
        folder=str(_ROOT),
    )
    stock, guarded = drill(request, jobs=2, ways=(False, True), only=_around_the_effect)
    assert [answered.gate.name for answered in stock.twin.answered] == gates
    assert any(found.subject.startswith(effect) for outcome in stock.outcomes for found in outcome.found)
    assert [found for outcome in guarded.outcomes for found in outcome.found] == []
    assert [outcome.problem for outcome in guarded.outcomes if outcome.problem] == []


def _around_the_effect(protocol: Any) -> bool:
    return protocol.fault is None or protocol.at.startswith("effect:")
