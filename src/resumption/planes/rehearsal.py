"""A rehearsal: a run that nobody records, by which a framework fills its caches before a zygote forks.

What each process of a protocol would else compute anew (schemas, signatures, imports that wait for the first run) is
then computed once. Only a backend that lives in memory can be rehearsed on: a zygote opens nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from resumption.history.events import Intent, Json
from resumption.history.workload import Effect, Interrupt, Task, Workload
from resumption.planes.interface import Decision, OpenRun, Store

__all__ = ["rehearse"]

_WORKLOAD = Workload((Task("a", (Effect("a"),)), Task("gate", (Interrupt("gate"), Effect("b")))))
_NOWHERE = Path("rehearsal")


def rehearse(open_run: OpenRun, backends: Sequence[str], form: str) -> None:
    """Run a program to its gate, answer in `form`, and look at the end, on each of the backends.

    How the operations end makes no difference: what a framework can't do is for the probes to find.
    """
    for backend in backends:
        run = open_run(_WORKLOAD, Store(backend, _NOWHERE / backend), _Silent())
        run.start({}).wait()
        answer = Decision(
            value="yes", target="gate", address=run.address(), form=form, intent=Intent.ANSWER, delivery="rehearsed"
        )
        run.deliver(answer).wait()
        run.inspect()
        run.close()


class _Silent:
    """Instruments that record nothing, and whose effects are none."""

    @contextmanager
    def task(self, name: str, trail: Json) -> Iterator[_Silent]:
        """Let the task run."""
        yield self

    def wrote(self, write: Json) -> None:
        """Nobody asks what a task wrote."""

    def consume(self, task: str, interrupt: str, value: Json) -> None:
        """Nobody asks what a gate received."""

    def fire(self, effect: str, *, task: str, value: Json) -> None:
        """Fire nothing."""

    def work(self, seconds: float) -> None:
        """Take no time."""

    @contextmanager
    def persist(self, name: str, covers: Sequence[str] = ()) -> Iterator[None]:
        """Let the operation happen, in memory."""
        yield
