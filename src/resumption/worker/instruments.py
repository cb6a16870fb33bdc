"""The instruments that a worker gives to an adapter: they record, fire effects, and pass the kill points."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from resumption.history.events import (
    Consume,
    Crash,
    EffectBegin,
    EffectEnd,
    Event,
    Json,
    Persist,
    Phase,
    TaskEnd,
    TaskStart,
)
from resumption.history.ndjson import Appender, jsonable
from resumption.planes.submission import Order
from resumption.worker import points
from resumption.worker.faults import Fault, Faults
from resumption.worker.oracle import Oracle
from resumption.worker.quiescence import Quiescence

__all__ = ["WorkerInstruments"]


_HANDED_OVER_SECONDS = 2.0
"""How long to look for rest where something polls, so that there is none: the moment then is a little less exact."""


class _Span:
    """An open task: remembers what the task said it wrote."""

    def __init__(self) -> None:
        self.write: Json = None

    def wrote(self, write: Json) -> None:
        self.write = write


class WorkerInstruments:
    """Implements `planes.interface.Instruments` for one process.

    `serve` sets the operation and branch that events carry, for the calling thread and for every thread and task that
    inherits its context, as those of a framework do. What a thread without a context records belongs to the operation
    that was served last.
    """

    def __init__(self, process: int, appender: Appender, oracle: Oracle, fault: Fault | None) -> None:
        self._process = process
        self._appender = appender
        self._oracle = oracle
        self._recorded = 0
        self._quiescence = Quiescence(lambda: self._recorded)
        self._faults = Faults(fault, lambda point: self.record(Crash, point=point), self._quiescence)
        self._lock = threading.Lock()
        self._calls = 0
        self._returned = 0
        self._order = Order()
        self._latest = (0, "")
        self._meanwhile: dict[str, Callable[[], None]] = {}
        self._served: ContextVar[tuple[int, str]] = ContextVar("served")

    def serve(self, operation: int, branch: str, *, beside: bool = False) -> None:
        """Begin an operation: events of this context are its from now on.

        One that is served `beside` another leaves to that one what threads without a context record.
        """
        self._faults.heal()
        self._served.set((operation, branch))
        self._order.follow()
        if not beside:
            self._latest = (operation, branch)

    def meanwhile(self, task: str, act: Callable[[], None]) -> None:
        """Have the next run of `task` wait at its start until `act` has returned, which is called in its thread."""
        self._meanwhile[task] = act

    def handed_over(self, done: Callable[[], bool]) -> None:
        """Return once an operation beside this thread is done, or can't go on before this thread does."""
        self._quiescence.wait(done, seconds=_HANDED_OVER_SECONDS)

    def settle(self) -> None:
        """Return, unless this process is to die before it may answer for the operation that it served."""
        self._faults.settle()

    def record(self, kind: type[Event], **fields: Any) -> None:
        """Append an event of this process, in the operation that it serves."""
        self._recorded += 1
        operation, branch = self._served.get(self._latest)
        self._appender.append(kind(process=self._process, operation=operation, branch=branch, **fields))

    @contextmanager
    def task(self, name: str, trail: Json) -> Iterator[_Span]:
        """Bracket a task's body. A body left by an exception has no end."""
        self.record(TaskStart, task=name, trail=jsonable(trail))
        if act := self._meanwhile.pop(name, None):
            act()
        self._faults.reach(points.task_start(name))
        span = _Span()
        yield span
        self.record(TaskEnd, task=name, write=jsonable(span.write))

    def consume(self, task: str, interrupt: str, value: Json) -> None:
        """Record that a gate received a decision."""
        self.record(Consume, task=task, interrupt=interrupt, value=jsonable(value))
        self._faults.reach(points.consumed(interrupt))

    def fire(self, effect: str, *, task: str, value: Json) -> None:
        """Fire an effect between the two events that bracket it."""
        with self.effect(effect, task=task, value=value):
            pass

    @contextmanager
    def effect(self, effect: str, *, task: str, value: Json) -> Iterator[None]:
        """Fire an effect that is a call of the program's own, in the block: its row is committed when that returned."""
        with self._lock:
            self._calls += 1
            call = f"p{self._process}-{self._calls}"
        self.record(EffectBegin, call=call, effect=effect, task=task, value=jsonable(value))
        self._faults.reach(points.effect_before(effect))
        with self._quiescence.busy():
            yield
            self._oracle.fire(call, effect, jsonable(value))
        with self._lock:
            self._returned += 1
            self.record(EffectEnd, call=call, count=self._returned)
        self._faults.reach(points.effect_after(effect))

    def fired(self, effect: str, key: str) -> bool:
        """Whether the record holds a call of the effect with this idempotency key, in its value's `key`."""
        return self._oracle.holds(effect, key)

    def work(self, seconds: float) -> None:
        """Take time: the workload's own slow work, not synchronisation."""
        with self._quiescence.busy():
            time.sleep(seconds)

    @contextmanager
    def persist(self, name: str, covers: Sequence[str] = ()) -> Iterator[None]:
        """Bracket a storage operation. One that raises has no end. Items are numbered as they were asked for."""
        place = self._order.begin()
        item = f"p{self._process}-{place}"
        self.record(Persist, phase=Phase.BEGIN, item=item, name=name, covers=tuple(covers))
        self._faults.begin(name, place)
        try:
            self._faults.reach(points.persist_before(name))
            yield
            self.record(Persist, phase=Phase.END, item=item, name=name, covers=tuple(covers))
            self._faults.end(name)
            self._faults.reach(points.persist_after(name))
        finally:
            self._faults.leave(place)
