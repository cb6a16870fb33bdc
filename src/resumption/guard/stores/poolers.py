"""Whether a PostgreSQL session is a client's own, or handed out by a pooler to whoever asks next.

A pooler has one identity for its client, the server another for the session behind it: where the two are the same there
is no pooler. Which kind of pooler it is shows when others ask while this client is idle. They hold on to what they get,
so a pooler with sessions to spare runs out of them, or gives this client another.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing
from typing import Any

import psycopg

from resumption.guard.stores.statements import SESSION

__all__ = ["is_shared"]

_LOOKS = 3
"""How many others have to get sessions of their own, before a pooler is taken for one that hands them out for good."""


def is_shared(session: psycopg.Connection[Any], connect: Callable[[], psycopg.Connection[Any]]) -> bool:
    """Whether this session, of which nothing is used yet, is given to others while it is idle.

    `connect` opens connections as this one was opened. Both are in autocommit mode.
    """
    mine = _process(session)
    if mine == session.info.backend_pid:
        return False
    with ExitStack() as others:
        for _ in range(_LOOKS):
            other = others.enter_context(closing(connect()))
            try:
                other.execute("BEGIN")
                theirs, now = _process(other), _process(session)
            except psycopg.Error:
                return True  # it hands them out by statement, or has one for all
            if theirs == mine or now != mine:
                return True
    return False


def _process(session: psycopg.Connection[Any]) -> int:
    row = session.execute(SESSION).fetchone()
    if row is None:
        raise AssertionError("a SELECT without FROM has one row")
    (process,) = row.values() if isinstance(row, dict) else row
    return int(process)
