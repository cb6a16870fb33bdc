"""An executor fails; the workflow, or a new one, is restored from the last checkpoint. Writes what ran and came out."""

# The older release reads the annotations of handlers as they are, and knows nothing of postponed ones.
import asyncio
import json
import sys
import tempfile
from typing import Any

from agent_framework import Executor, FileCheckpointStorage, WorkflowBuilder, WorkflowContext, handler

ran: list[str] = []
outages = 0


class Step(Executor):
    @handler
    async def run(self, value: str, context: WorkflowContext[str, str]) -> None:
        global outages
        ran.append(self.id)
        if self.id == "b" and outages:
            outages -= 1
            raise RuntimeError("outage")
        if self.id == "c":
            await context.yield_output(value + self.id)
        else:
            await context.send_message(value + self.id)


def build(storage: Any) -> Any:
    a, b, c = (Step(id=name) for name in "abc")
    try:
        builder = WorkflowBuilder(name="w", start_executor=a, checkpoint_storage=storage)
    except TypeError:  # before 1.0, by calls
        builder = WorkflowBuilder(name="w").set_start_executor(a).with_checkpointing(storage)
    return builder.add_edge(a, b).add_edge(b, c).build()


async def checkpoints(storage: Any) -> list[Any]:
    try:
        found = await storage.list_checkpoints(workflow_name="w")
    except TypeError:  # before 1.0, storages knew no names of workflows
        found = await storage.list_checkpoints()
    return sorted(found, key=lambda checkpoint: checkpoint.timestamp)


async def fail_and_resume(*, fresh: bool) -> dict[str, Any]:
    global outages
    outages = 1
    with tempfile.TemporaryDirectory() as folder:
        storage = FileCheckpointStorage(folder)
        workflow = build(storage)
        try:
            await workflow.run("")
        except RuntimeError:
            ran.clear()
        latest = (await checkpoints(storage))[-1]
        result = await (build(storage) if fresh else workflow).run(checkpoint_id=latest.checkpoint_id)
    seen = {"resumed": list(ran), "outputs": result.get_outputs()}
    ran.clear()
    return seen


async def main() -> None:
    sys.stdout.write(json.dumps([await fail_and_resume(fresh=True), await fail_and_resume(fresh=False)]))


asyncio.run(main())
