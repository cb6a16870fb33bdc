"""All states that the plane can reach, breadth-first, each compared with the model's."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from proof.lockstep.driven import Driven, Implementation
from resumption.model.machine import Action
from resumption.model.semantics import (
    PROPERTIES,
    Bounds,
    State,
    initial_state,
    reference_actions,
    type_ok,
)
from resumption.planes.reference.rules import REFERENCE, Rules

__all__ = ["Discrepancy", "Walk", "walk"]


class Discrepancy(AssertionError):
    """The plane isn't where the model is, or an invariant doesn't hold. The message tells the way there."""


@dataclass(frozen=True, slots=True)
class Walk:
    """What a walk has seen."""

    implementation_states: int
    model_states: int
    transitions: int
    refusals: int
    """Actions that the model forbids in a state: asked for, and found to change nothing."""


@dataclass(frozen=True, slots=True)
class _Action:
    """Something that the plane is asked for, and the state that the model leads to; None where it forbids this."""

    name: str
    leads_to: State | None


def walk(bounds: Bounds, folder: Path, rules: Rules = REFERENCE) -> Walk:
    """Walk the plane through every state. Raises `Discrepancy` at the first one that isn't the model's."""
    driven = Driven(bounds, folder, rules)
    first = driven.started()
    way: tuple[str, ...] = ("start",)
    _compare(driven, first, initial_state(bounds), way)
    queue = deque([(first, initial_state(bounds), way)])
    seen, models = {driven.key(first)}, {initial_state(bounds)}
    transitions = refusals = 0
    while queue:
        state, model, way = queue.popleft()
        for action in _actions(bounds, model):
            after = _take(driven, state, action.name)
            path = (*way, action.name)
            _compare(driven, after, action.leads_to or model, path)
            if action.leads_to is None:
                refusals += 1
                continue
            transitions += 1
            models.add(action.leads_to)
            if (key := driven.key(after)) not in seen:
                seen.add(key)
                queue.append((after, action.leads_to, path))
    return Walk(len(seen), len(models), transitions, refusals)


def _actions(bounds: Bounds, state: State) -> Iterator[_Action]:
    """Everything that the plane is asked for in a state of the model: what this allows, and what it forbids."""
    steps: dict[str, Action[State]] = reference_actions(bounds)
    allowed = {name: list(step(state)) for name, step in steps.items()}
    going_on = [*allowed["ExecTask"], *allowed["EmitInterrupt"]]
    yield _Action("go on", going_on[0] if going_on else None)
    spent = len(state.fork_values) >= bounds.resumes - 1
    for value in range(1, bounds.values + 1):
        consumed, forked = allowed["Consume"], allowed["ForkResume"]
        yield _Action(f"answer {value}", consumed[value - 1] if consumed else None)
        # The plane has no budget, and it lets a question be forked that nobody has answered; the model has one, and
        # doesn't: those two are out of its sight.
        if forked or (not spent and not state.waiting):
            yield _Action(f"fork {value}", forked[value - 1] if forked else None)
    if allowed["CrashRecover"]:
        yield _Action("crash", allowed["CrashRecover"][0])
    for value in range(1, bounds.values + 1):
        if allowed["ExtraResume"]:
            yield _Action(f"extra {value}", allowed["ExtraResume"][0])


def _take(driven: Driven, state: Implementation, action: str) -> Implementation:
    match action.split():
        case ["go", "on"]:
            return driven.go_on(state)
        case ["crash"]:
            return driven.crash(state)
        case ["answer", value]:
            return driven.consume(state, int(value))
        case ["fork", value]:
            return driven.fork(state, int(value))
        case ["extra", value]:
            return driven.extra(state, int(value))
        case _:
            raise ValueError(f"no action {action!r}")


def _compare(driven: Driven, state: Implementation, model: State, way: tuple[str, ...]) -> None:
    found = driven.observed(state)
    if found != model:
        raise Discrepancy(f"after {', '.join(way)} the plane is in {found}, and the model in {model}")
    claims = {**PROPERTIES, "TypeOK": type_ok}
    broken = [name for name, holds in claims.items() if not holds(driven.bounds, found)]
    if broken:
        raise Discrepancy(f"after {', '.join(way)} {', '.join(broken)} doesn't hold in {found}")
