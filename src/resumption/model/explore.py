"""The built-in breadth-first checker for large state spaces of the contract (extra `model`: numpy; no Java).

Every fault switch, every property, `TypeOK` and liveness are checked in one pass. A level of the search is one array;
duplicates are removed within it. That is enough because each action adds one to a measure of the state (log length,
parked or answered, forks, crashes, extras), which is checked on every state: no state can occur in two levels, and
there is no cycle.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from resumption.model.machine import Step
from resumption.model.packing import Columns, Mask, Words, decode, initial_columns
from resumption.model.search import Violation
from resumption.model.semantics import Bounds, Faults, State
from resumption.model.vectors import VectorAction, actions_for, claims_for, measure

__all__ = ["CLAIMS", "Exploration", "distinct_columns", "expand", "explore"]

CLAIMS = ("EO", "PC", "FD", "CV", "CO", "RD", "TypeOK")


@dataclass(frozen=True, slots=True)
class Exploration:
    """What a packed exploration found; where it stopped early, the counts are those at the end of that level."""

    generated: int
    distinct: int
    depth: int
    broken: Mapping[str, int]
    """Claims that break, with the depth of a shortest counterexample."""
    violation: Violation[State] | None
    """A shortest counterexample to the claim that broke first."""
    always_completes: bool
    """`EventuallyCompletes`, as far as was explored: no dead end short of completion (and there are no cycles)."""


def explore(bounds: Bounds, faults: Faults, claims: Collection[str] = CLAIMS, *, stop: bool = True) -> Exploration:
    """Explore breadth-first; with `stop`, end after the first level that breaks a claim.

    Raises `OverflowError` if a state doesn't fit its layout and `AssertionError` if the measure that makes the search
    sound doesn't hold: both mean a defect in this module, never a property of the contract.
    """
    actions = actions_for(bounds, faults)
    checks = {claim: check for claim, check in claims_for(bounds).items() if claim in claims}
    level = initial_columns(bounds)
    levels: list[Words] = []
    generated, distinct, always_completes = 1, 0, True
    broken: dict[str, int] = {}
    violation: Violation[State] | None = None
    while len(level):
        levels.append(level.words)
        distinct += len(level)
        if not np.all(measure(bounds, level) == len(levels) - 1):
            raise AssertionError(f"a state of level {len(levels)} isn't {len(levels) - 1} actions from the start")
        for claim, check in checks.items():
            holds = check(level)
            if claim not in broken and not holds.all():
                broken[claim] = len(levels)
                if violation is None:
                    violation = _trace(bounds, faults, claim, levels, int(np.argmin(holds)))
        if stop and broken:
            break
        successors, live = expand(actions, level)
        generated += sum(len(part) for part in successors)
        always_completes &= bool(np.all(live | (level.read("pc") == bounds.tasks + 1)))
        level = Columns(level.layout, distinct_columns(level.layout.words, [part.words for part in successors]))
    return Exploration(generated, distinct, len(levels), broken, violation, always_completes)


def expand(actions: Mapping[str, VectorAction], level: Columns) -> tuple[list[Columns], Mask]:
    """All successors of a level, duplicates included, and which of its states have any."""
    successors: list[Columns] = []
    live: Mask = np.zeros(len(level), dtype=np.bool_)
    for action in actions.values():
        enabled = action.enabled(level)
        live |= enabled
        if enabled.any():
            successors.extend(action.update(level.select(enabled)))
    return successors, live


def distinct_columns(words: int, parts: list[Words]) -> Words:
    """The distinct columns of all parts.

    States are sorted by a mix of their words, with the position in the low bits of the sort key: one sort of plain
    numbers. Equal states are then neighbours. Where different states have the same mix, their group is sorted in full.
    """
    if not parts:
        return np.empty((words, 0), dtype=np.uint64)
    rows: Words = np.ascontiguousarray(np.concatenate(parts, axis=1).T)  # a state's words side by side: fast to gather
    low = np.uint64(max(len(rows) - 1, 1).bit_length())
    keys = np.sort((_mix(rows) >> low) << low | np.arange(len(rows), dtype=np.uint64))
    rows = np.take(rows, keys & ((np.uint64(1) << low) - np.uint64(1)), axis=0)
    mixes = keys >> low
    first: Mask = np.ones(len(rows), dtype=np.bool_)
    begins = first.copy()
    first[1:] = np.any(rows[1:] != rows[:-1], axis=1)
    begins[1:] = mixes[1:] != mixes[:-1]
    distinct = np.compress(first, rows, axis=0)
    if np.any(first & ~begins):
        group = np.cumsum(begins)
        collides = np.isin(group, group[first & ~begins])
        apart = np.unique(rows[collides], axis=0)
        distinct = np.concatenate((np.compress(first & ~collides, rows, axis=0), apart))
    return np.ascontiguousarray(distinct.T)


def _mix(rows: Words) -> Words:
    """A 64-bit hash of each row."""
    mixed: Words = rows[:, 0].copy()
    for word in rows.T[1:]:
        mixed ^= mixed >> np.uint64(29)
        mixed *= np.uint64(0x9E3779B97F4A7C15)
        mixed ^= word
    mixed ^= mixed >> np.uint64(32)
    mixed *= np.uint64(0xD6E8FEB86659FD93)
    return mixed


def _trace(bounds: Bounds, faults: Faults, claim: str, levels: list[Words], column: int) -> Violation[State]:
    """A shortest way to one state of the last level: its parents, found by expanding the levels before it again."""
    layout = initial_columns(bounds).layout
    steps: list[Step[State]] = []
    target = levels[-1][:, column : column + 1]
    state = decode(bounds, faults, Columns(layout, target), 0)
    for words in reversed(levels[:-1]):
        name, parent = _parent(actions_for(bounds, faults), Columns(layout, words), target)
        steps.append(Step(name, state))
        target = words[:, parent : parent + 1]
        state = decode(bounds, faults, Columns(layout, target), 0)
    return Violation(claim, state, tuple(reversed(steps)))


def _parent(actions: Mapping[str, VectorAction], level: Columns, target: Words) -> tuple[str, int]:
    for name, action in actions.items():
        enabled = action.enabled(level)
        for successors in action.update(level.select(enabled)):
            found = np.flatnonzero(np.all(successors.words == target, axis=0))
            if found.size:
                return name, int(np.flatnonzero(enabled)[found[0]])
    raise AssertionError("a state of the search has no parent in the level before it")
