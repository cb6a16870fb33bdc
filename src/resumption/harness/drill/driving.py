"""Drives a run to its end, answering each gate as it asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from resumption.harness.drill.decisions import Decisions
from resumption.harness.process import Died, Process
from resumption.history.events import Json, Pending
from resumption.planes.interface import Address, Completed, Failed, Outcome, Parked

__all__ = ["Answered", "Driver", "Stuck"]

_MOST = 200
"""Answers after which a run counts as one that makes no progress."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One decision that was handed over."""

    gate: Pending
    value: Json
    where: Address
    delivery: str
    pending: int
    """How many gates were waiting at once."""


@dataclass(frozen=True, slots=True)
class Stuck:
    """The run can't be brought to its end."""

    reason: str


@dataclass(slots=True)
class Driver:
    """Answers by the decisions, those of `instead` at the places named there (the n-th answer, from 0)."""

    decisions: Decisions
    instead: Mapping[int, Json] = field(default_factory=dict)
    answered: list[Answered] = field(default_factory=list)

    def decide(self, process: Process, outcome: Parked) -> Answered:
        """Decide on the first gate that waits, without handing it over yet."""
        place = len(self.answered)
        gate = outcome.pending[0]
        value = self.instead[place] if place in self.instead else self.decisions.answer(gate)
        decided = Answered(gate, value, process.address(), f"answer-{place + 1}", len(outcome.pending))
        self.answered.append(decided)
        return decided

    def step(self, process: Process, outcome: Parked) -> Outcome | Died:
        """Answer the first gate that waits."""
        decided = self.decide(process, outcome)
        return process.answer(decided.value, target=decided.gate.name, at=decided.where, delivery=decided.delivery)

    def until(self, process: Process, outcome: Outcome | Died, answers: int) -> Outcome | Died:
        """Go on until so many answers were given, or the run ends."""
        while isinstance(outcome, Parked) and len(self.answered) < answers:
            outcome = self.step(process, outcome)
        return outcome

    def finish(self, process: Process, outcome: Outcome | Died) -> Stuck | None:
        """Bring the run to its end, and inspect it there: an operation that fails is followed by one recovery.

        Returns why it can't be brought there, if it can't.
        """
        failures = 0
        for _ in range(_MOST):
            match outcome:
                case Parked():
                    outcome = self.step(process, outcome)
                    failures = failures if isinstance(outcome, Failed) else 0
                case Failed(error, message) if failures:
                    return Stuck(f"{error}: {message}")
                case Failed():
                    failures += 1
                    outcome = process.recover()
                case Completed():
                    return self._inspect(process)
                case Died():
                    return Stuck("the process died")
        return Stuck(f"it asks on after {_MOST} answers")

    def _inspect(self, process: Process) -> Stuck | None:
        found = process.inspect()
        return Stuck(f"{found.error}: {found.message}") if isinstance(found, Failed) else None
