"""A decision that comes in while the run is live has the gate pass once more, within that run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from resumption.contract.properties import Property
from resumption.history.events import Json
from resumption.history.workload import Workload
from resumption.planes.faulty.fault import Fault
from resumption.planes.faulty.passing import PassingInstruments
from resumption.planes.interface import Instruments, Run, Store, TaskSpan
from resumption.planes.reference.rules import Refusal, Rules
from resumption.planes.reference.tampering import lose_leases, tamper

__all__ = ["FAULT", "lose_leases", "open_run", "tamper"]


@dataclass(frozen=True, slots=True)
class _Listening(PassingInstruments):
    """Instruments of a run that, before each effect, passes the gate for every decision that came late."""

    running: list[str] = field(default_factory=list)
    late: list[Refusal] = field(default_factory=list)

    @contextmanager
    def task(self, name: str, trail: Json) -> Iterator[TaskSpan]:
        """Bracket the body of a task, in which decisions are heard."""
        self.running.append(name)
        try:
            with self.instruments.task(name, trail) as span:
                yield span
        finally:
            self.running.remove(name)

    def fire(self, effect: str, *, task: str, value: Json) -> None:
        """Fire an external effect, behind those of the gate for which a decision came."""
        while self.late:
            _pass_again(self.late.pop(0), self.instruments)
        self.instruments.fire(effect, task=task, value=value)


def _pass_again(refusal: Refusal, instruments: Instruments) -> None:
    gate, decision = refusal.gate, refusal.decision
    if gate is not None:
        instruments.consume(gate.name, decision.target, decision.value)
        for effect in gate.effects:
            instruments.fire(effect.name, task=gate.name, value=decision.value)


def _hear(refusal: Refusal) -> None:
    instruments = refusal.instruments
    if not isinstance(instruments, _Listening) or not instruments.running:
        raise refusal.error
    instruments.late.append(refusal)


FAULT = Fault(
    name="late-decision",
    module=__name__,
    footprint=frozenset({Property.CONSUME_ONCE_COUNT, Property.CONSUME_ONCE_EFFECTS}),
    rules=Rules(refuse=_hear),
)


def open_run(workload: Workload, store: Store, instruments: Instruments) -> Run:
    """Open a run that hears decisions while it is live."""
    return FAULT.open_run(workload, store, _Listening(instruments))
