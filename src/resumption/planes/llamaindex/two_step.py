"""The adapter for LlamaIndex Workflows whose steps return an `InputRequiredEvent`; another step takes the answer."""

from __future__ import annotations

from resumption.history.events import Json
from resumption.history.workload import Workload
from resumption.planes.interface import Instruments, Store
from resumption.planes.llamaindex.events import Answer, answer_to
from resumption.planes.llamaindex.program import build_two_step
from resumption.planes.llamaindex.runs import ContextRun
from resumption.planes.llamaindex.snapshots import tamper

__all__ = ["open_run", "tamper"]


def open_run(workload: Workload, store: Store, instruments: Instruments) -> ContextRun:
    """Open the workload's run in `store`; nothing is executed."""
    return ContextRun(build_two_step, _answer, workload, store, instruments)


def _answer(question: str, value: Json) -> Answer:
    return answer_to(question)(question=question, response=value)
