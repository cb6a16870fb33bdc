"""What the ledger's tests share: an effect that leaves a mark, child processes, and points to die at."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import psycopg

from resumption.guard.stores import postgres, sqlite


@dataclass(frozen=True)
class World:
    """The outside world: each fire of an effect appends a line, in one write: a killed process leaves whole lines."""

    path: Path

    def fire(self, line: str = "fired") -> None:
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(descriptor, line.encode() + b"\n")
        os.close(descriptor)

    @property
    def fired(self) -> list[str]:
        return self.path.read_text().splitlines() if self.path.exists() else []


@dataclass
class Child:
    """A forked process that runs one function and ends."""

    pid: int
    ended: int | None = None

    def wait(self) -> int:
        """Its exit code, or minus the signal that ended it."""
        if self.ended is None:
            self.ended = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.ended

    def kill(self) -> None:
        """End it, if it has not ended; a stopped one too."""
        if self.ended is None:
            self.signal(signal.SIGKILL)
            self.wait()

    def signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def stopped(self) -> None:
        """Wait until SIGSTOP has taken effect."""
        assert os.WIFSTOPPED(os.waitpid(self.pid, os.WUNTRACED)[1])


def child(function: Callable[[], object]) -> Child:
    """Run a function in a forked process; its exceptions are printed and make the exit code 1."""
    with warnings.catch_warnings():
        # Python 3.12 warns of threads (a test runner's, an event loop's): the child runs `function` and nothing else.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid:
        return Child(pid)
    code = 1
    try:
        function()
        code = 0
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


@dataclass
class Points:
    """Counts the points that an execution passes, and dies (or does something else) at one of them."""

    at: int = -1
    act: Callable[[], object] = field(default=lambda: os.kill(os.getpid(), signal.SIGKILL))
    passed: list[str] = field(default_factory=list)

    def reach(self, name: str) -> None:
        self.passed.append(name)
        if len(self.passed) - 1 == self.at:
            self.act()


def killed_at_each_point(run: Callable[[Points], object], folder: Path, before: Callable[[], object]) -> Iterator[str]:
    """Kill a process that runs something at each point that it passes, and say at which, after each death.

    The points are those of an execution without a fault. `before` is called ahead of each, that one too.
    """
    before()
    for index, name in enumerate(_points_of(run, folder / "points")):
        before()
        died = child(partial(run, Points(index))).wait()
        assert died == -signal.SIGKILL, f"point {index} ({name}) was not reached"
        yield f"killed {name} (point {index})"


def _points_of(run: Callable[[Points], object], report: Path) -> list[str]:
    def fault_free() -> None:
        points = Points()
        run(points)
        report.write_text("\n".join(points.passed))

    assert child(fault_free).wait() == 0
    return report.read_text().splitlines()


@contextmanager
def statements_observed(reach: Callable[[str], object]) -> Iterator[None]:
    """Call `reach` before and after each SQL statement that a store makes in this process."""
    originals = (sqlite.execute_on, postgres.execute_on)

    def observed(original: Callable[..., Any]) -> Callable[..., Any]:
        def execute_on(connection: Any) -> Any:
            execute = original(connection)

            def observing(sql: str, parameters: tuple[object, ...]) -> Any:
                words = " ".join(sql.split()[:3])
                reach(f"before {words}")
                reply = execute(sql, parameters)
                reach(f"after {words}")
                return reply

            return observing

        return execute_on

    sqlite.execute_on, postgres.execute_on = observed(originals[0]), observed(originals[1])
    try:
        yield
    finally:
        sqlite.execute_on, postgres.execute_on = originals


def until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    """Wait for something that another process or thread does; fail the test if it doesn't."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.002)


def connecting(url: str) -> Callable[[], Any]:
    """Opens connections of the kind that the guard has for itself."""
    return lambda: psycopg.connect(url, autocommit=True, prepare_threshold=None)
