"""CO-c: one interrupt is consumed by at most one resume, and one resume is consumed by at most one interrupt.

A gate says which value it received, not which delivery brought it, so each consumption is attributed: to the delivery
of its own operation if value and target agree; else to an earlier delivery of that value on the branch or an ancestor.
Of these, one that this interrupt consumed before comes first, for that is the record being read again; then one meant
for this interrupt; then the latest. A delivery made again under its name is the same delivery.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from resumption.contract.judges.branches import Branch, branches, lineage
from resumption.contract.judges.operations import operation_of, same
from resumption.contract.judges.stories import finding, judgement
from resumption.contract.properties import Property
from resumption.contract.verdicts import Finding, Judgement, Measured
from resumption.history.events import Consume, Deliver, Event, Intent
from resumption.history.history import History

__all__ = ["Consumption", "attributed", "judge_consume_once_count"]


@dataclass(frozen=True, slots=True)
class Consumption:
    """One time that a gate received a value, and the delivery that brought it, if one can be named."""

    consume: Consume
    delivery: Deliver | None


def judge_consume_once_count(history: History) -> tuple[Judgement, ...]:
    """Judge CO-c."""
    consumptions = attributed(history)
    of = {consumption.consume.number: consumption for consumption in consumptions}
    findings = _shared_deliveries(history, consumptions)
    witnesses: list[int] = []
    for branch in branches(history):
        held = [of[event.number] for event in branch.of(Consume)]
        findings += _shared_interrupts(history, branch, held)
        witnesses += _exercised(branch, held)
    unknown = [consumption.consume.number for consumption in consumptions if consumption.delivery is None]
    if unknown and not findings:
        reason = f"no delivery brought the value that was consumed at #{unknown[0]}"
        return (Judgement(Property.CONSUME_ONCE_COUNT, Measured.UNDETERMINED, reason=reason),)
    otherwise = "no second delivery and no second interrupt came after a consumption"
    return (judgement(Property.CONSUME_ONCE_COUNT, findings, witnesses, otherwise=otherwise),)


def attributed(history: History) -> list[Consumption]:
    """What the gates received, in order, each with the delivery that it is attributed to."""
    consumptions: list[Consumption] = []
    for consume in history.of(Consume):
        consumptions.append(Consumption(consume, _source(history, consume, consumptions)))
    return consumptions


def _source(history: History, consume: Consume, earlier: list[Consumption]) -> Deliver | None:
    operation = operation_of(history, consume.operation)
    if isinstance(operation, Deliver) and _fits(operation, consume) and operation.target == consume.interrupt:
        return operation
    line = lineage(consume.branch)
    candidates = [
        delivery
        for delivery in history.of(Deliver)
        if delivery.number < consume.number and delivery.branch in line and _fits(delivery, consume)
    ]
    known = {
        consumption.delivery.delivery
        for consumption in earlier
        if consumption.delivery and consumption.consume.interrupt == consume.interrupt
    }
    ranked = sorted(candidates, key=lambda d: (d.delivery in known, d.target == consume.interrupt, d.number))
    return ranked[-1] if ranked else None


def _fits(delivery: Deliver, consume: Consume) -> bool:
    return same(delivery.value, consume.value)


def _shared_interrupts(history: History, branch: Branch, held: list[Consumption]) -> list[Finding]:
    """The interrupts that several deliveries of one branch were consumed by."""
    found = []
    for interrupt in dict.fromkeys(c.consume.interrupt for c in held):
        firsts = {c.delivery.delivery: c for c in reversed(held) if c.delivery and c.consume.interrupt == interrupt}
        if len(firsts) > 1 and any(branch.is_own(c.consume) for c in firsts.values()):
            names = ", ".join(sorted(firsts))
            summary = f"interrupt `{interrupt}` on branch {branch.name} consumed {len(firsts)} deliveries: {names}"
            found.append(finding(history, summary, *_told(firsts.values())))
    return found


def _shared_deliveries(history: History, consumptions: list[Consumption]) -> list[Finding]:
    """The deliveries that several interrupts consumed."""
    found = []
    for name in dict.fromkeys(c.delivery.delivery for c in consumptions if c.delivery):
        held = [c for c in reversed(consumptions) if c.delivery and c.delivery.delivery == name]
        firsts = {c.consume.interrupt: c for c in held}
        if len(firsts) > 1:
            interrupts = ", ".join(f"`{interrupt}`" for interrupt in sorted(firsts))
            summary = f"delivery {name} was consumed by {len(firsts)} interrupts: {interrupts}"
            found.append(finding(history, summary, *_told(firsts.values())))
    return found


def _told(consumptions: Iterable[Consumption]) -> list[Event | None]:
    return [event for consumption in consumptions for event in (consumption.delivery, consumption.consume)]


def _exercised(branch: Branch, held: list[Consumption]) -> list[int]:
    """Consumptions, with the second delivery or the second interrupt that might have shared in them."""
    seen: list[int] = []
    for consumption in held:
        consume = consumption.consume
        others = [c.consume.number for c in held if c.consume.interrupt != consume.interrupt]
        others += [d.number for d in branch.resumes() if isinstance(d, Deliver) and _could_share(d, consume)]
        if others:
            seen += [consume.number, *others]
    return seen


def _could_share(delivery: Deliver, consume: Consume) -> bool:
    if delivery.operation == consume.operation:
        return False
    if delivery.intent is Intent.RACE:
        return delivery.target == consume.interrupt
    return delivery.intent in {Intent.STRAY, Intent.RETRY} and delivery.number > consume.number
