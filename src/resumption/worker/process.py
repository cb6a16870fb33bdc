"""One process of a protocol: serves operations on a run until it is told to exit, or dies where its fault says."""

from __future__ import annotations

import importlib
import os
import socket
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from resumption.history.events import (
    Deliver,
    Inspect,
    Intent,
    Json,
    Park,
    Past,
    Pending,
    Raise,
    Recover,
    Return,
    Start,
    State,
)
from resumption.history.ndjson import Appender, decode_workload, jsonable
from resumption.planes.interface import (
    Address,
    Completed,
    Copyable,
    Decision,
    Failed,
    Handle,
    Historic,
    OpenRun,
    Outcome,
    Parked,
    Run,
    Store,
)
from resumption.worker import oracle
from resumption.worker.channel import Channel
from resumption.worker.faults import Fault, Mode
from resumption.worker.instruments import WorkerInstruments
from resumption.worker.namespace import join_namespace

__all__ = ["serve", "serve_descriptor"]


def serve(sock: socket.socket) -> None:
    """Serve the operations that arrive on `sock` until the other side closes it."""
    # A child of the program's own must not keep the channel open: its end is how the harness sees this process die.
    os.register_at_fork(after_in_child=sock.close)
    channel = Channel(sock)
    message = channel.receive()
    if message is None:
        return
    if message["namespace"]:
        join_namespace(Path(message["namespace"]))
    if message["do"] == "tamper":
        _adapter(message).tamper(_store(message))
        channel.send({})
        return
    if message["do"] == "lose-leases":
        channel.send({"leases": _adapter(message).lose_leases(_store(message))})
        return
    worker = _Worker(message)
    channel.send({})
    while (message := channel.receive()) is not None:
        if message.pop("hold", False):
            channel.send({"ready": True})
            if channel.receive() is None:
                return
        match message["do"]:
            case "race":
                channel.send(worker.race(message["racers"]))
            case "overlap":
                channel.send(worker.overlap(message["task"], message["first"], message["second"]))
            case "pause":
                channel.send(worker.pause(message["task"], message["first"], channel))
            case "beside":
                channel.send(worker.beside(message["second"], channel))
            case _:
                channel.send(worker.serve(message))


class _Worker:
    """The open run, and the instruments that it was opened with."""

    def __init__(self, message: dict[str, Any]) -> None:
        fault = message["fault"]
        self._oracle = oracle.connect(message["oracle"])
        self._instruments = WorkerInstruments(
            message["process"],
            Appender(Path(message["history"])),
            self._oracle,
            Fault(**{**fault, "mode": Mode(fault["mode"])}) if fault else None,
        )
        self._run = self._open(message)

    def _open(self, message: dict[str, Any]) -> Run:
        open_run: OpenRun = _adapter(message).open_run
        return open_run(decode_workload(message["workload"]), _store(message), self._instruments)

    def race(self, racers: list[dict[str, Any]]) -> dict[str, Any]:
        """Serve several operations on the one run at the same time, each on a thread of its own."""
        line = threading.Barrier(len(racers))

        def run(message: dict[str, Any]) -> dict[str, Any]:
            line.wait()
            return self.serve(message)

        with ThreadPoolExecutor(len(racers), thread_name_prefix="resumption-racer") as pool:
            return {"outcomes": list(pool.map(run, racers))}

    def overlap(self, task: str, first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
        """Serve the first operation and, when it is at the start of `task`, the second, on a thread of its own.

        The first goes on once the second has ended or waits for it. There is no second outcome if the first never got
        to that task.
        """
        with ThreadPoolExecutor(1, thread_name_prefix="resumption-beside") as pool:
            beside: list[Future[dict[str, Any]]] = []

            def act() -> None:
                beside.append(pool.submit(self.serve, second, beside=True))
                self._instruments.handed_over(beside[0].done)

            self._instruments.meanwhile(task, act)
            outcomes = [self.serve(first)]
            return {"outcomes": [*outcomes, *(served.result() for served in beside)]}

    def pause(self, task: str, first: dict[str, Any], channel: Channel) -> dict[str, Any]:
        """Serve an operation and, when it is at the start of `task`, say so, and wait to be told to go on."""

        def act() -> None:
            channel.send({"paused": True})
            channel.receive()

        self._instruments.meanwhile(task, act)
        return self.serve(first)

    def beside(self, second: dict[str, Any], channel: Channel) -> dict[str, Any]:
        """Serve an operation beside one that is paused in another process.

        Says before how it ended, if it can't end before that one goes on.
        """
        done = threading.Event()
        turn = threading.Lock()

        def watch() -> None:
            self._instruments.handed_over(done.is_set)
            with turn:
                if not done.is_set():
                    channel.send({"waits": True})

        watcher = threading.Thread(target=watch, name="resumption-watch")
        watcher.start()
        answer = self.serve(second)
        with turn:
            done.set()
        watcher.join()
        return answer

    def serve(self, message: dict[str, Any], *, beside: bool = False) -> dict[str, Any]:
        """Serve one operation and say how it ended. A racer sets out after its delay, and says that it does."""
        self._instruments.serve(message["operation"], message["branch"], beside=beside)
        if "delay" in message:
            time.sleep(message["delay"])
            self._oracle.arrive(str(message["operation"]))
        answer = self._served(message)
        self._instruments.settle()
        return answer

    def _served(self, message: dict[str, Any]) -> dict[str, Any]:
        match message["do"]:
            case "start":
                self._instruments.record(Start, value=message["value"])
                return self._ended(self._run.start(message["value"]))
            case "deliver":
                return self._deliver(message)
            case "recover":
                self._instruments.record(Recover, form=message["form"], value=message["value"])
                return self._ended(self._run.recover(message["form"]))
            case "inspect":
                return self._inspect()
            case "past":
                past = cast("Historic", self._run).past_states()
                self._instruments.record(Past, trails=tuple(jsonable(trail) for trail in past.trails), error=past.error)
                return {}
            case "address":
                address = self._run.address()
                return {"checkpoint": address.checkpoint, "requests": dict(address.requests)}
            case "copy":
                return {"sha256": cast("Copyable", self._run).copy_store(Path(message["to"]))}
            case "reopen":
                self._run.close()
                self._run = self._open(message)
                return {}
            case "close":
                self._run.close()
                return {}
            case other:
                raise RuntimeError(f"a worker process can't {other!r}")

    def _deliver(self, message: dict[str, Any]) -> dict[str, Any]:
        decision = Decision(
            value=message["value"],
            target=message["target"],
            address=Address(**message["address"]),
            form=message["form"],
            intent=Intent(message["intent"]),
            delivery=message["delivery"],
            answers=message.get("answers", {}),
        )
        self._record_delivery(decision.delivery, decision.target, decision.value, decision)
        for target, value in decision.answers.items():
            # What an interrupt may consume is one decision, so that each is a delivery of its own in a history.
            self._record_delivery(f"{decision.delivery}+{target}", target, value, decision)
        return self._ended(self._run.deliver(decision))

    def _record_delivery(self, name: str, target: str, value: Json, decision: Decision) -> None:
        self._instruments.record(
            Deliver, intent=decision.intent, form=decision.form, delivery=name, value=value, target=target
        )

    def _ended(self, handle: Handle) -> dict[str, Any]:
        outcome: Outcome = handle.wait()
        match outcome:
            case Parked(pending):
                self._instruments.record(Park, pending=pending)
                return {"outcome": "parked", "pending": _pending(pending)}
            case Completed(trail):
                self._instruments.record(Return, trail=jsonable(trail))
                return {"outcome": "completed", "trail": jsonable(trail)}
            case Failed(error, message):
                self._instruments.record(Raise, error=error, message=message)
                return {"outcome": "failed", "error": error, "message": message}

    def _inspect(self) -> dict[str, Any]:
        self._instruments.record(Inspect)
        try:
            snapshot = self._run.inspect()
        except Exception as error:
            # Inspection that raises is a finding, not a failure of the harness.
            self._instruments.record(Raise, error=type(error).__name__, message=str(error))
            return {"outcome": "failed", "error": type(error).__name__, "message": str(error)}
        self._instruments.record(
            State, trail=jsonable(snapshot.trail), pending=snapshot.pending, finished=snapshot.finished
        )
        return {
            "outcome": "state",
            "trail": jsonable(snapshot.trail),
            "pending": _pending(snapshot.pending),
            "finished": snapshot.finished,
        }


def _adapter(message: dict[str, Any]) -> Any:
    return importlib.import_module(message["adapter"])


def _store(message: dict[str, Any]) -> Store:
    return Store(message["backend"], Path(message["store"]), message["thread"], message["database"])


def _pending(pending: tuple[Pending, ...]) -> list[dict[str, Any]]:
    return [asdict(item) for item in pending]


def serve_descriptor(descriptor: int) -> None:
    """Serve the socket that the harness handed over: the whole life of a process that was spawned, not forked."""
    serve(socket.socket(fileno=descriptor))
