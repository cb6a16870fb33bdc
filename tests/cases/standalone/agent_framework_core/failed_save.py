"""An executor puts what no checkpoint can hold into the shared state. Writes what ran, then and on restoring."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from typing import Any

from agent_framework import Executor, FileCheckpointStorage, WorkflowBuilder, WorkflowContext, handler

ran: list[str] = []


class Step(Executor):
    @handler
    async def run(self, value: str, context: WorkflowContext[str, str]) -> None:
        ran.append(self.id)
        if self.id == "b":
            context.set_state("callback", lambda: None)
        if self.id == "c":
            await context.yield_output(value + self.id)
        else:
            await context.send_message(value + self.id)


def build(storage: Any) -> Any:
    steps = [Step(id=name) for name in "abc"]
    return WorkflowBuilder(name="w", start_executor=steps[0], checkpoint_storage=storage).add_chain(steps).build()


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        storage = FileCheckpointStorage(folder)
        result = await build(storage).run("")
        first = list(ran)
        ran.clear()
        latest = await storage.get_latest(workflow_name="w")
        await build(storage).run(checkpoint_id=latest.checkpoint_id)
    seen = {"first": first, "state": result.get_final_state().value, "outputs": result.get_outputs(), "restored": ran}
    sys.stdout.write(json.dumps(seen))


asyncio.run(main())
