"""The model that drives the agent: a script, so that no probability takes part."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Sequence
from typing import Any

from strands.models.model import Model

__all__ = ["Script", "results_in"]


class Script(Model):
    """Asks for each tool once: all of a turn's tools at a time, turn by turn; says that it is done behind the last.

    A tool whose call was answered is not asked for again, whatever the answer was.
    """

    def __init__(self, turns: Sequence[Sequence[str]]) -> None:
        self._turns = turns

    def update_config(self, **model_config: Any) -> None:
        """There is nothing to configure."""

    def get_config(self) -> dict[str, Any]:
        """There is nothing to configure."""
        return {}

    def structured_output(self, *args: Any, **named: Any) -> AsyncGenerator[dict[str, Any], None]:
        """No script asks for it."""
        raise NotImplementedError("the script has no structured output")

    async def stream(self, messages: list[Any], *args: Any, **named: Any) -> AsyncIterable[Any]:
        """Answer the conversation so far."""
        answered = {result["toolUseId"] for result in results_in(messages)}
        turn = next((turn for turn in self._turns if not answered.issuperset(turn)), ())
        yield {"messageStart": {"role": "assistant"}}
        for tool in turn:
            yield {"contentBlockStart": {"start": {"toolUse": {"toolUseId": tool, "name": tool}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": "{}"}}}}
            yield {"contentBlockStop": {}}
        if not turn:
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": "done"}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if turn else "end_turn"}}


def results_in(messages: Sequence[Any]) -> list[Any]:
    """The tool results of a conversation, in order."""
    return [block["toolResult"] for message in messages for block in message["content"] if "toolResult" in block]
