"""One run of a drilled program: LangGraph's calls, as its users make them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph import StateGraph
from langgraph.types import Command, Interrupt, StateSnapshot

from resumption.guard.langgraph.calls import Fork
from resumption.guard.langgraph.validity import breaches
from resumption.history.events import Json, Pending
from resumption.planes.drill.plain import plain
from resumption.planes.drill.programs import Program
from resumption.planes.drill.settings import Settings
from resumption.planes.interface import (
    Address,
    Call,
    Completed,
    Decision,
    Handle,
    Outcome,
    Parked,
    PlaneSpec,
    Snapshot,
)
from resumption.planes.langgraph.apps import App
from resumption.planes.langgraph.runs import Dialect, ThreadRun

__all__ = ["BREAKPOINT", "DrillRun"]

BREAKPOINT = "before:"
"""How the name of a pause begins that no interrupt stands behind: going on answers it."""


class DrillRun(ThreadRun):
    """A run of the user's program on one thread."""

    def __init__(
        self,
        spec: PlaneSpec,
        app: App,
        thread: str,
        settings: Settings,
        source: StateGraph[Any] | Program,
        *,
        guarded: bool,
    ) -> None:
        """`source` is what the program is made of; its schema says which states are valid."""
        super().__init__(spec, app, thread, Dialect(lambda values: values))
        self._settings = settings
        self._guarded = guarded
        self._delivery = ""
        self._schema: Program = source.compile() if isinstance(source, StateGraph) else source

    def start(self, value: Json) -> Handle:
        """Start the run."""
        return Call(lambda: self._named("start", lambda: self._invoke(value)))

    def inspect(self) -> Snapshot:
        """The state as JSON, what is pending, and whether the run is finished."""
        state = self._state()
        finished = state.created_at is not None and not state.next
        return Snapshot(self._told(state), _pending(state), finished)

    def address(self) -> Address:
        """The head checkpoint, and the id of each pending interrupt by its name."""
        state = self._state()
        requests = {pending.name: pending.identity for pending in _pending(state)}
        return Address([state.config["configurable"]], requests)

    # The forms

    def _ways_to_deliver(self) -> dict[str, Callable[[Decision], Outcome]]:
        ways: dict[str, Callable[[Decision], Outcome]] = {
            "map": lambda decision: self._invoke(_by_id(decision)),
            "bare": lambda decision: self._invoke(_bare(decision)),
            "replay": self._ask_again_and_deliver,
            "fork": self._fork,
        }
        return {name: self._delivering(way) for name, way in ways.items()}

    def _ways_to_recover(self) -> dict[str, Callable[[], Outcome]]:
        return {"no-input": lambda: self._go_on(at_head=False), "checkpoint": lambda: self._go_on(at_head=True)}

    def _go_on(self, *, at_head: bool) -> Outcome:
        """Recover; where nothing was stored before the crash, the input is all there is to go on from."""
        state = self._state()
        if state.created_at is None:
            return self._named("start", lambda: self._invoke(self._settings.input))
        return self._invoke(None, state.config if at_head else None)

    def _ask_again_and_deliver(self, decision: Decision) -> Outcome:
        """LangGraph's documented fork: at the old checkpoint the question comes again, and takes another answer."""
        self._invoke(None, {"configurable": decision.address.checkpoint[0]})
        asked = self.address().requests
        again = asked.get(decision.target, "")
        return self._invoke(Command(resume={again: decision.value} if again else decision.value))

    def _fork(self, decision: Decision) -> Outcome:
        identity = decision.address.requests.get(decision.target)
        config: RunnableConfig = {"configurable": {**decision.address.checkpoint[0], **self._delivery_id()}}
        return self._invoke(Fork(decision.value, str(identity) if identity else None), config)

    def _delivering(self, way: Callable[[Decision], Outcome]) -> Callable[[Decision], Outcome]:
        return lambda decision: self._named(decision.delivery, lambda: way(decision))

    def _named(self, delivery: str, call: Callable[[], Outcome]) -> Outcome:
        """Make a call that carries the delivery's name, where the program is guarded and can make something of it."""
        self._delivery = delivery if self._guarded else ""
        try:
            return call()
        finally:
            self._delivery = ""

    def _delivery_id(self) -> Mapping[str, str]:
        return {"delivery_id": self._delivery} if self._delivery else {}

    def _head(self) -> RunnableConfig:
        return {"configurable": {"thread_id": self._thread, **self._delivery_id()}}

    def _invoke(self, value: Any, config: RunnableConfig | None = None) -> Outcome:
        self._app.invoke(value, config or self._head())
        state = self._state()
        pending = _pending(state)
        return Parked(pending) if pending else Completed(self._told(state))

    def _state(self) -> StateSnapshot:
        return self._app.get_state({"configurable": {"thread_id": self._thread}})

    def _told(self, state: StateSnapshot) -> Json:
        """The state's values as JSON, and what in them breaks the program's own schema."""
        values = state.values if isinstance(state.values, dict) else {"value": state.values}
        return {
            "values": plain(values),
            "invalid": breaches(self._schema, values),
        }


def _by_id(decision: Decision) -> Any:
    identity = decision.address.requests[decision.target]
    return Command(resume={identity: decision.value}) if identity else None


def _bare(decision: Decision) -> Any:
    return Command(resume=decision.value) if decision.address.requests[decision.target] else None


def _pending(state: StateSnapshot) -> tuple[Pending, ...]:
    """What the run waits for, each interrupt named after its node, `outer/inner`; the second of a name is `name#2`.

    Tasks that run at once and have one name are told apart by their order, whether or not they still wait.
    """
    found = tuple(_asked(state, ""))
    if not found and state.next and not any(task.error for task in state.tasks):
        return tuple(Pending(identity="", name=f"{BREAKPOINT}{name}") for name in dict.fromkeys(state.next))
    return found


def _asked(state: StateSnapshot, above: str) -> list[Pending]:
    seen: Counter[str] = Counter()
    found: list[Pending] = []
    for task in state.tasks:
        seen[task.name] += 1
        name = f"{above}{task.name}" + (f"#{seen[task.name]}" if seen[task.name] > 1 else "")
        inner = _asked(task.state, f"{name}/") if isinstance(task.state, StateSnapshot) else []
        if task.result is None:
            found += inner or [_one(name, place, asked) for place, asked in enumerate(task.interrupts)]
    return found


def _one(name: str, place: int, asked: Interrupt) -> Pending:
    question = plain(asked.value)
    return Pending(identity=asked.id, name=name if not place else f"{name}+{place + 1}", question=question)
