"""Recovery doesn't depend on the order of the log: proved for logs of any length, and refuted for the usual mistake.

A log is a sequence of task positions. Swapping two neighbours generates every reordering, so it is enough that a swap
changes no answer of the two queries which `recover` is fed from: is a task in the log, and how many of the tasks before
it aren't. The second is a function of the first, of which nothing else is known here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import z3

from proof.formulas import number
from proof.spec import Obligation
from proof.symbolic import Function, Module
from proof.terms import Term, boolean, equal
from proof.translate import translate

__all__ = ["order_sensitive", "reorderings"]

_LAST_RECORD_WINS = '''
from enum import StrEnum

class Recovery(StrEnum):
    SERVED = "served"
    RUNS = "runs"

def recover(*, position: int, last: int) -> Recovery:
    """Take the last record of the log for the frontier."""
    if position <= last:
        return Recovery.SERVED
    return Recovery.RUNS
'''


def _log_and_swapped() -> tuple[Any, Any, Any, Any]:
    """A log, its length, the log with two neighbours swapped, and that the swap is within it."""
    log, length, place = z3.Array("log", z3.IntSort(), z3.IntSort()), z3.Int("length"), z3.Int("place")
    swapped = z3.Store(z3.Store(log, place, log[place + 1]), place + 1, log[place])
    return log, length, swapped, z3.And(place >= 0, place + 1 < length)


def _contains(log: Any, length: Any, task: Any) -> Any:
    index = z3.Int("index")
    return z3.Exists([index], z3.And(index >= 0, index < length, log[index] == task))


def reorderings(module: Module) -> Iterator[Obligation]:
    """That `recover` answers alike for a log and for a reordering of it."""
    log, length, swapped, legal = _log_and_swapped()
    task = z3.Int("task")
    for name, one, other in (("keeps", log, swapped), ("adds no", swapped, log)):
        lost = z3.And(_contains(one, length, task), z3.Not(_contains(other, length, task)))
        yield Obligation(f"recover: a reordering {name} member of the log", z3.And(legal, lost))
    # From here on the two logs are the sets that they hold, and equal as such.
    one, other = (z3.Array(name, z3.IntSort(), z3.BoolSort()) for name in ("members", "members_reordered"))
    function = module.functions["recover"]
    alike = equal(_decided(function, one, task), _decided(function, other, task))
    yield Obligation("recover: equal sets, equal decisions (RD)", z3.And(one == other, z3.Not(alike)))


def _decided(function: Function, members: Any, task: Any) -> Term:
    missing = z3.Function("missing", z3.ArraySort(z3.IntSort(), z3.BoolSort()), z3.IntSort(), z3.IntSort())
    rest = {name: term for name, term in function.variables().items() if name not in ("recorded", "missing")}
    return function(recorded=boolean(members[task]), missing=number(missing(members, task)), **rest)


def order_sensitive() -> Obligation:
    """The certificate against a recovery that takes the last record for the frontier: some reordering changes it."""
    function = translate(_LAST_RECORD_WINS).functions["recover"]
    log, length, swapped, legal = _log_and_swapped()
    position = number(z3.Int("task"))
    one = function(position=position, last=number(log[length - 1]))
    other = function(position=position, last=number(swapped[length - 1]))
    return Obligation("the last record taken for the frontier", z3.And(legal, z3.Not(equal(one, other))), witness=True)
