"""LA: a decision for an unknown, stale or consumed address is refused with a signal.

A stray is such a decision. The signal is an error: a return or a park looks to the sender as if it had been taken. And
an error refuses only what was not acted on: a stray that a gate received, or that began an effect, was accepted however
its operation ended. An empty answer is no stray: it may be refused, or served to the gate as it is, but it must not
vanish.
"""

from __future__ import annotations

from resumption.contract.judges.operations import outcome, same
from resumption.contract.judges.stories import finding, judgement
from resumption.contract.properties import Property
from resumption.contract.verdicts import Finding, Judgement
from resumption.history.events import Consume, Deliver, EffectBegin, Event, Intent, Json, Park, Raise, Return
from resumption.history.history import History

__all__ = ["judge_loud_addressing"]

_EMPTY: tuple[Json, ...] = (None, "", {}, [])


def judge_loud_addressing(history: History) -> tuple[Judgement, ...]:
    """Judge LA."""
    findings: list[Finding] = []
    witnesses: list[int] = []
    for delivery in history.of(Deliver):
        end = outcome(history, delivery)
        if not _must_be_told(delivery):
            continue
        if isinstance(end, Raise) and (act := _act(history, delivery)):
            summary = f"the stray decision {delivery.delivery} was acted on before its error"
            findings.append(finding(history, summary, delivery, act, end))
        elif isinstance(end, Raise):
            witnesses += [delivery.number, end.number]
        elif served := _served(history, delivery):
            witnesses += [delivery.number, served.number]
        elif isinstance(end, Return | Park):
            what = "stray decision" if delivery.intent is Intent.STRAY else "empty answer"
            summary = f"the {what} {delivery.delivery} was accepted without a signal"
            findings.append(finding(history, summary, delivery, end))
    otherwise = "no stray decision and no empty answer was answered"
    return (judgement(Property.LOUD_ADDRESSING, findings, witnesses, otherwise=otherwise),)


def _must_be_told(delivery: Deliver) -> bool:
    """Whether a delivery is one that planes are tempted to drop."""
    return delivery.intent is Intent.STRAY or (delivery.intent is Intent.ANSWER and delivery.value in _EMPTY)


def _act(history: History, delivery: Deliver) -> Consume | EffectBegin | None:
    """The first thing that a stray did to the run, if it did any."""
    if delivery.intent is not Intent.STRAY:
        return None
    during = history.during(delivery.operation, Event)
    return next((event for event in during if isinstance(event, Consume | EffectBegin)), None)


def _served(history: History, delivery: Deliver) -> Consume | None:
    """Where an empty answer reached its gate as it was given, if it did. A stray has no gate to reach."""
    if delivery.intent is Intent.STRAY:
        return None
    consumes = history.during(delivery.operation, Consume)
    return next((c for c in consumes if c.interrupt == delivery.target and same(c.value, delivery.value)), None)
