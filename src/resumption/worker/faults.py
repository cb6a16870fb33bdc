"""Where a process is to fail, and how: kill points by name, so that no crash depends on timing.

A point is a place that the program passes (`worker.points`). The points of a program are enumerated from a history of
it without faults.

Storage operations run beside the program, so that a kill at a task or an effect doesn't say which of them were durable.
A kill at one of them does: those before it, since they are let through one by one in the order in which they were asked
for, unless one waits for another. The modes `FREEZE`, `PIN`, `REORDER`, `REORDER_AND_RAISE` and `WITHHOLD` say more:
they hold operations back. A process that comes to rest before it could fail as it was told dies too, and its crash says
that there was no such moment.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from resumption.worker import points
from resumption.worker.quiescence import Quiescence

__all__ = ["INFEASIBLE", "Fault", "Faults", "InjectedFailure", "Mode"]

INFEASIBLE = ":infeasible"
"""How the name of a crash ends that came because the process was at rest before it could do what its fault demands."""


class Mode(StrEnum):
    """How a process fails."""

    KILL = "kill"
    """SIGKILL, sent by the process to itself at the point: nothing runs afterwards."""
    RAISE = "raise"
    """An exception in the program at the point: the process and its `finally` clauses live on."""
    FREEZE = "freeze"
    """Exactly `durable` storage operations end; later ones wait while the run goes on. SIGKILL once all is at rest."""
    PIN = "pin"
    """As `FREEZE`, with SIGKILL as soon as the point is reached too; it waits there for the operations to end."""
    REORDER = "reorder"
    """The storage operation `point` waits until the operation `first` has ended. SIGKILL once both have."""
    REORDER_AND_RAISE = "reorder-and-raise"
    """As `REORDER`, with exceptions in place of SIGKILL: the program fails where it goes on, and so does each further
    storage operation, until the next operation is served. The process lives on."""
    WITHHOLD = "withhold"
    """The storage operation `first` never ends, while all others go on. SIGKILL at the point."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Fail at the `occurrence`-th passing of `point` in this process."""

    point: str = ""
    mode: Mode = Mode.KILL
    occurrence: int = 1
    durable: int = 0
    first: str = ""

    @property
    def name(self) -> str:
        """What the crash is called in a history."""
        match self.mode:
            case Mode.KILL | Mode.RAISE:
                return self.point
            case Mode.FREEZE:
                return f"freeze@{self.durable}"
            case Mode.PIN:
                return f"{self.point}@{self.durable}"
            case Mode.REORDER | Mode.REORDER_AND_RAISE:
                return f"{self.first}<{self.point}"
            case Mode.WITHHOLD:
                return f"{self.point} without {self.first}"


_AT_A_POINT = (Mode.KILL, Mode.RAISE, Mode.PIN, Mode.WITHHOLD)
_REORDERING = (Mode.REORDER, Mode.REORDER_AND_RAISE)


class InjectedFailure(Exception):
    """The failure that a protocol asked for: the program's own bug, as far as the framework can tell."""


class Faults:
    """Counts what the process passes, holds back what is to wait, and fails where told to. Safe for any threads."""

    def __init__(self, fault: Fault | None, announce: Callable[[str], None], quiescence: Quiescence) -> None:
        self._fault = fault
        self._announce = announce
        self._quiescence = quiescence
        self._condition = threading.Condition()
        self._passed = 0
        self._durable = 0
        self._over: set[int] = set()
        # Storage operations come one by one, as they were asked for, where the process dies at one of them.
        self._in_turn = fault is not None and (
            fault.mode is Mode.REORDER
            or (fault.mode in (Mode.KILL, Mode.WITHHOLD) and points.is_at_persist(fault.point))
        )
        self._ended: set[str] = set()
        self._held = 0
        self._released = 0
        self._watching = False
        self._failing = False

    def heal(self) -> None:
        """Let the program go on that failed behind a new order of two operations: another operation is served."""
        self._failing = False

    def reach(self, point: str) -> None:
        """Pass a point. Doesn't return if this process is to die here; raises `InjectedFailure` if it is to raise."""
        fault = self._fault
        if self._failing and not points.is_at_persist(point):
            raise InjectedFailure(f"injected at {point}, behind a new order of two storage operations")
        if fault is None or fault.point != point or fault.mode not in _AT_A_POINT:
            return
        with self._condition:
            self._passed += 1
            if self._passed != fault.occurrence:
                return
            if fault.mode is Mode.PIN:
                self._wait(lambda: self._durable == fault.durable)
        if fault.mode is Mode.RAISE:
            self._announce(fault.name)
            raise InjectedFailure(f"injected at {point}")
        self._die(fault.name)

    def begin(self, name: str, place: int) -> None:
        """Begin the storage operation that was the `place`-th, from 1, to be asked for.

        Doesn't return if the operation is one that must not become durable.
        """
        fault = self._fault
        if fault is None:
            return
        with self._condition:
            if fault.mode in (Mode.FREEZE, Mode.PIN) and place > fault.durable:
                self._wait(lambda: False)
            if fault.mode is Mode.WITHHOLD and name == fault.first:
                self._over.add(place)  # the others go on as if it were
                self._condition.notify_all()
                self._wait(lambda: False)
            if self._in_turn:
                self._wait(lambda: not self._in_turn or self._is_next(name, place))
            if fault.mode in _REORDERING and name == fault.point:
                self._wait(lambda: fault.first in self._ended)
            between = fault.mode is Mode.REORDER_AND_RAISE and self._is_between(name)
            if between:
                self._wait(lambda: self._pair() <= self._ended)
            if between or self._failing:  # it may wake when the program has failed, and goes on, by now
                raise InjectedFailure(f"{name} injected to fail, behind a new order of two storage operations")

    def _is_next(self, name: str, place: int) -> bool:
        """Whether all is over that was asked for before; of two that are put in order, the first doesn't wait for the
        other one."""
        ahead = set(range(1, place)) - self._over
        others = self._pair() - {name}
        return not ahead or (len(ahead) == 1 and name in self._pair() and not others <= self._ended)

    def _is_between(self, name: str) -> bool:
        """Whether one of the two operations that are put in order has ended, and this is not the other one."""
        pair = self._pair()
        return name not in pair and len(pair & self._ended) == 1

    def _pair(self) -> set[str]:
        """The two operations that are put in order, if that is how this process fails."""
        fault = self._fault
        return {fault.point, fault.first} if fault is not None and fault.mode in _REORDERING else set()

    def end(self, name: str) -> None:
        """End a storage operation: it is durable. Doesn't return if that completes a new order of two operations."""
        fault = self._fault
        if fault is None:
            return
        with self._condition:
            self._durable += 1
            pair = self._pair()
            reordered = name in pair - self._ended and pair <= self._ended | {name}
            self._ended.add(name)
            self._failing = self._failing or (reordered and fault.mode is Mode.REORDER_AND_RAISE)
            self._condition.notify_all()
        if reordered and fault.mode is Mode.REORDER_AND_RAISE:
            self._announce(fault.name)
        elif reordered:
            self._die(fault.name)

    def leave(self, place: int) -> None:
        """Leave the storage operation that was the `place`-th to be asked for, whether it ended or failed by itself."""
        with self._condition:
            self._over.add(place)
            self._condition.notify_all()

    def settle(self) -> None:
        """Return, unless something is held back for ever: then this process dies once all else is at rest."""
        with self._condition:
            self._condition.wait_for(lambda: not self._held)

    def _wait(self, ready: Callable[[], bool]) -> None:
        """Hold the calling thread back, with the condition held, until something is so; it may never be."""
        if ready():
            return
        self._held += 1
        if not self._watching:
            self._watching = True
            threading.Thread(target=self._watch, name="resumption-quiescence", daemon=True).start()
        self._condition.wait_for(ready)
        self._held -= 1
        self._released += 1

    def _watch(self) -> None:
        """Kill this process once it is at rest, with something held back: nothing more would ever happen."""
        while True:
            released = self._released
            at_rest = self._quiescence.wait(partial(self._has_released, released))
            with self._condition:
                if not self._held:
                    self._watching = False
                    return
                if self._released != released:
                    continue
                if not (self._in_turn and at_rest):
                    break
                self._in_turn = False  # what comes first waits for what was asked for later
                self._condition.notify_all()
        fault = self._fault
        if fault is not None:
            feasible = at_rest and fault.mode is Mode.FREEZE and self._durable == fault.durable
            self._die(fault.name if feasible else f"{fault.name}{INFEASIBLE}")

    def _has_released(self, since: int) -> bool:
        return self._released != since

    def _die(self, name: str) -> None:
        self._announce(name)
        os.kill(os.getpid(), signal.SIGKILL)
        threading.Event().wait()
