"""Judges: pure functions that say of a history whether it keeps one property of the contract.

A judge looks at the observable interface only: program order, file order, and the oracle's word on which effects fired.
It knows no framework, no probe and no documentation, so any history of the format can be judged, at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from resumption.contract.judges.checkpoint_validity import judge_checkpoint_validity
from resumption.contract.judges.consume_once_count import judge_consume_once_count
from resumption.contract.judges.consume_once_effects import judge_consume_once_effects
from resumption.contract.judges.effect_exactly_once import judge_effect_exactly_once
from resumption.contract.judges.fork_determinism import judge_fork_determinism
from resumption.contract.judges.fork_intent import judge_fork_intent
from resumption.contract.judges.liveness import judge_liveness
from resumption.contract.judges.load_validity import judge_load_validity
from resumption.contract.judges.loud_addressing import judge_loud_addressing
from resumption.contract.judges.no_lost_work import judge_no_lost_work
from resumption.contract.judges.prefix_continuation import judge_prefix_continuation
from resumption.contract.judges.read_inertness import judge_read_inertness
from resumption.contract.judges.recovery_determinism import judge_recovery_determinism
from resumption.contract.judges.reload_equals_live import judge_reload_equals_live
from resumption.contract.judges.topology_drift import judge_topology_drift
from resumption.contract.properties import Property
from resumption.contract.verdicts import Facet, Judgement, Measured
from resumption.history.events import Drift, Tamper
from resumption.history.history import History

__all__ = ["JUDGES", "Judge", "facets", "judge", "possible_facets"]

Judge = Callable[[History], tuple[Judgement, ...]]
"""A judge expects a whole history; `judge` makes sure of that."""

JUDGES: Mapping[Property, Judge] = {
    Property.PREFIX_CONTINUATION: judge_prefix_continuation,
    Property.EFFECT_EXACTLY_ONCE: judge_effect_exactly_once,
    Property.FORK_DETERMINISM: judge_fork_determinism,
    Property.CHECKPOINT_VALIDITY: judge_checkpoint_validity,
    Property.CONSUME_ONCE_COUNT: judge_consume_once_count,
    Property.CONSUME_ONCE_EFFECTS: judge_consume_once_effects,
    Property.RECOVERY_DETERMINISM: judge_recovery_determinism,
    Property.FORK_INTENT: judge_fork_intent,
    Property.LIVENESS: judge_liveness,
    Property.RELOAD_EQUALS_LIVE: judge_reload_equals_live,
    Property.READ_INERTNESS: judge_read_inertness,
    Property.LOUD_ADDRESSING: judge_loud_addressing,
    Property.NO_LOST_WORK: judge_no_lost_work,
    Property.TOPOLOGY_DRIFT: judge_topology_drift,
    Property.LOAD_VALIDITY: judge_load_validity,
}
"""The judge of each property."""

_SHOWN_BY_SOME: Mapping[Property, tuple[Facet, ...]] = {
    Property.EFFECT_EXACTLY_ONCE: (Facet.RACE,),
    Property.RECOVERY_DETERMINISM: (Facet.ORDER,),
}
"""The facets that only histories show in which two operations were under way at once, or two orders were made."""


def facets(property_: Property) -> tuple[Facet, ...]:
    """The parts in which a property is always measured: one judgement each."""
    return (Facet.CELL, Facet.WINDOW) if property_ is Property.EFFECT_EXACTLY_ONCE else (Facet.CELL,)


def possible_facets(property_: Property) -> tuple[Facet, ...]:
    """The parts in which a property can be measured: those of `facets`, and what only some histories show."""
    return (*facets(property_), *_SHOWN_BY_SOME.get(property_, ()))


def judge(history: History, property_: Property) -> tuple[Judgement, ...]:
    """Judge one property of a history: one judgement for each of its facets.

    A history that is not whole is `undetermined`, with the reason; so is one whose program was exchanged under the run,
    or whose state was altered from outside, for every property but the one that is about that.
    """
    problems = history.problems()
    if property_ is not Property.TOPOLOGY_DRIFT and any(history.of(Drift)):
        problems = ("the program was exchanged under the run, so that there is no one program to judge by",)
    if property_ is not Property.LOAD_VALIDITY and any(history.of(Tamper)):
        problems = ("the state was altered from outside, so that what followed is not the plane's doing alone",)
    if problems:
        reason = "; ".join(problems)
        return tuple(Judgement(property_, Measured.UNDETERMINED, facet, reason=reason) for facet in facets(property_))
    return JUDGES[property_](history)
