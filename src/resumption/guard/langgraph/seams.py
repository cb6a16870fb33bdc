"""What the guard builds on inside LangGraph, checked before the first graph is guarded.

None of it is public. A release that moved something is refused by name: half a guard would be taken for a whole one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from resumption.errors import UnsupportedRelease

__all__ = ["SEAMS", "check_seams", "missing"]

_LOOP = "langgraph.pregel._loop"

SEAMS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "the loops are looked up by name where they are started": (
        "langgraph.pregel.main",
        lambda module: hasattr(module, "SyncPregelLoop") and hasattr(module, "AsyncPregelLoop"),
    ),
    "every run goes through `stream` or `astream`": (
        "langgraph.pregel",
        lambda module: all(_accepts(getattr(module.Pregel, name), "input", "config") for name in ("stream", "astream")),
    ),
    "every update goes through the bulk methods": (
        "langgraph.pregel",
        lambda module: hasattr(module.Pregel, "bulk_update_state") and hasattr(module.Pregel, "abulk_update_state"),
    ),
    "a loop accepts called tasks in one place": (
        _LOOP,
        lambda module: (
            _accepts(module.SyncPregelLoop.accept_push, "task", "write_idx", "call")
            and _accepts(module.AsyncPregelLoop.aaccept_push, "task", "write_idx", "call")
        ),
    ),
    "a loop prepares its tasks in `tick`": (_LOOP, lambda module: hasattr(module.PregelLoop, "tick")),
    "a checkpoint can wait for writes, and for the one before it": (
        _LOOP,
        lambda module: (
            hasattr(module.PregelLoop, "_delta_write_futs")
            and _accepts(module.SyncPregelLoop._checkpointer_put_after_previous, "prev")
            and _accepts(module.AsyncPregelLoop._checkpointer_put_after_previous, "prev")
        ),
    ),
    "a loop knows which checkpoint is stored already": (
        _LOOP,
        lambda module: "checkpoint_id_saved" in module.PregelLoop.__annotations__,
    ),
    "a task's writes and the state they lead to can be reached from its config": (
        "langgraph._internal._constants",
        lambda module: (
            (module.CONFIG_KEY_SEND, module.CONFIG_KEY_READ, module.CONFIG_KEY_TASK_ID)
            == ("__pregel_send", "__pregel_read", "__pregel_task_id")
        ),
    ),
    "what a task reads is LangGraph's function, with the run's channels bound to it": (
        "langgraph.pregel._algo",
        lambda module: (
            [*inspect.signature(module.local_read).parameters]
            == ["scratchpad", "channels", "managed", "task", "select", "fresh"]
        ),
    ),
    "a step that writes can do more once it has written": (
        "langgraph.pregel._write",
        lambda module: (
            _accepts(module.ChannelWrite._write, "input", "config")
            and _accepts(module.ChannelWrite._awrite, "input", "config")
            and _accepts(module.ChannelWrite.__init__, "writes")
        ),
    ),
    "what a superstep's tasks wrote is applied to its channels in one place": (
        "langgraph.pregel._algo",
        lambda module: (
            module.PregelTaskWrites._fields == ("path", "name", "writes", "triggers")
            and _accepts(module.apply_writes, "checkpoint", "channels", "tasks", "get_next_version", "trigger_to_nodes")
        ),
    ),
    "questions and answers have slots of their own": (
        "langgraph.checkpoint.base",
        lambda module: {"__interrupt__", "__resume__", "__error__"} <= module.WRITES_IDX_MAP.keys(),
    ),
    "a node is a sequence of steps, and says how it runs in a thread": (
        "langgraph._internal._runnable",
        lambda module: hasattr(module, "RunnableSeq") and _accepts(module.RunnableCallable.__init__, "func", "afunc"),
    ),
    "a node can be copied with other writers": (
        "langgraph.pregel._read",
        lambda module: _accepts(module.PregelNode.copy, "update"),
    ),
}
"""Each seam, by what it is for: the module, and whether it is as the guard needs it."""


def missing(seams: dict[str, tuple[str, Callable[[Any], bool]]] = SEAMS) -> Iterator[str]:
    """The seams that this release doesn't have."""
    for purpose, (module, holds) in seams.items():
        try:
            found = holds(import_module(module))
        except (ImportError, AttributeError):
            found = False
        if not found:
            yield f"{purpose} ({module})"


def check_seams() -> None:
    """Raise `UnsupportedRelease` if this release of LangGraph is built otherwise."""
    lacking = list(missing())
    if lacking:
        raise UnsupportedRelease(
            f"This release of LangGraph can't be guarded: not so here that {'; '.join(lacking)}.",
            advice="Use a release that the guard's documentation lists, or a newer release of this package.",
        )


def _accepts(function: Any, *names: str) -> bool:
    return set(names) <= inspect.signature(function).parameters.keys()
