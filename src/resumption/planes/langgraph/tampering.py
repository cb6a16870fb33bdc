"""Altering a checkpoint from outside, with LangGraph's own saver, as an editor or a faulty migration would."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from importlib.util import find_spec
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite import SqliteSaver

from resumption.planes.interface import Store
from resumption.planes.langgraph.apps import FILE

if find_spec("langgraph.checkpoint.postgres"):  # a distribution of its own, which users of SQLite needn't have
    from langgraph.checkpoint.postgres import PostgresSaver

__all__ = ["tamper"]

_CHANNEL = "trail"


def tamper(store: Store) -> None:
    """Make the trail of the thread's newest checkpoint a number. Raises `LookupError` if no checkpoint has a trail."""
    with _saver(store) as saver:
        thread: RunnableConfig = {"configurable": {"thread_id": store.thread}}
        newest = next((found for found in saver.list(thread) if _CHANNEL in found.checkpoint["channel_values"]), None)
        if newest is None:
            raise LookupError(f"thread {store.thread} has no checkpoint with a trail")
        checkpoint = newest.checkpoint
        # A version of its own, since PostgreSQL keeps the value of each version apart.
        version = saver.get_next_version(checkpoint["channel_versions"][_CHANNEL], None)
        checkpoint["channel_values"][_CHANNEL] = 7
        checkpoint["channel_versions"][_CHANNEL] = version
        saver.put(newest.parent_config or _without_id(newest.config), checkpoint, newest.metadata, {_CHANNEL: version})


def _without_id(config: RunnableConfig) -> RunnableConfig:
    return {"configurable": {key: value for key, value in config["configurable"].items() if key != "checkpoint_id"}}


def _saver(store: Store) -> AbstractContextManager[BaseCheckpointSaver[Any]]:
    return PostgresSaver.from_conn_string(store.database) if store.database else _sqlite(store)


@contextmanager
def _sqlite(store: Store) -> Iterator[BaseCheckpointSaver[Any]]:
    with closing(sqlite3.connect(store.location / FILE)) as connection:
        yield SqliteSaver(connection)
