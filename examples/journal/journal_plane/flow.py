"""The adapter: the abstract workload as a flow of `journal_flow`."""

from __future__ import annotations

from typing import Any

from journal_flow import Flow, Step, Stopped

from resumption.history.events import Json, Pending
from resumption.history.workload import Task, Workload
from resumption.planes.interface import (
    Address,
    Call,
    Completed,
    Decision,
    Handle,
    Instruments,
    Outcome,
    Parked,
    Snapshot,
    Store,
    unknown_form,
)
from resumption.planes.tasks import perform


class _Recorded(Flow):
    """A flow whose writes are bracketed, so that the harness can kill before and after each."""

    instruments: Instruments

    def append(self, kind: str, name: str, value: Any) -> None:
        with self.instruments.persist(f"{kind}({name})", covers=[name] if kind == "step" else []):
            super().append(kind, name, value)


class FlowRun:
    """One run: a flow and its journal."""

    def __init__(self, workload: Workload, store: Store, instruments: Instruments) -> None:
        steps = {task.name: _step(task, instruments) for task in workload.tasks}
        self._flow = _Recorded(store.location / f"{store.thread}.jsonl", steps)
        self._flow.instruments = instruments

    def start(self, value: Json) -> Handle:
        return Call(self._run)

    def deliver(self, decision: Decision) -> Handle:
        return Call(lambda: self._answer(decision))

    def recover(self, form: str) -> Handle:
        if form != "run":
            raise unknown_form(form)
        return Call(self._run)

    def inspect(self) -> Snapshot:
        finished = len(self._flow.state()) == len(self._flow.steps)
        return Snapshot(self._flow.state(), self._pending(), finished)

    def address(self) -> Address:
        return Address(requests={question: question for question in self._flow.questions()})

    def close(self) -> None:
        """Nothing is held between calls."""

    def _answer(self, decision: Decision) -> Outcome:
        self._flow.answer(decision.address.requests.get(decision.target, ""), decision.value)
        return self._run()

    def _run(self) -> Outcome:
        try:
            return Completed(self._flow.run())
        except Stopped:
            return Parked(self._pending())

    def _pending(self) -> tuple[Pending, ...]:
        return tuple(Pending(identity=question, name=question) for question in self._flow.questions())


def _step(task: Task, instruments: Instruments) -> Step:
    return lambda state, ask: perform(task, state, instruments, lambda interrupt: ask(interrupt.name))


open_run = FlowRun
