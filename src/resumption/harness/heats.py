"""One heat of a race: k racers at one run, let go at the same time, and what came of it.

A heat is a stimulus and a count. Who wins depends on the machine, so that nothing here judges: the figures are
frequencies as observed, and the contract's own races are among the probes.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from resumption.errors import WorkerLost
from resumption.harness.lab import Lab
from resumption.harness.network import Hosts
from resumption.harness.process import Died, Process, Seat
from resumption.harness.trials import Trial
from resumption.history.events import Consume, Deliver, Intent, Recover
from resumption.history.history import History
from resumption.history.workload import Effect, Interrupt, Task, Work, Workload
from resumption.planes.interface import Address, Capability, Completed, Failed, Outcome, Parked
from resumption.worker.faults import Fault
from resumption.worker.points import task_start

__all__ = ["Contest", "Heat", "Means", "Point", "Racer", "Terms", "run_heat"]

_GATE = "approve"
_PATIENCE = 30.0
_LOOK_SECONDS = 0.002


class Contest(StrEnum):
    """What the racers do."""

    RESUME = "resume"
    """Each answers the one interrupt that a run is parked at."""
    RECOVERY = "recovery"
    """Each asks one crashed run to go on."""


class Means(StrEnum):
    """What a racer is."""

    PROCESSES = "processes"
    THREADS = "threads"
    """Threads of one process, on one opened run."""
    HOSTS = "hosts"
    """Processes with networks of their own, which reach the database through a relay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How a race is run. All of it is the same for every heat."""

    contest: Contest = Contest.RESUME
    means: Means = Means.PROCESSES
    equal: bool = False
    """Whether all racers bring the same decision."""
    late: bool = False
    """Whether the last racer starts when the others are let go: its process, its connection, its opened run."""
    one_cpu: bool = False
    """Whether all racers share one processor."""
    distinct: bool = False
    """Whether each racer has a run of its own in the same store: the control, in which every racer must fire once."""
    latency_ms: float = 0.0
    """One way, between a host and the database."""
    partition: bool = False
    """Whether the first host is cut off from the database while it is in its gate, until the others have ended."""

    def needs(self) -> tuple[Capability, ...]:
        """What a plane must have."""
        own = {
            Contest.RESUME: (Capability.GATE,),
            Contest.RECOVERY: (Capability.RECOVERY, Capability.PROCESS_DEATH),
        }[self.contest]
        apart = () if self.means is Means.THREADS else (Capability.PROCESS_DEATH, Capability.CONCURRENT_RUNS)
        return (*own, *apart)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One point of the grid, and one repetition there."""

    racers: int
    jitter_ms: float
    """Each racer waits for a random time up to this before it sets out."""
    gate_ms: float
    """How long the gated task works before its effect: the window."""
    repetition: int
    seed: int

    def delays(self, backend: str) -> list[float]:
        """The racers' delays in seconds. Every repetition and backend has a seed of its own."""
        identity = f"{self.seed} {backend} {self.racers} {self.jitter_ms} {self.gate_ms} {self.repetition}"
        chance = random.Random(identity)
        return [chance.uniform(0.0, self.jitter_ms) / 1000 for _ in range(self.racers)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Racer:
    """What one racer did. Times are in milliseconds after the first racer set out, by the effect service's clock."""

    arrived_ms: float | None
    """When it set out; None if it never did."""
    consumed: bool
    """Whether the gate received its decision."""
    fired: int
    """How many times the gated effect was committed for it."""
    fired_ms: float | None
    """When its effect was committed first."""
    outcome: str
    """How its call ended: completed, parked, died, or the name of the error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heat:
    """What came of one heat."""

    plane: str
    version: str
    path: str
    backend: str
    point: Point
    racers: tuple[Racer, ...]

    @property
    def fires(self) -> int:
        """How many times the gated effect was committed. The contract allows one, or one for each run."""
        return sum(racer.fired for racer in self.racers)

    @property
    def saturation(self) -> float:
        """Fires for each racer: 1 means that nothing held anybody back."""
        return self.fires / len(self.racers)


def run_heat(lab: Lab, terms: Terms, point: Point, version: str, hosts: Hosts | None = None) -> Heat:
    """Run one heat. Raises what a trial raises."""
    workload = _workload(terms.contest, point.gate_ms / 1000)
    with lab.trial(workload, effect_service=True) as trial:
        outcomes = _Start(lab, trial, terms, point, hosts).run()
        times = trial.times()
    history = lab.observations.pop().history  # a long race would fill the memory with histories
    return Heat(
        plane=lab.spec.name,
        version=version,
        path=lab.spec.path,
        backend=lab.backend.name,
        point=point,
        racers=_racers(history, outcomes, times),
    )


def _workload(contest: Contest, gate_seconds: float) -> Workload:
    work = (Work(gate_seconds),) if gate_seconds else ()
    asks = (Interrupt(_GATE),) if contest is Contest.RESUME else ()
    return Workload(
        (Task("a", (Effect("a"),)), Task(_GATE, (*asks, *work, Effect("charge"))), Task("b", (Effect("b"),)))
    )


class _Start:
    """The line at which the racers of one heat stand."""

    def __init__(self, lab: Lab, trial: Trial, terms: Terms, point: Point, hosts: Hosts | None) -> None:
        self._lab = lab
        self._trial = trial
        self._terms = terms
        self._hosts = hosts
        self._delays = point.delays(lab.backend.name)
        same = terms.equal
        self._values = ["yes" if same else f"decision-{number}" for number in range(1, point.racers + 1)]
        self._seats = [self._seat(number) for number in range(point.racers)]

    def run(self) -> list[Outcome | Died]:
        """Bring the run to where it is raced for, and race."""
        if self._terms.distinct:
            racers = [self._trial.process(seat=seat) for seat in self._seats]
            for racer in racers:
                racer.start()
            return self._go(racers, [racer.address() for racer in racers])
        crash = Fault(task_start(_GATE)) if self._terms.contest is Contest.RECOVERY else None
        first = self._trial.process(crash)
        first.start()
        at = first.address() if crash is None else Address()
        if self._terms.means is Means.THREADS:
            return self._go_in(self._trial.successor(first), at)
        first.close()
        early = self._seats[:-1] if self._terms.late else self._seats
        return self._go([self._trial.process(seat=seat) for seat in early], [at] * len(self._seats))

    def _go_in(self, process: Process, at: Address) -> list[Outcome | Died]:
        self._pin(process)
        if self._terms.contest is Contest.RESUME:
            process.hold_threads(self._values, target=_GATE, at=at, delays=self._delays)
        else:
            process.hold_recovering_threads(delays=self._delays)
        process.release()
        return process.outcomes()

    def _go(self, racers: list[Process], addresses: Sequence[Address]) -> list[Outcome | Died]:
        for number, racer in enumerate(racers):
            self._hold(racer, number, addresses[number])
        for racer in racers:
            racer.release()
        if self._terms.late:
            late = self._trial.process(seat=self._seats[-1])
            self._hold(late, len(racers), addresses[-1])
            late.release()
            racers.append(late)
        with self._partition(racers[0]) as others_first:
            waited = [racer.outcome() for racer in racers[1:]] if others_first else []
        rest = racers[: len(racers) - len(waited)]
        return [*(racer.outcome() for racer in rest), *waited]

    def _hold(self, racer: Process, number: int, at: Address) -> None:
        self._pin(racer)
        delay = self._delays[number]
        if self._terms.contest is Contest.RESUME:
            racer.hold_delivery(self._values[number], target=_GATE, at=at, delay=delay)
        else:
            racer.hold_recovery(delay=delay)

    def _partition(self, racer: Process) -> AbstractContextManager[bool]:
        """Cut a racer off once it is in its gate, for the block. Gives whether it did."""
        if not self._terms.partition or self._hosts is None:
            return nullcontext(False)
        _await(lambda: _in_gate(self._trial.so_far(), racer.number))
        return self._hosts.cut(0)

    def _seat(self, number: int) -> Seat:
        thread = f"run-{number + 1}" if self._terms.distinct else Seat().thread
        if self._hosts is None:
            return Seat(thread)
        host = self._hosts.host(number)
        return Seat(thread, host.namespace, host.route)

    def _pin(self, process: Process) -> None:
        if self._terms.one_cpu:
            cpu = min(os.sched_getaffinity(0))
            for task in Path(f"/proc/{process.pid}/task").iterdir():
                os.sched_setaffinity(int(task.name), {cpu})


def _in_gate(history: History, process: int) -> bool:
    return any(event.process == process and event.kind in {"consume", "raise", "return"} for event in history.events)


def _await(happened: Callable[[], bool]) -> None:
    """Wait for something in a history that another process writes, of which nothing can notify this one."""
    deadline = time.monotonic() + _PATIENCE
    while not happened():
        if time.monotonic() > deadline:
            raise WorkerLost("The first racer never came into its gate.", advice="Run again with fewer racers.")
        time.sleep(_LOOK_SECONDS)


def _racers(history: History, outcomes: Sequence[Outcome | Died], times: dict[str, int]) -> tuple[Racer, ...]:
    operations = [deliver.operation for deliver in history.of(Deliver) if deliver.intent is Intent.RACE]
    operations += [recover.operation for recover in history.of(Recover)]
    arrivals = {operation: times[str(operation)] for operation in operations if str(operation) in times}
    origin = min(arrivals.values(), default=0)
    gated: dict[int, list[float]] = {}
    for fire in history.fires():
        if fire.task == _GATE and fire.call in times:
            gated.setdefault(fire.operation, []).append((times[fire.call] - origin) / 1e6)
    consumed = {consume.operation for consume in history.of(Consume)}
    return tuple(
        Racer(
            arrived_ms=(arrivals[operation] - origin) / 1e6 if operation in arrivals else None,
            consumed=operation in consumed,
            fired=len(gated.get(operation, [])),
            fired_ms=min(gated.get(operation, []), default=None),
            outcome=_word(outcome),
        )
        for operation, outcome in zip(sorted(operations), outcomes, strict=True)
    )


def _word(outcome: Outcome | Died) -> str:
    match outcome:
        case Completed():
            return "completed"
        case Parked():
            return "parked"
        case Failed(error, _):
            return error
        case Died():
            return "died"
