"""Check one run with the built-in checkers."""

from __future__ import annotations

from time import perf_counter

from resumption.errors import ToolMissing
from resumption.model.catalogue import Run
from resumption.model.results import Engine, Result
from resumption.model.search import LIVENESS, eventually_completes, search

__all__ = ["check", "needs_numpy"]


def needs_numpy(run: Run) -> bool:
    """Whether the run's state space is left to the packed checker."""
    return run.packed is not None


def check(run: Run) -> Result:
    """Explore the run and judge its claims.

    Raises `ToolMissing` if the run is for the packed checker and numpy isn't installed.
    """
    return _check_packed(run) if needs_numpy(run) else _check_plain(run)


def _check_plain(run: Run) -> Result:
    begin = perf_counter()
    machine = run.machine()
    outcome = search(machine, run.safety)
    violation, depth = outcome.violation, outcome.depth
    broken = violation.claim if violation else None
    if run.liveness and violation is None and (violation := eventually_completes(machine)):
        broken = violation.claim
    seconds = perf_counter() - begin
    return Result(run.name, Engine.SEARCH, outcome.generated, outcome.distinct, depth, broken, seconds, violation)


def _check_packed(run: Run) -> Result:
    try:
        from resumption.model.explore import explore
    except ImportError as error:
        what = f"{run.name} has millions of states and needs numpy, which can't be imported ({error})."
        raise ToolMissing(what, advice="Install the extra: pip install '.[model]'.") from error
    assert run.packed is not None
    bounds, faults = run.packed
    begin = perf_counter()
    explored = explore(bounds, faults, run.safety)
    seconds = perf_counter() - begin
    broken = next(iter(explored.broken), None)
    if run.liveness and broken is None and not explored.always_completes:
        broken = LIVENESS
    # The packed search ends with the level of the violation, not with the violating state.
    generated, distinct = (None, None) if explored.broken else (explored.generated, explored.distinct)
    return Result(run.name, Engine.PACKED, generated, distinct, explored.depth, broken, seconds, explored.violation)
