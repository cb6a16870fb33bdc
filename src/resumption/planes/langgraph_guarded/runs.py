"""What the guarded adapters share: LangGraph's run, with delivery ids, effects in a ledger, and the guard's fork."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from langgraph.types import Command

from resumption.guard.effects import Ledger, effect
from resumption.guard.langgraph.calls import Fork
from resumption.history.events import Json
from resumption.planes.interface import Call, Decision, Handle, Instruments, Outcome, PlaneSpec, Store, TaskSpan
from resumption.planes.langgraph.apps import App
from resumption.planes.langgraph.runs import Dialect, ThreadRun

__all__ = ["GuardedRun", "LedgeredEffects"]

_FIRST = "input"
"""The delivery id of a thread's first input."""

_INPUT: dict[str, Json] = {"trail": []}
"""The input of every workload, for a recovering process that gives it again."""


class GuardedRun(ThreadRun):
    """A run of a guarded program: every resume form of a stock one, and those by delivery id and by `fork`."""

    def __init__(self, spec: PlaneSpec, app: App, thread: str, dialect: Dialect, effects: LedgeredEffects) -> None:
        """`effects` is closed with the run."""
        super().__init__(spec, app, thread, dialect)
        self._effects = effects

    def start(self, value: Json) -> Handle:
        """Start the run; its input has a delivery id of its own."""
        return Call(lambda: self._invoke(self._dialect.input_of(value), self._named(self._input_id())))

    def close(self) -> None:
        """Close the database file and the ledger."""
        super().close()
        self._effects.close()

    def _ways_to_deliver(self) -> dict[str, Callable[[Decision], Outcome]]:
        return {
            **super()._ways_to_deliver(),
            "bare-delivery-id": lambda decision: self._invoke(self._answer(decision), self._named(decision.delivery)),
            "map-delivery-id": lambda decision: self._invoke(
                Command(resume=self._answers_by_id(decision)), self._named(decision.delivery)
            ),
            "fork": self._fork,
        }

    def _ways_to_recover(self) -> dict[str, Callable[[], Outcome]]:
        return {
            **super()._ways_to_recover(),
            "input": lambda: self._invoke(self._dialect.input_of(_INPUT)),
            "input-delivery-id": lambda: self._invoke(self._dialect.input_of(_INPUT), self._named(_FIRST)),
        }

    def _input_id(self) -> str:
        """The delivery id of an input: each run of the thread has one of its own."""
        before = self._app.get_state(self._head()).config["configurable"].get("checkpoint_id")
        return f"input-after-{before}" if before else _FIRST

    def _named(self, delivery: str) -> Any:
        return {"configurable": {"thread_id": self._thread, "delivery_id": delivery}}

    def _fork(self, decision: Decision) -> Outcome:
        named = {**decision.address.checkpoint[0], "delivery_id": decision.delivery}
        value = self._dialect.answer_to(decision.target, decision.value)
        asked = str(decision.address.requests[decision.target])
        return self._invoke(Fork(value, asked), {"configurable": named})


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
