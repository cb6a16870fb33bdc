"""The contract's actions and claims over packed states: a whole level of the search at once.

The same relation as `semantics`, in array form. No function here branches on a state: which variables an action reads
and writes is therefore the same in every call, and is observed rather than asserted (`touched`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np

from resumption.model.packing import Columns, Mask, Words, layout_for
from resumption.model.semantics import Bounds, Fault, Faults

__all__ = ["VectorAction", "actions_for", "claims_for", "measure", "touched"]


@dataclass(frozen=True, slots=True)
class VectorAction:
    """Where an action is enabled, and what it makes of the states where it is: one set per alternative."""

    enabled: Callable[[Columns], Mask]
    update: Callable[[Columns], Iterator[Columns]]


def actions_for(bounds: Bounds, faults: Faults) -> Mapping[str, VectorAction]:
    """The six actions, in the order of the TLA+ module."""
    return {
        "ExecTask": VectorAction(partial(_can_execute, bounds), partial(_execute, bounds, faults)),
        "EmitInterrupt": VectorAction(partial(_can_emit, bounds), _emit),
        "Consume": VectorAction(lambda states: states.holds("waiting"), partial(_consume, bounds)),
        "ForkResume": VectorAction(partial(_can_fork, bounds), partial(_fork, bounds, faults)),
        "CrashRecover": VectorAction(partial(_can_crash, bounds), partial(_crash, faults)),
        "ExtraResume": VectorAction(partial(_can_resume_extra, bounds), partial(_resume_extra, bounds, faults)),
    }


def touched(bounds: Bounds, action: VectorAction) -> tuple[frozenset[str], frozenset[str]]:
    """The variables that an action reads and those that it writes, at these bounds; observed on no state at all."""
    layout = layout_for(bounds)
    states = Columns(layout, np.empty((layout.words, 0), dtype=np.uint64))
    action.enabled(states)
    for _ in action.update(states):
        pass
    return frozenset(states.reads), frozenset(states.writes)


def _can_execute(bounds: Bounds, states: Columns) -> Mask:
    pc = states.read("pc")
    passable: Mask = (pc != bounds.gate) | states.holds("consumed")
    running: Mask = (pc <= bounds.tasks) & ~states.holds("waiting")
    return running & passable


def _execute(bounds: Bounds, faults: Faults, states: Columns) -> Iterator[Columns]:
    pc = states.read("pc")
    fires = np.ones(len(states), dtype=np.uint64)
    if Fault.PREFIX_REPLAY in faults:
        fires[pc == bounds.gate] = 0
    states.add("effects", fires, entry=pc - np.uint64(1))
    if Fault.INVALID_PERSIST in faults:
        states.write("invalid_record", _bits(states.holds("invalid_record") | (pc == bounds.tasks)))
    states.write("prefix_regress", _bits(states.holds("prefix_regress") | (pc <= states.read("durable"))))
    _append_record(bounds, states, pc)
    states.write("pc", pc + np.uint64(1))
    yield states


def _append_record(bounds: Bounds, states: Columns, task: Words) -> None:
    """Log `task` as durable: it prolongs the log's last run, or ends that run and begins the next one."""
    durable = states.read("durable")
    begins = task != durable + np.uint64(1)
    if np.any(begins & (task != 1)):
        raise OverflowError("a run of the log begins behind the first task, which the packed log can't express")
    if bounds.crashes:
        runs = states.read("runs")
        finished: Words = np.where(begins, durable, np.uint64(0))
        states.add("run_ends", finished, entry=np.minimum(runs, np.uint64(bounds.crashes - 1)))
        states.write("runs", runs + _bits(begins))
    states.write("durable", task)


def _can_emit(bounds: Bounds, states: Columns) -> Mask:
    at_gate: Mask = states.read("pc") == bounds.gate
    return at_gate & ~states.holds("waiting") & ~states.holds("consumed")


def _emit(states: Columns) -> Iterator[Columns]:
    states.write("waiting", 1)
    yield states


def _consume(bounds: Bounds, states: Columns) -> Iterator[Columns]:
    states.write("waiting", 0)
    states.add("effects", entry=bounds.gate - 1)
    _append_record(bounds, states, np.full(len(states), bounds.gate, dtype=np.uint64))
    states.write("pc", bounds.gate + 1)
    for value in range(1, bounds.values + 1):
        answered = states.copy()
        answered.write("consumed", value)
        yield answered


def _can_fork(bounds: Bounds, states: Columns) -> Mask:
    return states.holds("consumed") & (states.read("forks") < bounds.resumes - 1)


def _fork(bounds: Bounds, faults: Faults, states: Columns) -> Iterator[Columns]:
    forks = states.read("forks")
    for value in range(1, bounds.values + 1):
        forked = states.copy()
        forked.add("fork_values", value, entry=forks)
        forked.add("fork_outcomes", forked.read("consumed") if Fault.FORK_IGNORE in faults else value, entry=forks)
        forked.add("forks")
        yield forked


def _can_crash(bounds: Bounds, states: Columns) -> Mask:
    pc = states.read("pc")
    return ~states.holds("waiting") & (pc > 1) & (pc <= bounds.tasks) & (states.read("crashes") < bounds.crashes)


def _crash(faults: Faults, states: Columns) -> Iterator[Columns]:
    durable, crashes = states.read("durable"), states.read("crashes")
    states.add("recovered_from", durable, entry=crashes)
    from_start = bool(faults & {Fault.REPLAY, Fault.PREFIX_REPLAY, Fault.NONDET_RECOVERY})
    from_frontier = not faults & {Fault.REPLAY, Fault.PREFIX_REPLAY}
    decisions = [np.ones_like(durable)] * from_start + [durable + np.uint64(1)] * from_frontier
    for resumed_at in decisions:
        recovered = states.copy()
        recovered.add("resumed_at", resumed_at, entry=crashes)
        recovered.add("crashes")
        recovered.write("pc", resumed_at)
        yield recovered


def _can_resume_extra(bounds: Bounds, states: Columns) -> Mask:
    completed: Mask = states.read("pc") == bounds.tasks + 1
    in_budget: Mask = states.read("extras") < bounds.extras
    return completed & in_budget


def _resume_extra(bounds: Bounds, faults: Faults, states: Columns) -> Iterator[Columns]:
    states.add("extras")
    if Fault.DOUBLE_CONSUME in faults:
        states.add("effects", entry=bounds.gate - 1)
    yield states


def _bits(mask: Mask) -> Words:
    return mask.astype(np.uint64)


# --- claims: the mask of the states where each one holds ---


def claims_for(bounds: Bounds) -> Mapping[str, Callable[[Columns], Mask]]:
    """The six properties and `TypeOK`."""
    return {
        "EO": partial(_exactly_once, bounds),
        "PC": lambda states: ~states.holds("prefix_regress"),
        "FD": partial(_fork_determinism, bounds),
        "CV": lambda states: ~states.holds("invalid_record"),
        "CO": lambda states: states.read("effects", bounds.gate - 1) <= 1,
        "RD": partial(_recovery_determinism, bounds),
        "TypeOK": partial(_type_ok, bounds),
    }


def _everywhere(states: Columns) -> Mask:
    return np.ones(len(states), dtype=np.bool_)


def _exactly_once(bounds: Bounds, states: Columns) -> Mask:
    result = _everywhere(states)
    for task in range(bounds.tasks):
        result &= states.read("effects", task) <= 1
    return result


def _fork_determinism(bounds: Bounds, states: Columns) -> Mask:
    result = _everywhere(states)
    for fork in range(bounds.resumes - 1):
        result &= states.read("fork_values", fork) == states.read("fork_outcomes", fork)
    return result


def _recovery_determinism(bounds: Bounds, states: Columns) -> Mask:
    found = [states.read("recovered_from", crash) for crash in range(bounds.crashes)]
    resumed = [states.read("resumed_at", crash) for crash in range(bounds.crashes)]
    crashes = states.read("crashes")
    result = _everywhere(states)
    for first, second in combinations(range(bounds.crashes), 2):
        alike = (found[first] != found[second]) | (resumed[first] == resumed[second])
        result &= alike | (crashes <= second)
    return result


def _type_ok(bounds: Bounds, states: Columns) -> Mask:
    pc, forks, crashes = states.read("pc"), states.read("forks"), states.read("crashes")
    result = (pc >= 1) & (pc <= bounds.tasks + 1) & (states.read("durable") <= bounds.tasks)
    result &= (states.read("consumed") <= bounds.values) & (states.read("extras") <= bounds.extras)
    result &= (forks <= bounds.resumes - 1) & (crashes <= bounds.crashes) & (states.read("runs") <= crashes)
    for fork in range(bounds.resumes - 1):
        for name in ("fork_values", "fork_outcomes"):
            entry = states.read(name, fork)
            result &= ((entry != 0) == (forks > fork)) & (entry <= bounds.values)
    for crash in range(bounds.crashes):
        entry = states.read("resumed_at", crash)
        result &= ((entry != 0) == (crashes > crash)) & (entry <= bounds.tasks)
        result &= states.read("recovered_from", crash) <= bounds.tasks
    return result


def measure(bounds: Bounds, states: Columns) -> Words:
    """How many actions led to each state. Every action adds one, so that no state occurs in two levels of a search."""
    steps = states.read("durable") + _bits(states.holds("waiting") | states.holds("consumed"))
    for crash in range(bounds.crashes):
        steps = steps + states.read("run_ends", crash)
    return steps + states.read("forks") + states.read("crashes") + states.read("extras")
