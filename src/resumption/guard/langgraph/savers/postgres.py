"""The mixin for `PostgresSaver`, on a connection, a pipeline or a pool.

A transaction is what one pipeline sends up to its end, as in stock LangGraph, so that a write costs one round trip. The
fence goes first in it, as a statement that fails unless it is current: nobody waits for an answer to that.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, TypeVar

import psycopg
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.postgres import PostgresSaver
from psycopg import errors
from psycopg.rows import dict_row, tuple_row

from resumption.guard.claims import protocol, statements
from resumption.guard.claims.locks import Locks
from resumption.guard.claims.servers import Seeing, ServerLocks, server_locks
from resumption.guard.langgraph import statements as slots
from resumption.guard.langgraph.savers.base import BlockingSaver, Open, fenced, opened
from resumption.guard.langgraph.tenure import Tenure
from resumption.guard.stores.protocol import Reply, Statement, Work
from resumption.guard.stores.session import drive

__all__ = ["CONFLICTS", "SPOIL", "UNASKED", "GuardedPostgres", "asks", "locks_of", "seeing"]

T = TypeVar("T")

SPOIL = "SELECT 1 / 0"
"""Leaving a pipeline commits what it has sent. A failing statement at its end takes everything back."""

CONFLICTS = (errors.DivisionByZero, errors.UniqueViolation, errors.PipelineAborted)
"""What a transaction fails with if its fence isn't the current one, or was granted to two at once."""

UNASKED = Reply((), -1)
"""The reply to a statement that isn't waited for."""


def asks(sql: str) -> bool:
    """Whether somebody waits for a statement's answer. Whether the others succeeded shows at the transaction's end."""
    return sql.startswith("SELECT")


class GuardedPostgres(BlockingSaver, PostgresSaver):
    """A `PostgresSaver` whose transactions begin by checking the fence."""

    guard_sql = statements.POSTGRES
    guard_slots = slots.POSTGRES

    def guard_prepare(self, original: BaseCheckpointSaver[Any]) -> None:
        """Make the guard's tables if they aren't there."""
        if not self.guard_read(lambda: protocol.present(self.guard_sql)):
            self.guard_write(None, lambda: protocol.creating(self.guard_sql))
        self.guard_locks = seeing(locks_of(self.conn), self.guard_read(protocol.readable))

    def guard_read(self, make: Callable[[], Work[T]]) -> T:
        """Run statements that only read."""
        with super()._cursor() as plain:
            cursor: psycopg.Cursor[Any] = plain
            cursor.row_factory = tuple_row
            return drive(make(), _reading(cursor), _batch_on(cursor) if self.supports_pipeline else None)

    @contextmanager
    def _cursor(self, *, pipeline: bool = False) -> Iterator[psycopg.Cursor[Any]]:
        """As `PostgresSaver._cursor`; inside a transaction of a run, a cursor in that."""
        begun = opened(self.guard_key)
        if begun is None:
            with super()._cursor(pipeline=pipeline) as cursor:
                yield cursor
        elif pipeline:
            yield begun.cursor
        else:
            with begun.connection.cursor(binary=True, row_factory=dict_row) as cursor:
                yield cursor

    @contextmanager
    def transaction(self, tenure: Tenure | None) -> Generator[Open[Callable[..., Reply]]]:
        """A transaction that begins by checking the fence."""
        failure: BaseException | None = None
        fence: int | None = None
        try:
            with super()._cursor(pipeline=True) as cursor:
                execute = _execute_on(cursor)
                try:
                    if tenure is not None and tenure.fence is None:
                        fence = drive(fenced(self.guard_sql, tenure), execute)
                    elif tenure is not None:
                        fence = tenure.fence
                        cursor.execute(statements.MUST_HOLD, tenure.grant)
                    yield Open(self.guard_key, cursor.connection, execute, cursor)
                except BaseException as error:
                    failure = error
                    with suppress(psycopg.Error):  # that is what it is for
                        cursor.execute(SPOIL)
                    raise
        except BaseException as error:
            cause = failure or error  # a spoilt pipeline fails once more when it is left
            if tenure is not None and isinstance(cause, CONFLICTS):
                self.guard_read(lambda: protocol.holding(self.guard_sql, tenure.thread, tenure.token, tenure.fence))
            raise cause from cause.__cause__
        if tenure is not None:
            tenure.fence = fence


def _reading(cursor: psycopg.Cursor[Any]) -> Callable[[str, tuple[object, ...]], Reply]:
    """Statements of which each is answered before the next one is sent."""

    def execute(sql: str, parameters: tuple[object, ...]) -> Reply:
        cursor.execute(sql, parameters)
        return Reply(cursor.fetchall(), cursor.rowcount)

    return execute


def _execute_on(cursor: psycopg.Cursor[Any]) -> Callable[[str, tuple[object, ...]], Reply]:
    """Statements of a transaction. One that is waited for has a cursor of its own: on this one, the answer to an
    earlier statement could be taken for its.
    """

    def execute(sql: str, parameters: tuple[object, ...]) -> Reply:
        if not asks(sql):
            cursor.execute(sql, parameters)
            return UNASKED
        with cursor.connection.cursor(row_factory=tuple_row) as asking:
            asking.execute(sql, parameters)
            return Reply(asking.fetchall(), asking.rowcount)

    return execute


def _batch_on(cursor: psycopg.Cursor[Any]) -> Callable[[Sequence[Statement]], list[Reply]]:
    def ask(batch: Sequence[Statement]) -> list[Reply]:
        connection = cursor.connection
        with ExitStack() as stack:
            more = [stack.enter_context(connection.cursor(row_factory=tuple_row)) for _ in batch[1:]]
            cursors: list[psycopg.Cursor[Any]] = [cursor, *more]
            with connection.pipeline():
                for asking, statement in zip(cursors, batch, strict=True):
                    asking.execute(*statement)
            return [Reply(asking.fetchall(), asking.rowcount) for asking in cursors]

    return ask


def locks_of(connection: Any) -> ServerLocks:
    """The locks of the database that a connection or a pool, of either kind, leads to."""
    if hasattr(connection, "conninfo"):
        place, options = connection.conninfo, dict(connection.kwargs or {})
    else:
        place, options = connection.info.dsn, {"password": connection.info.password or None}
    for ours in ("autocommit", "row_factory", "prepare_threshold", "cursor_factory"):
        options.pop(ours, None)

    def connect() -> psycopg.Connection[Any]:
        return psycopg.connect(place, **options, autocommit=True, prepare_threshold=None, row_factory=tuple_row)

    return server_locks(place, connect)


def seeing(locks: ServerLocks, fences: str | None) -> Locks:
    """The same locks, which tell what this table of fences says; as they are, if their session can't read it."""
    return locks if fences is None else Seeing(locks, fences)
