"""Failures of Strands Agents, one that its users reported in public, in real processes."""

from __future__ import annotations

from pathlib import Path

import pytest
from standalone.programs import interpreter, run

from resumption.contract.properties import Property
from resumption.harness.installations import isolated
from resumption.harness.lab import Lab
from resumption.harness.probes.probe import Probe, probe
from resumption.harness.probes.workloads import SEQUENCE
from resumption.harness.runner import run_suite
from resumption.history.events import Intent, Raise, Return, TaskStart
from resumption.history.history import History
from resumption.history.ndjson import decode_history
from resumption.planes.strands.spec import SESSION, SESSION_PER_MESSAGE
from resumption.worker.faults import Fault, Mode

_NEWEST = "1.62.0"

pytestmark = pytest.mark.slow


def histories(what: Probe) -> dict[str, History]:
    """The histories of a probe on the agent that is saved after each message, by resume form."""
    receipt = run_suite([SESSION_PER_MESSAGE], [what], jobs=2, installation=isolated(SESSION_PER_MESSAGE, _NEWEST))
    read = [decode_history(text.encode()) for text in receipt.histories.values()]
    return {history.header.form: history for history in read}


def crash_and_restore(python: Path, folder: Path) -> list[str]:
    """Which nodes of the graph ran, in a process that was killed and in the one that restored its session."""
    run(python, "strands_agents/graph_join.py", str(folder), "crash", home=folder, killed=True)
    ran: list[str] = run(python, "strands_agents/graph_join.py", str(folder), "resume", home=folder)
    return sorted(ran)


def test_3633_a_join_runs_twice_if_its_other_branch_had_not_started_when_the_session_was_saved(tmp_path: Path) -> None:
    ran = crash_and_restore(interpreter("strands-agents", "1.52.0"), tmp_path)
    assert ran == ["join", "join", "left", "right"]


def test_3633_is_corrected_by_1_62(tmp_path: Path) -> None:
    assert crash_and_restore(isolated(SESSION, _NEWEST).python, tmp_path) == ["join", "left", "right"]


@probe(
    "case/killed-in-a-tool",
    expectation="the tool that was cut off runs",
    source="a crash while a tool runs, and a user who writes again",
    decides=(Property.NO_LOST_WORK, Property.LIVENESS),
    operation=SESSION_PER_MESSAGE.forms[1].operation,
)
def killed_in_a_tool(lab: Lab) -> None:
    """Kill the process where the last tool starts, and recover."""
    with lab.trial(SEQUENCE) as trial:
        first = trial.process(Fault("task:c:start"))
        trial.complete(first, first.start())
        trial.process().recover()


def test_a_new_message_gives_the_tool_that_was_cut_off_a_result_that_it_never_had() -> None:
    """Without a message the tool runs; with one, the conversation is told that it was interrupted, and ends."""
    seen = histories(killed_in_a_tool)
    ended = {form: list(history.of(Return))[-1].trail for form, history in seen.items()}
    assert ended == {"no-prompt": ["a", "approve=yes", "b", "c"], "new-message": ["a", "approve=yes", "b"]}


@probe(
    "case/refused-stray",
    expectation="a decision that is refused changes nothing",
    source="agent._convert_prompt_to_messages, which repairs the conversation before it refuses the prompt",
    decides=(Property.NO_LOST_WORK,),
)
def refused_stray(lab: Lab) -> None:
    """Fail in the task behind the gate, deliver a second decision, which is refused, and recover."""
    with lab.trial(SEQUENCE) as trial:
        first = trial.process(Fault("task:b:start", Mode.RAISE))
        first.start()
        where = first.address()
        first.answer("yes", target="approve", at=where)
        second = trial.successor(first)
        second.answer("no", target="approve", at=where, intent=Intent.STRAY)
        second.recover()


def test_a_decision_that_is_refused_takes_the_pending_tool_with_it() -> None:
    (history,) = histories(refused_stray).values()
    refused = [error.error for error in history.of(Raise)]
    assert refused == ["EventLoopException", "ValueError"]
    last = list(history.of(Return))[-1]
    assert last.trail == ["a", "approve=yes", "c"]
    assert [start.task for start in history.during(last.operation, TaskStart)] == ["c"]
