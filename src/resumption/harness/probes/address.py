"""Addresses that nobody issued, addresses of the past, and answers that say nothing."""

from __future__ import annotations

from dataclasses import replace

from resumption.contract.properties import Property
from resumption.harness.lab import Lab
from resumption.harness.probes.probe import probe
from resumption.harness.probes.workloads import SEQUENCE, TWO_INTERRUPTS
from resumption.history.events import Intent, Json
from resumption.planes.interface import Address, Capability, Operation

__all__ = ["PROBES"]

_NEXT_DIGIT = str.maketrans("0123456789", "1234567890")


def _unissued(address: Address) -> Address:
    """An address of the same shape, with identities that nobody gave out: each digit is the next one."""
    return replace(address, requests={name: _changed(identity) for name, identity in address.requests.items()})


def _changed(identity: Json) -> Json:
    match identity:
        case str():
            changed = identity.translate(_NEXT_DIGIT)
            return changed if changed != identity else f"{identity}0"
        case bool() | None:
            return "0"
        case int() | float():
            return identity + 1
        case list():
            return [_changed(part) for part in identity] or ["0"]
        case dict():
            return {key: _changed(part) for key, part in identity.items()} or {"0": "0"}
    raise TypeError(f"{identity!r} is no identity that JSON can hold")


@probe(
    "address/unknown",
    expectation="a decision for an interrupt that was never raised is refused with an error",
    source="LangGraph #8836",
    decides=(Property.LOUD_ADDRESSING,),
    operation=Operation.DELIVER,
    needs=(Capability.GATE,),
)
def unknown(lab: Lab) -> None:
    """Park, and deliver a decision to an identity that looks like the pending interrupt's, and isn't. Forms that name
    no interrupt are passed by."""
    if lab.names_interrupt:
        with lab.trial(SEQUENCE) as trial:
            process = trial.process()
            process.start()
            process.answer("yes", target="approve", at=_unissued(process.address()), intent=Intent.STRAY)


@probe(
    "address/stale",
    expectation="a decision for an interrupt that has its answer is refused with an error, though another is pending",
    source="LangGraph #8837",
    decides=(Property.LOUD_ADDRESSING,),
    operation=Operation.DELIVER,
    needs=(Capability.GATE, Capability.GATE_SEQUENCE),
)
def stale(lab: Lab) -> None:
    """Answer the first of a task's two interrupts and, while the second is pending, deliver another decision to the
    first. Forms that name no interrupt are passed by."""
    if lab.names_interrupt:
        with lab.trial(TWO_INTERRUPTS) as trial:
            process = trial.process()
            process.start()
            where = process.address()
            process.answer("yes", target="first", at=where)
            process.answer("no", target="first", at=where, intent=Intent.STRAY)


@probe(
    "address/empty",
    expectation="an empty answer is refused with an error, or reaches the gate as it is",
    source="LangGraph #8836",
    decides=(Property.LOUD_ADDRESSING,),
    operation=Operation.DELIVER,
    needs=(Capability.GATE,),
)
def empty(lab: Lab) -> None:
    """Park, and answer with nothing: with a null in one trial, with an empty object in another."""
    nothings: tuple[Json, ...] = (None, {})
    for nothing in nothings:
        with lab.trial(SEQUENCE) as trial:
            process = trial.process()
            process.start()
            process.answer(nothing, target="approve")


PROBES = (unknown, stale, empty)
