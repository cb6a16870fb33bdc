"""An agent that may send money back only when a human says so, with a scripted model in place of a real one.

The worker is killed right after the refund went out, before anything of it is stored, and another one takes the
conversation over: without a record of the refund it is sent twice, and behind `@effect` once. To see every such moment,
drill it:

    resumption drill examples.agent_with_approval:agent --effect examples.agent_with_approval:refund --decide yes \
        --input '{"messages": [{"role": "user", "content": "Refund order 7, please."}]}'
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from resumption import Ledger, effect
from resumption.guard.effects import Fired, NotFired, Verification

Refund = Callable[[str], str]


def refund(order: str) -> str:
    """Send the money of an order back, at the payment provider."""
    return f"order {order} is refunded"


class ScriptedModel(BaseChatModel):
    """Asks for the refund once, and then says goodbye: what a model does here, as a function of the conversation."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> ScriptedModel:
        """It knows its tools by heart."""
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        if isinstance(messages[-1], ToolMessage):
            said = AIMessage(f"Done: {messages[-1].content}.")
        else:
            said = AIMessage("", tool_calls=[{"name": "send_refund", "args": {"order": "7"}, "id": "call-1"}])
        return ChatResult(generations=[ChatGeneration(message=said)])


def agent(refund: Refund = refund, checkpointer: Any = None) -> Any:
    """The agent; its one tool waits for an approval."""

    def send_refund(order: str) -> str:
        """Send the money of an order back."""
        return refund(order)

    approval = HumanInTheLoopMiddleware(interrupt_on={"send_refund": True})
    return create_agent(ScriptedModel(), [send_refund], middleware=[approval], checkpointer=checkpointer)


def worker(folder: Path, *, recorded: bool, dies: bool) -> None:
    """Serve the conversation from where it is: start it, or approve what waits. One that dies is killed."""
    book = folder / "refunds"

    def send(order: str) -> str:
        book.write_text(f"{book.read_text() if book.exists() else ''}{order}\n")
        if dies:
            os.kill(os.getpid(), signal.SIGKILL)
        return f"order {order} is refunded"

    def ask_the_provider(order: str) -> Verification:
        return Fired(f"order {order} is refunded") if order in book.read_text().split() else NotFired()

    if recorded:
        ledger = Ledger(f"sqlite:///{folder / 'effects.db'}")
        send = effect(ledger, key=lambda order: f"refund:{order}", on_doubt=ask_the_provider)(send)
    connection = sqlite3.connect(folder / "conversation.db", check_same_thread=False)
    app = agent(send, SqliteSaver(connection))
    config: Any = {"configurable": {"thread_id": "conversation"}}
    if app.get_state(config).created_at is None:
        app.invoke({"messages": [{"role": "user", "content": "Refund order 7, please."}]}, config)
    waits = bool(app.get_state(config).interrupts)
    app.invoke(Command(resume={"decisions": [{"type": "approve"}]}) if waits else None, config)


def run(folder: Path, *, recorded: bool) -> int:
    """Have one worker die and another one go on, and return how often money was sent."""
    folder.mkdir()
    for dies in (True, False):
        process = multiprocessing.get_context("fork").Process(
            target=worker, args=(folder,), kwargs={"recorded": recorded, "dies": dies}
        )
        process.start()
        process.join()
        if process.exitcode != (-signal.SIGKILL if dies else 0):
            sys.exit(f"a worker ended with {process.exitcode}")
    return len((folder / "refunds").read_text().split())


def main() -> None:
    """Print both, and fail if the recorded refund was sent more than once."""
    with tempfile.TemporaryDirectory() as folder:
        bare = run(Path(folder) / "bare", recorded=False)
        recorded = run(Path(folder) / "recorded", recorded=True)
    sys.stdout.write(f"as it is:       refunded {bare} times\nbehind @effect: refunded {recorded} time\n")
    sys.exit(0 if recorded == 1 else 1)


if __name__ == "__main__":
    main()
