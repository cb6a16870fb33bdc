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


def guarded_saver(saver: BaseCheckpointSaver[Any], store: str | None = None) -> GuardedSaver:
    """A copy of the saver, on the same connection, that is guarded: always the same. Raises `UnsupportedSaver`.

    `store` is for a saver that the guard doesn't know: a SQLite file, or a database's URL.
    """
    if isinstance(saver, GuardedSaver):
        return saver
    made, address = _made.get(saver, (None, None))
    if made is None:
        made, address = _made[saver] = (_guarded(saver) if store is None else _guarded_by(saver, store)), store
    if address != store:
        raise UnsupportedSaver(
            f"This {type(saver).__name__} is guarded with store={address!r} already.",
            advice="Guard every graph on a saver with the same store: two would lease its threads twice.",
        )
    return made


_made: WeakKeyDictionary[BaseCheckpointSaver[Any], tuple[GuardedSaver, str | None]] = WeakKeyDictionary()


def _guarded(saver: BaseCheckpointSaver[Any]) -> GuardedSaver:
    found = _kind_of(saver)
    if found is None:
        raise UnsupportedSaver(
            f"A {type(saver).__name__} can't be guarded by itself: its writes can't be made to carry a fence.",
            advice="Use a saver of langgraph-checkpoint-sqlite or langgraph-checkpoint-postgres, or keep the guard's "
            "records in a database of their own: guard(graph, store=…).",
        )
    base, mixin = found
    # A subclass's own methods stay outermost: what they do after LangGraph's has returned finds its write durable.
    copy: GuardedSaver = _copied(saver, (mixin,) if type(saver) is base else (type(saver), mixin))
    copy.guard_groups = all(getattr(type(saver), name) is getattr(base, name) for name in _STORING)
    copy.guard_prepare(saver)
    return copy


def _guarded_by(saver: BaseCheckpointSaver[Any], store: str) -> GuardedSaver:
    from resumption.guard.langgraph.savers.stored import GuardedForeign, address_of

    if _kind_of(saver) is not None:
        raise UnsupportedSaver(
            f"A {type(saver).__name__} keeps the guard's records in its own database.",
            advice="Leave store=… away: there the fence is part of each write's transaction.",
        )
    copy: GuardedForeign = _copied(saver, (GuardedForeign, type(saver)))
    copy.guard_groups = False
    copy.guard_use(address_of(store))
    return copy


def _copied(saver: BaseCheckpointSaver[Any], bases: tuple[type[Any], ...]) -> Any:
    kind = type(f"Guarded{type(saver).__name__}", bases, {"__module__": bases[-1].__module__})
    copy: Any = object.__new__(kind)
    copy.__dict__.update(saver.__dict__)
    copy.guard_key = object()
    return copy


def _kind_of(saver: BaseCheckpointSaver[Any]) -> tuple[type[BaseCheckpointSaver[Any]], type[GuardedSaver]] | None:
    """LangGraph's class of this saver, and the mixin for it; None for any other saver.

    One whose module nobody imported can't be the one.
    """
    import sys

    for module, name, mixin in _KINDS:
        base = getattr(sys.modules.get(module), name, None)
        if base is not None and isinstance(saver, base):
            from importlib import import_module

            found: type[GuardedSaver] = getattr(import_module(f"{__name__}.{mixin[0]}"), mixin[1])
            return base, found
    return None


_STORING = ("put", "put_writes", "aput", "aput_writes")

_KINDS = (
    ("langgraph.checkpoint.memory", "InMemorySaver", ("memory", "GuardedMemory")),
    ("langgraph.checkpoint.sqlite", "SqliteSaver", ("sqlite", "GuardedSqlite")),
    ("langgraph.checkpoint.sqlite.aio", "AsyncSqliteSaver", ("aiosqlite", "GuardedAsyncSqlite")),
    ("langgraph.checkpoint.postgres", "PostgresSaver", ("postgres", "GuardedPostgres")),
    ("langgraph.checkpoint.postgres.aio", "AsyncPostgresSaver", ("aiopostgres", "GuardedAsyncPostgres")),
)
"""The savers that can be guarded: module and name, and the mixin's."""
