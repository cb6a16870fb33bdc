"""Where a process is to fail, and how: kill points by name, so that no crash depends on timing.

A point is a place that the program passes: `task:NAME:start`, `effect:NAME:before`, `effect:NAME:after`,
`persist:NAME:before`, `persist:NAME:after`. The points of a program are enumerated from a history of it without faults.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Fault", "Faults", "InjectedFailure", "Mode"]


class Mode(StrEnum):
    """How a process fails at its point."""

    KILL = "kill"
    """SIGKILL, sent by the process to itself: nothing runs afterwards."""
    RAISE = "raise"
    """An exception in the program: the process and its `finally` clauses live on."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Fail at the `occurrence`-th passing of `point` in this process."""

    point: str
    mode: Mode = Mode.KILL
    occurrence: int = 1


class InjectedFailure(Exception):
    """The failure that a protocol asked for: the program's own bug, as far as the framework can tell."""


class Faults:
    """Counts how often points are passed, and fails where told to. Safe for any number of threads."""

    def __init__(self, fault: Fault | None, announce: Callable[[str], None]) -> None:
        self._fault = fault
        self._announce = announce
        self._lock = threading.Lock()
        self._passed = 0

    def reach(self, point: str) -> None:
        """Pass a point. Doesn't return if this process is to die here; raises `InjectedFailure` if it is to raise."""
        fault = self._fault
        if fault is None or fault.point != point:
            return
        with self._lock:
            self._passed += 1
            if self._passed != fault.occurrence:
                return
        self._announce(point)
        if fault.mode is Mode.RAISE:
            raise InjectedFailure(f"injected at {point}")
        os.kill(os.getpid(), signal.SIGKILL)
        signal.pause()
