"""A bench for the reference plane in one process: instruments that count, and stop an operation as a kill would."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from resumption.history.events import Intent, Json
from resumption.history.workload import Effect, Interrupt, Task, Workload
from resumption.planes.interface import Address, Decision, Store
from resumption.planes.reference.adapter import ReferenceRun
from resumption.planes.reference.rules import REFERENCE, Rules

PAYMENT = Workload(
    (
        Task("reserve", (Effect("reserve"),)),
        Task("pay", (Effect("notify"), Interrupt("approve"), Effect("charge"))),
        Task("ship", (Effect("ship"),)),
    )
)
"""An effect, a gate with an effect on either side of its interrupt, and an effect."""

TWO_QUESTIONS = Workload((Task("ask", (Interrupt("first"), Effect("between"), Interrupt("second"), Effect("last"))),))
"""One task that asks twice."""


class Killed(BaseException):
    """The process is gone, as far as the plane can tell."""


@dataclass(slots=True)
class Bench:
    """Instruments that count effects and consumptions, and die at a point."""

    kill_at: str | int = ""
    """The point's name, or its number."""
    fired: Counter[tuple[str, Json]] = field(default_factory=Counter)
    consumed: list[tuple[str, Json]] = field(default_factory=list)
    started: list[tuple[str, Json]] = field(default_factory=list)
    points: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def pass_by(self, point: str) -> None:
        with self.lock:
            self.points.append(point)
            number = len(self.points)
        if self.kill_at in (point, number):
            raise Killed(point)

    @contextmanager
    def task(self, name: str, trail: Json) -> Iterator[Bench]:
        self.started.append((name, trail))
        self.pass_by(f"task:{name}")
        yield self

    def wrote(self, write: Json) -> None:
        """The trail is asked of the plane instead."""

    def consume(self, task: str, interrupt: str, value: Json) -> None:
        with self.lock:
            self.consumed.append((interrupt, value))

    def fire(self, effect: str, *, task: str, value: Json) -> None:
        self.pass_by(f"before:{effect}")
        with self.lock:
            self.fired[effect, value] += 1
        self.pass_by(f"after:{effect}")

    def work(self, seconds: float) -> None:
        """No workload here is slow."""

    @contextmanager
    def persist(self, name: str, covers: Sequence[str] = ()) -> Iterator[None]:
        self.pass_by(f"begin:{name}:{','.join(covers)}")
        yield
        self.pass_by(f"end:{name}:{','.join(covers)}")

    def count(self, effect: str) -> int:
        """How often an effect has fired, with whatever decision."""
        return sum(times for (name, _), times in self.fired.items() if name == effect)


@dataclass(frozen=True, slots=True)
class Plane:
    """One store, and any number of processes on it."""

    folder: Path
    workload: Workload = PAYMENT
    rules: Rules = REFERENCE

    def run(self, bench: Bench) -> ReferenceRun:
        """Open the run in a new process."""
        return ReferenceRun(self.workload, Store("sqlite", self.folder), bench, self.rules)


def decision(
    value: Json, address: Address, *, target: str = "approve", form: str = "answer", name: str = ""
) -> Decision:
    """A delivery; its name is made of what it says unless one is given."""
    delivery = name or f"{form}/{target}/{value}"
    return Decision(value=value, target=target, address=address, form=form, intent=Intent.ANSWER, delivery=delivery)
