"""A counterexample told as a numbered story: what happened, in order, and what the last event contradicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from resumption.model.search import LIVENESS, Violation
from resumption.model.semantics import WITNESS_AFTER_GATE, State
from resumption.model.variants import STATE_REBUILT, ForkState

__all__ = ["tell"]

CONTRADICTIONS: Mapping[str, str] = {
    "EO": "an effect has fired twice on one branch (effect exactly-once)",
    "PC": "a task at or before the durable frontier has executed again (prefix continuation)",
    "FD": "a fork did not have the outcome of its own value (fork determinism)",
    "CV": "an invalid record is in the durable log (checkpoint validity)",
    "CO": "one decision took effect twice (consume-once)",
    "CO-c": "two resumes consumed one interrupt (consume-once, count)",
    "CO-e": "one decision took effect twice (consume-once, effects)",
    "RD": "two recoveries from the same durable log decided differently (recovery determinism)",
    "TypeOK": "a variable is outside of its type",
    LIVENESS: "the run is not completed and never will be",
    STATE_REBUILT: "the process executes without knowing what the durable log says",
    WITNESS_AFTER_GATE: "the answered gate was honoured, and what came before it has happened twice",
    "IndInv": "an action leads out of the invariant",
    "NoResponder": "a responder that sees the intent satisfies both",
}


def tell(violation: Violation[Any]) -> list[str]:
    """The events of the counterexample as sentences, and the contradiction as the last one."""
    lines = [f"A run starts: {_standing(violation.start)}."]
    before = violation.start
    for step in violation.steps:
        lines.append(_sentence(before, step.action, step.state))
        before = step.state
    numbered = [f"{number}. {line}" for number, line in enumerate(lines, start=1)]
    return [*numbered, f"Contradiction: {CONTRADICTIONS[violation.claim]}."]


def _standing(state: object) -> str:
    if isinstance(state, ForkState):
        return "its interrupt waits for an answer"
    if not isinstance(state, State):
        return str(state)
    if state.durable == 0:
        return f"task {state.pc} of {len(state.effects)} is next, nothing is durable"
    return f"task {state.pc} is next, the durable frontier is task {state.durable}"


def _sentence(before: Any, action: str, after: Any) -> str:
    if isinstance(after, ForkState):
        return _of_fork(action, after)
    if not isinstance(after, State):
        return f"{action}: {after}."
    return TELLERS[action](before, after)


def _of_fork(action: str, after: ForkState) -> str:
    if action == "Resume":
        return f"The interrupt is answered with value {after.recorded}, which is recorded."
    return f"The same interrupt is resumed with value {after.forked}; the outcome is that of value {after.outcome}."


def _executed(before: State, after: State) -> str:
    task = before.pc
    if after.effects == before.effects:
        return f"Task {task} runs again and is served from its record; no effect fires."
    again = " again" if before.effects[task - 1] else ""
    written = "" if after.log[-1].valid else " What it wrote breaks the state schema, and is stored."
    return f"Task {task} runs, its effect fires{again} ({_times(after.effects[task - 1])}), and it is durable.{written}"


def _emitted(before: State, _: State) -> str:
    return f"Task {before.pc} is the gate: it parks and asks for a decision."


def _consumed(before: State, after: State) -> str:
    gate = after.pc - 1
    if after.effects == before.effects:
        return f"The gate, task {gate}, is answered again; the recorded decision is served and nothing fires."
    times = _times(after.effects[gate - 1])
    return f"A resume answers with value {after.consumed}: task {gate} fires its effect ({times}) and is durable."


def _forked(_: State, after: State) -> str:
    value, outcome = after.fork_values[-1], after.fork_outcomes[-1]
    return f"A fork resumes the consumed interrupt with value {value}; its outcome is that of value {outcome}."


def _recovered(before: State, after: State) -> str:
    where = f"the durable frontier is task {before.durable}"
    line = f"The process crashes and another one recovers: {where}, it continues at task {after.pc}."
    if before.waiting and not after.waiting and after.pc == before.pc:
        return f"{line} The interrupt was only in the dead process: it is gone, and nobody asks again."
    fired = [task for task, count in enumerate(after.effects, start=1) if count > before.effects[task - 1]]
    return line + "".join(f" The effect of task {task} fires again." for task in fired)


def _resumed_again(before: State, after: State) -> str:
    fired = after.effects != before.effects
    told = "the gate's effect fires again" if fired else "nothing fires"
    return f"A resume without fork intent reaches the completed run: {told}."


def _raced(before: State, after: State) -> str:
    told = "and its effect fires again" if after.effects != before.effects else "and its effect is idempotent"
    return f"A second resume, with value {after.fork_values[-1]}, consumes the same interrupt {told}."


TELLERS: Mapping[str, Callable[[State, State], str]] = {
    "ExecTask": _executed,
    "EmitInterrupt": _emitted,
    "Consume": _consumed,
    "ForkResume": _forked,
    "CrashRecover": _recovered,
    "ExtraResume": _resumed_again,
    "RaceConsume": _raced,
}


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")
