"""What the guarded adapters share: LangGraph's run, with delivery ids, effects in a ledger, and the guard's fork."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from resumption.guard.effects import Ledger, effect
from resumption.guard.langgraph.calls import Fork
from resumption.history.events import Json
from resumption.planes.interface import Call, Decision, Handle, Instruments, Outcome, PlaneSpec, Store, TaskSpan
from resumption.planes.langgraph.apps import App
from resumption.planes.langgraph.runs import Dialect, ThreadRun

__all__ = ["GuardedRun", "LedgeredEffects"]

_START = "start"
"""The delivery id of a run's input."""

_INPUT: dict[str, Json] = {"trail": []}
"""The input of every workload, for a recovering process that gives it again."""


class GuardedRun(ThreadRun):
    """A run of a guarded program. Whoever delivers names the delivery, as the guard's users do."""

    def __init__(
        self, spec: PlaneSpec, app: App, thread: str, trail_of: Callable[[Any], Json], effects: LedgeredEffects
    ) -> None:
        """`effects` is closed with the run."""
        super().__init__(spec, app, thread, Dialect(trail_of))
        self._effects = effects

    def start(self, value: Json) -> Handle:
        """Start the run."""
        return Call(lambda: self._invoke(value, self._named(_START)))

    def close(self) -> None:
        """Close the database file and the ledger."""
        super().close()
        self._effects.close()

    def _ways_to_deliver(self) -> dict[str, Callable[[Decision], Outcome]]:
        ways = super()._ways_to_deliver()

        def named(way: Callable[[Decision], Outcome]) -> Callable[[Decision], Outcome]:
            def deliver(decision: Decision) -> Outcome:
                self._delivery = decision.delivery
                try:
                    return way(decision)
                finally:
                    self._delivery = ""

            return deliver

        return {"bare": named(ways["bare"]), "map": named(ways["map"]), "fork": self._fork}

    def _ways_to_recover(self) -> dict[str, Callable[[], Outcome]]:
        ways = super()._ways_to_recover()
        return {
            "no-input": ways["no-input"],
            "input": lambda: self._invoke(_INPUT, self._named(_START)),
            "checkpoint": ways["checkpoint"],
        }

    _delivery = ""

    def _head(self) -> Any:
        return self._named(self._delivery) if self._delivery else super()._head()

    def _named(self, delivery: str) -> Any:
        return {"configurable": {"thread_id": self._thread, "delivery_id": delivery}}

    def _fork(self, decision: Decision) -> Outcome:
        named = {**decision.address.checkpoint[0], "delivery_id": decision.delivery}
        return self._invoke(
            Fork(decision.value, str(decision.address.requests[decision.target])), {"configurable": named}
        )


class LedgeredEffects:
    """The bench, with each effect behind `@effect`: what a user of the guard makes of a call to the outside."""

    def __init__(self, instruments: Instruments, store: Store) -> None:
        """The ledger is a file in the run's store."""
        self._instruments = instruments
        self._ledger = Ledger(f"sqlite:///{store.location / 'effects.sqlite'}")
        # The bench can't be asked whether an effect fired, so a doubt is retried, once its owner is gone.
        self._fire = effect(self._ledger, on_doubt="retry")(self._fire_once)

    def _fire_once(self, name: str, task: str, value: Json) -> None:
        self._instruments.fire(name, task=task, value=value)

    def fire(self, effect: str, *, task: str, value: Json) -> None:
        """Fire an external effect, once for each task and branch."""
        self._fire(effect, task, value)

    def task(self, name: str, trail: Json) -> AbstractContextManager[TaskSpan]:
        """As the bench."""
        return self._instruments.task(name, trail)

    def consume(self, task: str, interrupt: str, value: Json) -> None:
        """As the bench."""
        self._instruments.consume(task, interrupt, value)

    def work(self, seconds: float) -> None:
        """As the bench."""
        self._instruments.work(seconds)

    def persist(self, name: str, covers: Any = ()) -> AbstractContextManager[None]:
        """As the bench."""
        return self._instruments.persist(name, covers)

    def close(self) -> None:
        """Close the ledger."""
        self._ledger.close()
