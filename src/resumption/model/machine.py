"""What every specification of this package is, whatever it models: initial states, named actions, invariants.

A `Machine` is a transition system over immutable, hashable states. The specifications (`semantics`, `variants`) build
machines, the checker (`search`) walks them, and neither knows the other.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["Action", "Machine", "Predicate", "Step"]

S = TypeVar("S", bound=Hashable)

Action = Callable[[S], Iterable[S]]
"""All the states an action can lead to from a state; none where it is not enabled."""

Predicate = Callable[[S], bool]
"""A claim about one state."""


@dataclass(frozen=True, slots=True)
class Step(Generic[S]):
    """One transition: the action's name and the state it led to."""

    action: str
    state: S


@dataclass(frozen=True, slots=True)
class Machine(Generic[S]):
    """A transition system and the claims made about it.

    `actions` are tried in their order, which is the order of the disjuncts of `Next` in the TLA+ module: a checker that
    stops at the first violation then visits exactly the states that TLC with one worker visits.
    """

    initial: tuple[S, ...]
    actions: Mapping[str, Action[S]]
    invariants: Mapping[str, Predicate[S]]
    completed: Predicate[S]
    """The run is over: what liveness says is always reached, and what stays true once it is."""

    def steps(self, state: S) -> Iterator[Step[S]]:
        """Every transition out of `state`, in the order of the actions."""
        for name, action in self.actions.items():
            for successor in action(state):
                yield Step(name, successor)
