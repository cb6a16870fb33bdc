"""The plain breadth-first checker: any `Machine`, one state at a time, no dependencies.

It counts as TLC with one worker counts (states generated, distinct states, depth), and stops where TLC stops, so that
every figure of the two can be compared. For state spaces of millions use `explore`, which packs states into machine
words.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from resumption.model.machine import Machine, Predicate, Step

__all__ = ["LIVENESS", "Outcome", "Survey", "Violation", "eventually_completes", "search", "survey"]

S = TypeVar("S", bound=Hashable)

LIVENESS = "EventuallyCompletes"


@dataclass(frozen=True, slots=True)
class Violation(Generic[S]):
    """A broken claim and the shortest way to it: the initial state first, then each action with the state it led to."""

    claim: str
    start: S
    steps: tuple[Step[S], ...]

    @property
    def depth(self) -> int:
        """How many states the counterexample has, the initial one included."""
        return len(self.steps) + 1


@dataclass(frozen=True, slots=True)
class Outcome(Generic[S]):
    """What an exploration found. Where it stopped at a violation, the counts are those at that moment."""

    generated: int
    distinct: int
    depth: int
    violation: Violation[S] | None


def search(machine: Machine[S], claims: Collection[str]) -> Outcome[S]:
    """Explore breadth-first and stop at the first state that breaks one of `claims`.

    `claims` are names of `machine.invariants`; an unknown name is a `KeyError`. Without claims, or when all hold, the
    whole state space is visited. The counterexample is minimal in depth.
    """
    checks = [(claim, machine.invariants[claim]) for claim in claims]
    generated = 0
    depths: dict[S, int] = {}
    parents: dict[S, tuple[S, str]] = {}
    queue: deque[S] = deque()

    def first_broken(state: S) -> str | None:
        return next((claim for claim, holds in checks if not holds(state)), None)

    for state in machine.initial:
        generated += 1
        if state not in depths:
            depths[state] = 1
            queue.append(state)
            if broken := first_broken(state):
                return Outcome(generated, len(depths), 1, Violation(broken, state, ()))
    while queue:
        state = queue.popleft()
        for step in machine.steps(state):
            generated += 1
            if step.state in depths:
                continue
            depths[step.state] = depths[state] + 1
            parents[step.state] = (state, step.action)
            queue.append(step.state)
            if broken := first_broken(step.state):
                violation = _trace(broken, step.state, parents)
                return Outcome(generated, len(depths), violation.depth, violation)
    return Outcome(generated, len(depths), max(depths.values(), default=0), None)


@dataclass(frozen=True, slots=True)
class Survey:
    """The whole state space, and for every claim that some state breaks the depth of the first such state."""

    generated: int
    distinct: int
    depth: int
    broken: Mapping[str, int]


def survey(machine: Machine[S], claims: Mapping[str, Predicate[S]]) -> Survey:
    """Visit every reachable state and note where each of `claims` first breaks; nothing stops the visit."""
    depths = dict.fromkeys(machine.initial, 1)
    generated = len(machine.initial)
    broken: dict[str, int] = {}
    queue = deque(depths)
    while queue:
        state = queue.popleft()
        for claim, holds in claims.items():
            if claim not in broken and not holds(state):
                broken[claim] = depths[state]
        for step in machine.steps(state):
            generated += 1
            if step.state not in depths:
                depths[step.state] = depths[state] + 1
                queue.append(step.state)
    return Survey(generated, len(depths), max(depths.values(), default=0), broken)


def _trace(claim: str, state: S, parents: dict[S, tuple[S, str]]) -> Violation[S]:
    steps: list[Step[S]] = []
    while state in parents:
        parent, action = parents[state]
        steps.append(Step(action, state))
        state = parent
    return Violation(claim, state, tuple(reversed(steps)))


def eventually_completes(machine: Machine[S]) -> Violation[S] | None:
    """Check that every fair behaviour reaches `machine.completed`; return a behaviour that never does, if there is one.

    Fairness is weak fairness of `Next`: a run never idles for ever where it could act. So the claim fails in two cases
    only, among the states reachable without completing: one that has no successor, or a cycle. The behaviour returned
    is a shortest one to such a dead end or, without a dead end, one that ends by closing a cycle.
    """
    return _dead_end(machine) or _cycle(machine)


def _dead_end(machine: Machine[S]) -> Violation[S] | None:
    parents: dict[S, tuple[S, str]] = {}
    seen = {state for state in machine.initial if not machine.completed(state)}
    queue = deque(seen)
    while queue:
        state = queue.popleft()
        ends = True
        for step in machine.steps(state):
            ends = False
            if step.state not in seen and not machine.completed(step.state):
                seen.add(step.state)
                parents[step.state] = (state, step.action)
                queue.append(step.state)
        if ends:
            return _trace(LIVENESS, state, parents)
    return None


def _cycle(machine: Machine[S]) -> Violation[S] | None:
    """Depth-first, with the path kept: a step back onto it closes a cycle."""
    parents: dict[S, tuple[S, str]] = {}
    finished: set[S] = set()
    on_path: set[S] = set()
    for start in machine.initial:
        if machine.completed(start) or start in finished:
            continue
        on_path.add(start)
        stack = [(start, machine.steps(start))]
        while stack:
            state, steps = stack[-1]
            step = next(steps, None)
            if step is None:
                on_path.discard(state)
                finished.add(state)
                stack.pop()
            elif step.state in on_path:
                lasso = _trace(LIVENESS, state, parents)
                return Violation(lasso.claim, lasso.start, (*lasso.steps, step))
            elif not machine.completed(step.state) and step.state not in finished:
                parents[step.state] = (state, step.action)
                on_path.add(step.state)
                stack.append((step.state, machine.steps(step.state)))
    return None
