"""For an interpreter that has CrewAI: two persisted methods end at once; write what was seen, and what is stored.

What it says goes into a file of the folder named first: CrewAI writes to the terminal from threads of its own.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any

from crewai.flow.flow import Flow, FlowState, start
from crewai.flow.persistence import SQLiteFlowPersistence, persist

_LONGEST = 60.0
"""Seconds after which a turn that doesn't come is an error."""

first_is_read = threading.Event()
second_is_stored = threading.Event()


class Tables(SQLiteFlowPersistence):
    """CrewAI's tables, where the first method's state is read before the second writes, and stored after the second's.

    CrewAI reads the state before it takes the lock under which it stores it, so that the scheduler may do this.
    """

    def save_state(self, flow_uuid: str, method_name: str, state_data: Any) -> None:
        if method_name == "first":
            state_data = self._to_state_dict(state_data)
            first_is_read.set()
            _await(second_is_stored)
        super().save_state(flow_uuid, method_name, state_data)
        if method_name == "second":
            second_is_stored.set()


def _await(event: threading.Event) -> None:
    if not event.wait(_LONGEST):
        raise TimeoutError("The other method's turn did not come.")


class State(FlowState):
    trail: list[str] = []  # noqa: RUF012  # pydantic copies it


folder = Path(sys.argv[1])
tables = Tables(str(folder / "flows.db"))


@persist(tables)
class Program(Flow[State]):
    _skip_auto_memory = True

    @start()
    def first(self) -> None:
        self.state.trail.append("first")

    @start()
    def second(self) -> None:
        _await(first_is_read)
        self.state.trail.append("second")


flow = Program(persistence=tables)
flow.kickoff()
stored = tables.load_state(flow.state.id)
(folder / "said.json").write_text(json.dumps({"live": flow.state.trail, "stored": stored and stored["trail"]}))
