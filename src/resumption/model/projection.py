"""State spaces too large to visit, counted exactly as a product of independent parts.

Forks and extra resumes don't influence the run they are made on. So a reachable state is a *control state* (everything
but forks and extras), any sequence of forks if the gate is consumed, and any count of extras if the run is completed.
The control states and the fork sequences are explored; their products are only counted.

Nothing here is taken on trust. The variables that each action and property touches are observed (`vectors.touched`) and
must keep to their part; what links the parts (a consumed decision stays, a completed run does nothing else) is
checked on every control state. Where that fails, `NotIndependent` is raised: with `Fault.DOUBLE_CONSUME` an extra
resume fires an effect, so that space has to be explored in full.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from resumption.model.explore import Exploration, distinct_columns, expand
from resumption.model.packing import Columns, Mask, initial_columns
from resumption.model.semantics import Bounds, Faults
from resumption.model.vectors import VectorAction, actions_for, claims_for, touched

__all__ = ["NotIndependent", "check_independence", "project"]

FORKS = frozenset({"forks", "fork_values", "fork_outcomes"})
EXTRAS = frozenset({"extras"})


class NotIndependent(ValueError):
    """The state space isn't the product that a projection needs; explore it in full instead."""


def check_independence(bounds: Bounds, faults: Faults) -> None:
    """Raise `NotIndependent` unless every action and property keeps to its part of the state."""
    for name, action in actions_for(bounds, faults).items():
        reads, writes = touched(bounds, action)
        if name == "ForkResume":
            stray = (reads - FORKS - {"consumed"}) | (writes - FORKS)
        elif name == "ExtraResume":
            stray = (reads - EXTRAS - {"pc"}) | (writes - EXTRAS)
        else:
            stray = (reads | writes) & (FORKS | EXTRAS)
        if stray:
            raise NotIndependent(f"{name} touches {', '.join(sorted(stray))}: explore {sorted(faults)} in full")
    for name, holds in claims_for(bounds).items():
        states = initial_columns(bounds)
        holds(states)
        mixes = states.reads & (FORKS | EXTRAS) and states.reads - FORKS
        if mixes and name != "TypeOK":  # each conjunct of TypeOK is about one part, so it is checked on each part
            raise NotIndependent(f"{name} reads {', '.join(sorted(states.reads))}: it spans both parts")


@dataclass(frozen=True, slots=True)
class _ForkPart:
    """The fork sequences that one consumed decision allows: how many, how many steps between them, how deep."""

    sequences: int = 1
    steps: int = 0
    depth: int = 0
    broken: Mapping[str, int] = field(default_factory=dict)


def _explore_forks(bounds: Bounds, fork: VectorAction, start: Columns) -> _ForkPart:
    """Every fork sequence from one state that has consumed a decision."""
    claims = {claim: holds for claim, holds in claims_for(bounds).items() if claim in ("FD", "TypeOK")}
    level, sequences, steps, depth = start, 0, 0, -1
    broken: dict[str, int] = {}
    while len(level):
        depth += 1
        sequences += len(level)
        _note_broken(claims, level, depth, broken)
        successors, _ = expand({"ForkResume": fork}, level)
        steps += sum(len(part) for part in successors)
        level = _union(level, successors)
    return _ForkPart(sequences, steps, depth, broken)


@dataclass(slots=True)
class _Tally:
    """The figures of the product, summed up over the control states."""

    bounds: Bounds
    generated: int = 1
    distinct: int = 0
    depth: int = 0

    def add(self, states: int, successors: int, depth: int, forks: _ForkPart, *, completed: bool) -> None:
        """Count control states that share their fork sequences, and whether they have extras."""
        extras = self.bounds.extras if completed else 0
        self.distinct += states * forks.sequences * (extras + 1)
        self.generated += successors * forks.sequences * (extras + 1)
        self.generated += states * (forks.steps * (extras + 1) + forks.sequences * extras)
        self.depth = max(self.depth, depth + forks.depth + extras)


def project(bounds: Bounds, faults: Faults) -> Exploration:
    """Count the state space at these bounds and judge every claim on it. There are no traces: `violation` is None."""
    check_independence(bounds, faults)
    actions = dict(actions_for(bounds, faults))
    control = {name: action for name, action in actions.items() if name not in ("ForkResume", "ExtraResume")}
    claims = claims_for(bounds)
    level, depth, always_completes = initial_columns(bounds), 1, True
    tally, forks = _Tally(bounds), _ForkPart()
    broken: dict[str, int] = {}
    while len(level):
        consumed: Mask = level.holds("consumed")
        completed: Mask = level.read("pc") == bounds.tasks + 1
        if forks.steps == 0 and consumed.any():
            forks = _explore_forks(bounds, actions["ForkResume"], level.select(consumed).first())
            broken |= {claim: depth + added for claim, added in forks.broken.items()}
        _note_broken(claims, level, depth, broken)
        successors, live = expand(control, level)
        if np.any(level.holds("waiting") & consumed) or np.any(completed & (live | ~consumed)):
            raise NotIndependent("a consumed decision is asked for again, or a completed run goes on")
        always_completes &= bool(np.all(live | completed))
        for part, forked, ends in (
            (~consumed, _ForkPart(), False),
            (consumed & ~completed, forks, False),
            (completed, forks, True),
        ):
            if part.any():
                out = sum(len(states) for states in expand(control, level.select(part))[0])
                tally.add(int(part.sum()), out, depth, forked, completed=ends)
        level, depth = _union(level, successors), depth + 1
    return Exploration(tally.generated, tally.distinct, tally.depth, broken, None, always_completes)


def _note_broken(
    claims: Mapping[str, Callable[[Columns], Mask]], level: Columns, depth: int, broken: dict[str, int]
) -> None:
    for claim, holds in claims.items():
        if claim not in broken and not holds(level).all():
            broken[claim] = depth


def _union(level: Columns, parts: list[Columns]) -> Columns:
    return Columns(level.layout, distinct_columns(level.layout.words, [part.words for part in parts]))
