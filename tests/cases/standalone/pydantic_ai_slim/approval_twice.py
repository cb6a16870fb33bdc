"""Resume one message history with one approval, twice, as an engine does that retries the step which resumes."""

from __future__ import annotations

import asyncio
import json
import sys

from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ModelMessagesTypeAdapter
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

paid: list[str] = []


def script(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Ask for the payment, and end when it was made."""
    answered = any(isinstance(part, ToolReturnPart) for message in messages for part in message.parts)
    return ModelResponse(parts=[TextPart("done") if answered else ToolCallPart("pay", {}, tool_call_id="call-1")])


agent = Agent(FunctionModel(script), output_type=[str, DeferredToolRequests])


@agent.tool_plain(requires_approval=True)
def pay() -> str:
    paid.append("pay")
    return "paid"


async def main() -> None:
    parked = await agent.run("go")
    kept = parked.all_messages_json()
    approved = DeferredToolResults(approvals={"call-1": True})
    outputs = []
    for _ in range(2):
        history = ModelMessagesTypeAdapter.validate_json(kept)
        outputs.append((await agent.run(message_history=history, deferred_tool_results=approved)).output)
    sys.stdout.write(json.dumps({"paid": len(paid), "outputs": outputs}))


asyncio.run(main())
