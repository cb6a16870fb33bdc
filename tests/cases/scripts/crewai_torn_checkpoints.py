"""For an interpreter that has CrewAI: run flows with checkpoints, and write what their files hold.

What it says goes into a file of the folder named first: CrewAI writes to the terminal from threads of its own.
"""

from __future__ import annotations

import contextvars
import json
import sys
from pathlib import Path

from crewai.flow.flow import Flow, FlowState, listen, start
from crewai.state.checkpoint_config import CheckpointConfig


class State(FlowState):
    trail: list[str] = []  # noqa: RUF012  # pydantic copies it


class Program(Flow[State]):
    _skip_auto_memory = True

    @start()
    def a(self) -> None:
        self.state.trail.append("a")

    @listen(a)
    def b(self) -> None:
        self.state.trail.append("b")

    @listen(b)
    def c(self) -> None:
        self.state.trail.append("c")


def run(folder: Path) -> None:
    Program(checkpoint=CheckpointConfig(location=str(folder), on_events=["method_execution_finished"])).kickoff()


def pair(file: Path) -> list[list[str]]:
    """The methods that a checkpoint has as completed, and those whose mark is in its state."""
    (flow,) = json.loads(file.read_text())["entities"]
    return [sorted(flow["checkpoint_completed_methods"]), sorted(flow["checkpoint_state"]["trail"])]


root, runs = Path(sys.argv[1], "checkpoints"), int(sys.argv[2])
for number in range(runs):
    contextvars.copy_context().run(run, root / str(number))
pairs = [pair(file) for file in root.rglob("*.json")]
Path(sys.argv[1], "said.json").write_text(json.dumps(pairs))
