"""A worker process as a protocol sees it: operations that return how they ended, `Died` included."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from resumption.contract.judges.branches import MAIN
from resumption.errors import WorkerLost
from resumption.harness.stores import Place
from resumption.harness.zygote import Launcher
from resumption.history.events import Intent, Json, Pending
from resumption.history.ndjson import encode_workload
from resumption.history.workload import Workload
from resumption.planes.interface import Address, Completed, Failed, Operation, Outcome, Parked, Snapshot
from resumption.worker.faults import Fault

__all__ = ["Bench", "Died", "Process", "Seat"]

_OPERATION_SECONDS = 60.0
_OPENING_SECONDS = 180.0  # a process that isn't a fork imports its framework first
_INPUT: Json = {"trail": []}


@dataclass(frozen=True, slots=True)
class Died:
    """The process was killed while it served the operation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What the processes of one trial share."""

    adapter: str
    backend: str
    history: Path
    oracle: str
    launcher: Launcher
    form: Callable[[Operation], str]
    """The resume form to use for an operation."""
    brings: Json
    """The decision that recoveries hand over as well; None if they hand over none."""
    number_operation: Callable[[], int]
    name_delivery: Callable[[], str]
    number_fork: Callable[[], int]
    note_exit: Callable[[int, int], None]
    """Told each process's number and status when it was reaped."""


@dataclass(frozen=True, slots=True)
class Seat:
    """Where a process works: the durable identity of its run, and its host as far as the network is concerned."""

    thread: str = "run"
    namespace: str = ""
    """The path of the network namespace to join; empty for the harness's own."""
    route: str = ""
    """What to change in the connection string, so that it leads to the server from there."""


class Process:
    """One worker process. Only the thread that runs its trial may use it."""

    def __init__(
        self,
        bench: Bench,
        number: int,
        store: Place,
        log: Path,
        fault: Fault | None = None,
        seat: Seat | None = None,
        launcher: Launcher | None = None,
    ) -> None:
        """`launcher` starts this process in place of the one that the bench's processes share."""
        self.number = number
        self.fault = fault
        self.branch = MAIN
        self.store = store
        self._bench = bench
        self._log = log
        self._seat = seat or Seat()
        self._threads = 0
        self._alive = True
        self._launcher = launcher or bench.launcher
        self._launched = self._launcher.launch(log)

    def open(self, workload: Workload) -> None:
        """Open the run of a program, which executes nothing. Must come first, and once."""
        if self._ask(self._opening("open", workload), _OPENING_SECONDS) is None:
            raise self._lost("died while it opened its run")

    def tamper(self, workload: Workload) -> None:
        """Alter the run's newest durable state, instead of opening the run, and end."""
        if self._ask(self._opening("tamper", workload), _OPENING_SECONDS) is None or self._reap() != 0:
            raise self._lost("died while it altered the store")

    def lose_leases(self, workload: Workload) -> int:
        """Take every lease of the run from its holder, instead of opening the run, and end; how many there were."""
        said = self._ask(self._opening("lose-leases", workload), _OPENING_SECONDS)
        if said is None or self._reap() != 0:
            raise self._lost("died while it took the leases of a run")
        return int(said["leases"])

    def reopen(self, workload: Workload) -> None:
        """Open the run again in the same process, as after its objects were dropped."""
        if self._ask(self._numbered(self._opening("reopen", workload))) is None:
            raise self._lost("died while it opened its run again")

    def copy_store(self, to: Place) -> str:
        """Have the process copy its run's store to an empty place; the SHA-256 of what was copied."""
        said = self._ask(self._numbered({"do": "copy", "to": str(to.folder)}))
        if said is None:
            raise self._lost("died while it copied its store")
        return str(said["sha256"])

    def start(self, value: Json = _INPUT) -> Outcome | Died:
        """Start the run, with the input that every workload has unless another is given: an empty trail."""
        return self._operate({"do": "start", "value": value})

    def answer(
        self,
        value: Json,
        *,
        target: str,
        intent: Intent = Intent.ANSWER,
        delivery: str = "",
        at: Address | None = None,
        answers: Mapping[str, Json] | None = None,
    ) -> Outcome | Died:
        """Deliver a decision for the interrupt called `target`: where it is pending now, or at an address kept before.

        `delivery` is given to repeat a delivery that was made before. `answers` are for further interrupts, by name.
        """
        message = self._delivery(value, target, intent, at or self.address(), delivery)
        return self._operate({**message, "answers": dict(answers or {})})

    def fork(self, value: Json, *, target: str, at: Address) -> Outcome | Died:
        """Deliver another decision, with fork intent, where the interrupt was pending. It opens a branch of its own."""
        self.branch = f"{MAIN}.{self._bench.number_fork()}"
        message = self._delivery(value, target, Intent.FORK, at)
        message["form"] = self._bench.form(Operation.FORK)
        return self._operate(message)

    def recover(self) -> Outcome | Died:
        """Ask for the recovery of a crashed run."""
        return self._operate(self._recovery())

    def inspect(self) -> Snapshot | Failed | Died:
        """Ask the public inspection API."""
        match self._ask(self._numbered({"do": "inspect"})):
            case None:
                return Died()
            case {"outcome": "failed", "error": error, "message": message}:
                return Failed(error, message)
            case said:
                return Snapshot(said["trail"], _pending(said), said["finished"])

    def note_past_states(self) -> None:
        """Record what the API for past states lists; only planes that have one may be asked."""
        self._ask(self._numbered({"do": "past"}))

    def address(self) -> Address:
        """Ask where decisions can be sent now. Nothing is recorded."""
        said = self._ask(self._numbered({"do": "address"}))
        return Address(said["checkpoint"], said["requests"]) if said else Address()

    def answer_twice(self, first: Json, second: Json, *, target: str, at: Address, during: str) -> None:
        """Deliver a decision and, when the run is at the start of the task `during`, another one without fork intent.

        The second comes from a second thread of this process. The run goes on once it was taken, refused, or waits. It
        is never sent if the run doesn't get to that task.
        """
        self._ask(
            {
                "do": "overlap",
                "task": during,
                "first": self._numbered(self._delivery(first, target, Intent.ANSWER, at)),
                "second": self._numbered(self._delivery(second, target, Intent.STRAY, at)),
            }
        )

    def answer_and_pause(self, value: Json, *, target: str, at: Address, during: str) -> bool:
        """Deliver a decision, and have the run wait at the start of the task `during`; False if it ended before."""
        return self._pause(self._delivery(value, target, Intent.ANSWER, at), during)

    def answer_beside(self, value: Json, *, target: str, at: Address, paused: Process) -> None:
        """Deliver a decision without fork intent while the run is paused in another process, which then goes on."""
        said = self._ask({"do": "beside", "second": self._numbered(self._delivery(value, target, Intent.STRAY, at))})
        paused.release()
        paused.outcome()
        if said and "waits" in said:
            self.outcome()

    def recover_and_pause(self, *, during: str) -> bool:
        """Ask for a recovery, and have the run wait at the start of the task `during`; False if it ended before.

        A paused run goes on once it is released; how it ended is then its `outcome`.
        """
        return self._pause(self._recovery(), during)

    def recover_beside(self) -> Outcome | Died | None:
        """Ask for a recovery while the run is paused in another process; None if it waits for that one to go on."""
        said = self._ask({"do": "beside", "second": self._numbered(self._recovery())})
        return None if said and "waits" in said else _outcome(said)

    def hold_delivery(self, value: Json, *, target: str, at: Address | None = None, delay: float | None = None) -> None:
        """Send a racing delivery, and have the process wait at the line until it is released.

        With a `delay`, in seconds, it waits that long once it is released, and says when it sets out.
        """
        self._hold(self._racing_delivery(value, target, at or self.address(), delay))

    def hold_recovery(self, *, delay: float | None = None) -> None:
        """Send a racing recovery, and have the process wait at the line until it is released; as for a delivery."""
        self._hold(self._racing_recovery(delay))

    def hold_threads(self, values: Sequence[str], *, target: str, at: Address, delays: Sequence[float]) -> None:
        """Send racing deliveries for as many threads of the process, and have it wait at the line."""
        pairs = zip(values, delays, strict=True)
        self._hold_line([self._racing_delivery(value, target, at, delay) for value, delay in pairs])

    def hold_recovering_threads(self, *, delays: Sequence[float]) -> None:
        """Send racing recoveries for as many threads of the process, and have it wait at the line."""
        self._hold_line([self._racing_recovery(delay) for delay in delays])

    def release(self) -> None:
        """Let a held process go."""
        self._launched.channel.send({"do": "go"})

    def outcome(self) -> Outcome | Died:
        """Wait for how a released operation ended."""
        return _outcome(self._receive())

    def outcome_within(self, seconds: float) -> Outcome | Died | None:
        """How a released operation ended; None if it is still under way after so long, and its `outcome` to come."""
        try:
            said = self._launched.channel.receive(seconds)
        except TimeoutError:
            return None
        if said is None:
            self._note_death()
        return _outcome(said)

    def outcomes(self) -> list[Outcome | Died]:
        """Wait for how the operations of released threads ended."""
        said = self._receive()
        return [_outcome(one) for one in said["outcomes"]] if said else [Died()] * self._threads

    @property
    def pid(self) -> int:
        """The process's identity in the operating system."""
        return self._launched.pid

    def stop(self) -> None:
        """SIGSTOP the process, wherever it is. It must live, and have said last that it is held or paused."""
        os.kill(self.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        """Let a stopped process go on."""
        os.kill(self.pid, signal.SIGCONT)

    def kill(self) -> None:
        """SIGKILL the process, wherever it is, and reap it. Harmless if it is dead."""
        if self._alive:
            self._launcher.kill(self._launched.pid)
            self._reap()

    def close(self) -> None:
        """Let the process end by itself. Harmless if it is dead."""
        if self._alive and self._ask(self._numbered({"do": "close"})) is not None:
            self._launched.channel.close()
            if self._reap() != 0:
                raise self._lost("failed at its end")

    def _opening(self, do: str, workload: Workload) -> dict[str, Any]:
        return {
            "do": do,
            "process": self.number,
            "adapter": self._bench.adapter,
            "backend": self._bench.backend,
            "store": str(self.store.folder),
            "database": " ".join(filter(None, (self.store.connection(self.number), self._seat.route))),
            "thread": self._seat.thread,
            "namespace": self._seat.namespace,
            "history": str(self._bench.history),
            "oracle": self._bench.oracle,
            "workload": encode_workload(workload),
            "fault": asdict(self.fault) if self.fault else None,
        }

    def _delivery(self, value: Json, target: str, intent: Intent, at: Address, delivery: str = "") -> dict[str, Any]:
        return {
            "do": "deliver",
            "value": value,
            "target": target,
            "address": {"checkpoint": at.checkpoint, "requests": dict(at.requests)},
            "form": self._bench.form(Operation.DELIVER),
            "intent": intent.value,
            "delivery": delivery or self._bench.name_delivery(),
        }

    def _recovery(self) -> dict[str, Any]:
        return {"do": "recover", "form": self._bench.form(Operation.RECOVER), "value": self._bench.brings}

    def _pause(self, message: dict[str, Any], during: str) -> bool:
        said = self._ask({"do": "pause", "task": during, "first": self._numbered(message)})
        return bool(said and "paused" in said)

    def _racing_delivery(self, value: Json, target: str, at: Address, delay: float | None) -> dict[str, Any]:
        return self._racing(self._delivery(value, target, Intent.RACE, at), delay)

    def _racing_recovery(self, delay: float | None) -> dict[str, Any]:
        return self._racing(self._recovery(), delay)

    def _racing(self, message: dict[str, Any], delay: float | None) -> dict[str, Any]:
        numbered = self._numbered(message)
        return numbered if delay is None else {**numbered, "delay": delay}

    def _hold_line(self, racers: Sequence[dict[str, Any]]) -> None:
        self._threads = len(racers)
        self._hold({"do": "race", "racers": racers})

    def _hold(self, message: dict[str, Any]) -> None:
        if self._ask({**message, "hold": True}) is None:
            raise self._lost("died before the race")

    def _numbered(self, message: dict[str, Any]) -> dict[str, Any]:
        return {**message, "operation": self._bench.number_operation(), "branch": self.branch}

    def _operate(self, message: dict[str, Any]) -> Outcome | Died:
        return _outcome(self._ask(self._numbered(message)))

    def _ask(self, message: dict[str, Any], seconds: float = _OPERATION_SECONDS) -> dict[str, Any] | None:
        if not self._alive:
            return None
        try:
            self._launched.channel.send(message)
        except OSError:
            self._note_death()
            return None
        return self._receive(seconds)

    def _receive(self, seconds: float = _OPERATION_SECONDS) -> dict[str, Any] | None:
        try:
            said = self._launched.channel.receive(seconds)
        except TimeoutError as error:
            self.kill()
            raise self._lost(f"was still busy after {seconds:.0f} s, and was killed") from error
        if said is None:
            self._note_death()
        return said

    def _note_death(self) -> None:
        if self._reap() >= 0 or self.fault is None:
            raise self._lost("ended, and nothing had asked it to")

    def _reap(self) -> int:
        self._alive = False
        self._launched.channel.close()
        status = self._launcher.reap(self._launched.pid)
        self._bench.note_exit(self.number, status)
        return status

    def _lost(self, how: str) -> WorkerLost:
        said = self._log.read_text(errors="replace").strip()[-600:] if self._log.exists() else ""
        return WorkerLost(
            f"Process {self.number} {how}.",
            advice=f"Look into it with --keep DIR. Its log ends with: {said or '(nothing)'}",
        )


def _outcome(said: dict[str, Any] | None) -> Outcome | Died:
    match said:
        case None:
            return Died()
        case {"outcome": "parked"}:
            return Parked(_pending(said))
        case {"outcome": "completed", "trail": trail}:
            return Completed(trail)
        case {"outcome": "failed", "error": error, "message": message}:
            return Failed(error, message)
        case _:
            raise WorkerLost(f"A worker said {said!r:.200}.", advice="The adapter and the harness are out of step.")


def _pending(said: dict[str, Json]) -> tuple[Pending, ...]:
    return tuple(Pending(**item) for item in said["pending"])
