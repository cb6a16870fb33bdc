"""A trial runs one protocol in real processes, and keeps its history.

A probe only does things here; nothing in this module judges. Every process that a trial started is dead and reaped, and
the oracle is read, before the trial's history can be looked at.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from resumption.harness.effects import EffectService
from resumption.harness.prefixes import Prefix, Shelf, copy_record
from resumption.harness.process import Bench, Died, Process, Seat
from resumption.harness.stores import Place, Stores
from resumption.harness.zygote import Launcher
from resumption.history.events import Crash, Drift, Durable, Exit, LeaseLoss, Oracle, Persist, Phase, Tamper
from resumption.history.history import History
from resumption.history.ndjson import Appender, encode, read_history
from resumption.history.workload import Workload
from resumption.planes.interface import Capability, Outcome, Parked
from resumption.worker import oracle
from resumption.worker.faults import INFEASIBLE, Fault, Mode

if TYPE_CHECKING:
    from resumption.harness.lab import Lab

__all__ = ["Observation", "Trial"]

_ROUNDS = 8  # decisions that `complete` gives before it says that a run makes no progress


@dataclass(frozen=True, slots=True)
class Observation:
    """The history of one trial, and what kept it from being the protocol that was meant, if anything did."""

    history: History
    problem: str = ""
    infeasible: bool = False
    """Whether a process came to rest before it could fail as it was told: this plane has no such moment."""


class Trial:
    """One protocol under way."""

    def __init__(
        self,
        lab: Lab,
        workload: Workload,
        folder: Path,
        stores: Stores,
        store: Place,
        launcher: Launcher,
        *,
        effect_service: bool = False,
        keep: bool = False,
    ) -> None:
        """`store` is an empty one; it is removed with its copies at the end, unless it is to be kept."""
        self._lab = lab
        self._workload = workload
        self._folder = folder
        self._stores = stores
        self._store = store
        self._removed: list[Place] = [] if keep else [store]
        self._history = folder / "history.ndjson"
        self._appender = Appender(self._history)
        self._appender.append(lab.header(workload))
        self._record = folder / "oracle.db"
        oracle.create(self._record)
        self._service = EffectService(folder, self._record) if effect_service else None
        self._processes: list[Process] = []
        self._numbered = 0
        self._faults: list[tuple[int, Fault]] = []
        self._problems: list[str] = []
        self._operations = 0
        self._deliveries = 0
        self._forks = 0
        self._bench = Bench(
            adapter=lab.spec.adapter,
            backend=lab.backend.name,
            history=self._history,
            oracle=self._service.location if self._service else str(self._record),
            launcher=launcher,
            form=lab.form_for,
            brings=lab.brings,
            number_operation=self._number_operation,
            name_delivery=self._name_delivery,
            number_fork=self._number_fork,
            note_exit=self._note_exit,
        )

    def process(
        self,
        fault: Fault | None = None,
        *,
        store: Place | None = None,
        workload: Workload | None = None,
        seat: Seat | None = None,
        spawned: bool = False,
    ) -> Process:
        """Start a process and open the run in it, which executes nothing. `workload` exchanges the program.

        It is a fork of the zygote or, if it is to be `spawned`, a fresh interpreter.
        """
        process = self._seated(fault, store or self._store, seat, self._lab.spawner if spawned else None)
        process.open(self._program(workload))
        return process

    def _seated(self, fault: Fault | None, store: Place, seat: Seat | None, launcher: Launcher | None) -> Process:
        number = self._number_process(fault)
        process = Process(self._bench, number, store, self._log(number), fault, seat, launcher)
        self._processes.append(process)
        return process

    def run_into(self, fault: Fault) -> tuple[Process | None, Outcome | Died]:
        """Run the program until the fault, and answer what is pending on the way: the first half of a protocol.

        Must come first. Returns how that ended, and the process; None if it is dead. Where the fault kills, the first
        half is run once for all trials that begin alike, and this one may go on from a copy of what was left.
        """
        if fault.mode is Mode.RAISE or self._service or not self._lab.spec.resumes_copies:
            return self._run(fault)
        with self._lab.prefixes.turn(self._lab.beginning(self._workload, fault)) as shelf:
            if self._take_over(shelf.prefix, fault):
                return None, Died()
            process, outcome = self._run(fault)
            if isinstance(outcome, Died):
                self._keep(shelf)
        return process, outcome

    def run_through(self) -> None:
        """Run the program without a fault from start to end, once for all trials that do. Must come first."""
        with self._lab.prefixes.turn(self._lab.beginning(self._workload, None)) as shelf:
            if not self._take_over(shelf.prefix, None):
                process = self.process()
                self.complete(process, process.start())
                process.close()
                self._keep(shelf)

    def _run(self, fault: Fault) -> tuple[Process | None, Outcome | Died]:
        process = self.process(fault)
        outcome = self.complete(process, process.start())
        return None if isinstance(outcome, Died) else process, outcome

    def _keep(self, shelf: Shelf) -> None:
        """Keep what the first process of this trial left, which is over: a copy, so that it stays as it is."""
        if shelf.prefix is not None:
            return  # it was there, and this store could not be made like it
        shelf.folder.mkdir(parents=True)
        copy_record(self._record, shelf.folder)
        log = self._log(self._numbered)
        if log.exists():
            shutil.copyfile(log, shelf.folder / log.name)
        header = encode(self._lab.header(self._workload))
        shelf.prefix = Prefix(
            folder=shelf.folder,
            store=self._stores.keep(self._store, shelf.folder / "store"),
            events=self._history.read_bytes().removeprefix(header),
            operations=self._operations,
            deliveries=self._deliveries,
        )

    def _take_over(self, prefix: Prefix | None, fault: Fault | None) -> bool:
        """Go on behind a first half that another trial ran; False if that can't be, and nothing was done."""
        if prefix is None:
            return False
        if not self._stores.refill(self._store, prefix.store):
            self._store = self.new_store("own-store")
            return False
        copy_record(prefix.folder / self._record.name, self._folder)
        log = self._log(self._number_process(fault))
        if (prefix.folder / log.name).exists():
            shutil.copyfile(prefix.folder / log.name, log)
        with self._history.open("ab") as history:
            history.write(prefix.events)
        self._operations, self._deliveries = prefix.operations, prefix.deliveries
        return True

    def _number_process(self, fault: Fault | None) -> int:
        self._numbered += 1
        if fault is not None:
            self._faults.append((self._numbered, fault))
        return self._numbered

    def _log(self, process: int) -> Path:
        return self._folder / f"process-{process}.log"

    def successor(self, process: Process, *, workload: Workload | None = None) -> Process:
        """The side that comes after `process`: a new one, or the same where state dies with its process.

        `workload` exchanges the program.
        """
        if not self._lab.has(Capability.PROCESS_DEATH):
            process.reopen(self._program(workload))
            return process
        process.close()
        return self.process(workload=workload)

    def tamper(self) -> None:
        """Alter the run's newest durable state, in a process of its own; no process may have the run open."""
        self._seated(None, self._store, None, None).tamper(self._workload)
        self._appender.append(Tamper(process=0))

    def lose_leases(self) -> None:
        """Have the executors of the run, who live, lose their leases. Without any, the trial can tell nothing."""
        leases = self._seated(None, self._store, None, None).lose_leases(self._workload)
        self._appender.append(LeaseLoss(process=0, leases=leases))
        if not leases:
            self._problems.append("no executor had a lease that it could lose")

    def note_content(self) -> None:
        """Record the digest of what is durable, where it outlives a process. No operation may be under way."""
        if self._lab.has(Capability.PROCESS_DEATH):
            self._appender.append(Durable(process=0, of="store", sha256=self._stores.content_digest(self._store)))

    def complete(self, process: Process, outcome: Outcome | Died, value: str = "yes") -> Outcome | Died:
        """Answer what is pending, in turn, until the run ends, fails, dies, or makes no progress."""
        for _ in range(_ROUNDS):
            if not isinstance(outcome, Parked) or not outcome.pending:
                break
            outcome = process.answer(value, target=outcome.pending[0].name)
        return outcome

    def new_store(self, name: str) -> Place:
        """Make another, empty store beside the run's own, for a second run."""
        place = self._lab.make_store(self._folder / name)
        self._removed.append(place)
        return place

    def copy_store(self, name: str) -> Place:
        """Copy the run's store, byte for byte, and record the copy's digest; no process may have the store open."""
        copy = self._stores.copy(self._store, self._folder / name)
        self._removed.append(copy)
        self._appender.append(Durable(process=0, of=name, sha256=self._stores.copy_digest(copy)))
        return copy

    def race(self, racers: Sequence[Process], values: Sequence[str], *, target: str) -> list[Outcome | Died]:
        """Deliver one decision from each process at the same time, and wait for all."""
        for racer, value in zip(racers, values, strict=True):
            racer.hold_delivery(value, target=target)
        for racer in racers:
            racer.release()
        return [racer.outcome() for racer in racers]

    def copy_inside(self, process: Process, name: str) -> Place:
        """Have a process copy its run's store, and record the copy's digest."""
        copy = self.new_store(name)
        self._appender.append(Durable(process=0, of=name, sha256=process.copy_store(copy)))
        return copy

    def reopen_at(self, process: Process, store: Place) -> None:
        """Open the run of another store in a process that has one open."""
        process.store = store
        process.reopen(self._workload)

    def times(self) -> dict[str, int]:
        """When racers set out, by the number of their operation, and when effects were committed, by their call.

        In nanoseconds of the effect service's clock; nothing without that service.
        """
        return self._service.times() if self._service else {}

    def so_far(self) -> History:
        """The history up to now, while processes are at work."""
        return read_history(self._history)

    def finish(self) -> Observation:
        """End all processes, read the oracle, and return the history."""
        for process in self._processes:
            process.close()
        if self._service:
            self._service.stop()
        self._appender.append(Oracle(process=0, fired=oracle.fired(self._record)))
        history = read_history(self._history)
        problems = (_problem(history, number, fault) for number, fault in self._faults)
        infeasible = any(crash.point.endswith(INFEASIBLE) for crash in history.of(Crash))
        return Observation(history, "; ".join(filter(None, (*self._problems, *problems))), infeasible)

    def abandon(self) -> None:
        """Kill what still runs. Harmless after `finish`."""
        for process in self._processes:
            process.kill()
        if self._service:
            self._service.stop()
        self._appender.close()
        while self._removed:
            self._stores.remove(self._removed.pop())

    def _program(self, changed: Workload | None) -> Workload:
        """The program to open the run with; one that is exchanged for it goes on record."""
        if changed is None:
            return self._workload
        self._appender.append(Drift(process=0, workload=changed))
        return changed

    def _number_operation(self) -> int:
        self._operations += 1
        return self._operations

    def _name_delivery(self) -> str:
        self._deliveries += 1
        return f"d{self._deliveries}"

    def _number_fork(self) -> int:
        self._forks += 1
        return self._forks

    def _note_exit(self, process: int, status: int) -> None:
        if status < 0:
            (store,) = (each.store for each in self._processes if each.number == process)
            self._stores.settle(store, process)
        self._appender.append(Exit(process=0, who=process, code=max(status, 0), signal=max(-status, 0)))


def _problem(history: History, number: int, fault: Fault) -> str:
    """Why a process didn't fail as it was told; empty if it did. A frozen prefix is counted again here."""
    if all(crash.process != number for crash in history.of(Crash)):
        return f"process {number} never came to {fault.name}"
    ends = (end for end in history.of(Persist) if end.process == number and end.phase is Phase.END)
    durable = sum(1 for _ in ends)
    if fault.mode in (Mode.FREEZE, Mode.PIN) and durable != fault.durable:
        return f"process {number} made {durable} storage operations durable, not {fault.durable}"
    return ""
