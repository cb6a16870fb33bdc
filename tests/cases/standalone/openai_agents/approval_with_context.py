"""Approve a run that was restored from JSON, and resume it: without a context, and with one."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from agents import Agent, Runner, RunState, function_tool
from agents.items import ModelResponse
from agents.models.interface import Model
from agents.usage import Usage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

paid: list[str] = []


@function_tool(needs_approval=True)
def pay() -> str:
    """Pay."""
    paid.append("pay")
    return "paid"


class Script(Model):
    """Asks for the payment, and ends when it was made."""

    async def get_response(self, system_instructions: Any, input: Any, *args: Any, **named: Any) -> ModelResponse:
        answered = any(item.get("type") == "function_call_output" for item in input if isinstance(item, dict))
        return ModelResponse(output=[_end() if answered else _call()], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **named: Any) -> Any:
        raise NotImplementedError


def _call() -> ResponseFunctionToolCall:
    return ResponseFunctionToolCall(type="function_call", call_id="call-1", name="pay", arguments="{}")


def _end() -> ResponseOutputMessage:
    text = ResponseOutputText(type="output_text", text="done", annotations=[])
    return ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])


async def resume(**given: Any) -> dict[str, int]:
    paid.clear()
    agent = Agent(name="payer", tools=[pay], model=Script())
    parked = await Runner.run(agent, "go")
    state = await RunState.from_json(agent, json.loads(json.dumps(parked.to_state().to_json())))
    for asked in state.get_interruptions():
        state.approve(asked)
    resumed = await Runner.run(agent, state, **given)
    return {"paid": len(paid), "asked again": len(resumed.interruptions)}


async def main() -> None:
    seen = {"without": await resume(), "with": await resume(context={"user": "u"})}
    sys.stdout.write(json.dumps(seen))


asyncio.run(main())
