"""Savers whose writes carry a fence: subclasses by mixin of whatever saver the graph was compiled with.

A mixin, not a wrapper: LangGraph looks at a saver's class and at the signatures of its methods to find out what it can
do, and copies savers with a serializer of its own.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from langgraph.checkpoint.base import BaseCheckpointSaver

from resumption.errors import UnsupportedSaver
from resumption.guard.langgraph.savers.base import GuardedSaver

__all__ = ["GuardedSaver", "guarded_saver"]


def guarded_saver(saver: BaseCheckpointSaver[Any]) -> GuardedSaver:
    """A copy of the saver, on the same connection, that is guarded: always the same. Raises `UnsupportedSaver`."""
    if isinstance(saver, GuardedSaver):
        return saver
    made: GuardedSaver | None = _made.get(saver)
    if made is None:
        made = _made[saver] = _guarded(saver)
    return made


_made: WeakKeyDictionary[BaseCheckpointSaver[Any], GuardedSaver] = WeakKeyDictionary()


def _guarded(saver: BaseCheckpointSaver[Any]) -> GuardedSaver:
    base, mixin = _kind_of(saver)
    name = f"Guarded{type(saver).__name__}"
    # A subclass's own methods stay outermost: what they do after LangGraph's has returned finds its write durable.
    bases = (mixin,) if type(saver) is base else (type(saver), mixin)
    kind: type[GuardedSaver] = type(name, bases, {"__module__": mixin.__module__})
    copy = object.__new__(kind)
    copy.__dict__.update(saver.__dict__)
    copy.guard_key = object()
    copy.guard_groups = all(getattr(type(saver), name) is getattr(base, name) for name in _STORING)
    copy.guard_prepare(saver)
    return copy


def _kind_of(saver: BaseCheckpointSaver[Any]) -> tuple[type[BaseCheckpointSaver[Any]], type[GuardedSaver]]:
    """LangGraph's class of this saver, and the mixin for it. One whose module nobody imported can't be the one."""
    import sys

    for module, name, mixin in _KINDS:
        base = getattr(sys.modules.get(module), name, None)
        if base is not None and isinstance(saver, base):
            from importlib import import_module

            found: type[GuardedSaver] = getattr(import_module(f"{__name__}.{mixin[0]}"), mixin[1])
            return base, found
    raise UnsupportedSaver(
        f"A {type(saver).__name__} can't be guarded: its writes can't be made to carry a fence.",
        advice="Use a saver of langgraph-checkpoint-sqlite or langgraph-checkpoint-postgres.",
    )


_STORING = ("put", "put_writes", "aput", "aput_writes")

_KINDS = (
    ("langgraph.checkpoint.memory", "InMemorySaver", ("memory", "GuardedMemory")),
    ("langgraph.checkpoint.sqlite", "SqliteSaver", ("sqlite", "GuardedSqlite")),
    ("langgraph.checkpoint.sqlite.aio", "AsyncSqliteSaver", ("aiosqlite", "GuardedAsyncSqlite")),
    ("langgraph.checkpoint.postgres", "PostgresSaver", ("postgres", "GuardedPostgres")),
    ("langgraph.checkpoint.postgres.aio", "AsyncPostgresSaver", ("aiopostgres", "GuardedAsyncPostgres")),
)
"""The savers that can be guarded: module and name, and the mixin's."""
