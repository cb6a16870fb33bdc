"""Effects whose record commits with the caller's own writes: no window between the two, so nothing in doubt.

The record is inserted before the function runs and completed after it, in the caller's transaction: a racing
transaction waits at the insert (PostgreSQL) or at BEGIN IMMEDIATE (SQLite) and is then served. A savepoint around each
effect undoes it whole, record included, if it raises.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from collections.abc import Generator
from contextlib import AsyncExitStack, ExitStack, contextmanager
from contextvars import ContextVar, Token
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from resumption.decide import admit as decide
from resumption.errors import SchemaMismatch, Superseded, UnsupportedEffect
from resumption.guard import telemetry
from resumption.guard.attempts import Attempt, is_inside, making, refuse_reentry
from resumption.guard.course import Call, encoded
from resumption.guard.refusals import refusal, served
from resumption.guard.steps import Course, Invoke
from resumption.guard.stores import sqlite
from resumption.guard.stores.protocol import Opening, Settlement, Wanted, Work, opening, settling
from resumption.guard.stores.records import fresh_token
from resumption.guard.stores.schema import identifying
from resumption.guard.stores.session import adrive, drive

if TYPE_CHECKING:
    from resumption.guard.ledger import Ledger

__all__ = ["Transaction", "course_inside", "open_transaction"]

T = TypeVar("T")

_open: ContextVar[tuple[Transaction, ...]] = ContextVar("resumption_transactions", default=())


class Transaction:
    """One `with ledger.transaction(connection):` block; `async with` for an asynchronous connection."""

    def __init__(self, ledger: Ledger, connection: Any) -> None:
        self.ledger = ledger
        self.refused: list[tuple[str, str]] = []
        self.is_open = False
        self.calls: list[str] = []  # the keys of the effects that run in it, innermost last
        self._connection = connection
        self.is_async = _is_async(connection)
        self._stack = ExitStack()
        self._async_stack = AsyncExitStack()
        self._token: Token[tuple[Transaction, ...]] | None = None

    def __enter__(self) -> Transaction:
        if self.is_async:
            raise UnsupportedEffect("This connection is asynchronous.", advice="Use `async with`.")
        self._check_kind()
        identity = self.ledger.setup()
        if isinstance(self._connection, sqlite3.Connection):
            self._stack.enter_context(_sqlite_block(self._connection, self.ledger))
        elif not _in_transaction(self._connection):
            self._stack.enter_context(self._connection.transaction())
        try:
            self._check(drive(identifying(self.ledger.store.sql), self._execute), identity)
        except BaseException:
            self._stack.__exit__(*sys.exc_info())
            raise
        self._enter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()
        self._stack.__exit__(kind, error, trace)
        self._write_refusals()

    async def __aenter__(self) -> Transaction:
        if not self.is_async:
            raise UnsupportedEffect("This connection is synchronous.", advice="Use `with`.")
        self._check_kind()
        identity = await asyncio.to_thread(self.ledger.setup)
        if not _in_transaction(self._connection):
            await self._async_stack.enter_async_context(self._connection.transaction())
        try:
            self._check(await adrive(identifying(self.ledger.store.sql), self._execute), identity)
        except BaseException:
            await self._async_stack.__aexit__(*sys.exc_info())
            raise
        self._enter()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()
        await self._async_stack.__aexit__(kind, error, trace)
        await asyncio.to_thread(self._write_refusals)

    def converse(self, work: Work[T]) -> Any:
        """Drive an operation on the caller's connection. An awaitable of its outcome if that is asynchronous."""
        return adrive(work, self._execute) if self.is_async else drive(work, self._execute)

    def _enter(self) -> None:
        self._token = _open.set((*_open.get(), self))
        self.is_open = True

    def _leave(self) -> None:
        self.is_open = False
        if self._token is not None:
            _open.reset(self._token)

    def _write_refusals(self) -> None:
        """Audit rows of refused calls, outside the transaction: its rollback must not take them along."""
        while self.refused:
            self.ledger.refuse(*self.refused.pop(0))

    @property
    def _execute(self) -> Any:
        if isinstance(self._connection, sqlite3.Connection):
            return sqlite.execute_on(self._connection)
        from resumption.guard.stores import postgres

        return postgres.aexecute_on(self._connection) if self.is_async else postgres.execute_on(self._connection)

    def _check_kind(self) -> None:
        is_sqlite = isinstance(self._connection, sqlite3.Connection)
        if is_sqlite != (self.ledger.kind == "sqlite"):
            self._check(None, self.ledger.kind)

    def _check(self, found: str | None, wanted: str) -> None:
        if found != wanted:
            raise SchemaMismatch(
                "This connection leads to another database than the ledger's.",
                advice="Keep the ledger in the database whose transactions record its effects.",
            )


def open_transaction(ledger: Ledger) -> Transaction | None:
    """The innermost open transaction of this ledger around the running code."""
    return next((one for one in reversed(_open.get()) if one.ledger is ledger and one.is_open), None)


def course_inside(transaction: Transaction, call: Call) -> Course[object]:
    """The course of a call inside a transaction. Nothing is retried here: what is in doubt began outside."""
    refuse_reentry(call.key)
    ledger = transaction.ledger
    # Not in a thread: those may all be waiting for this very transaction to end.
    wanted = ledger.want(call.key, call.arguments, decide.RAISE, False)
    if transaction.calls and not is_inside(transaction.calls[-1]):
        ledger.landed(wanted)
        raise UnsupportedEffect(
            f"The effect {transaction.calls[-1]!r} is still running in this transaction.",
            advice="Its savepoint would be undone or kept with this one's: await one effect before the next.",
        )
    transaction.calls.append(call.key)
    try:
        return (yield from _course_of(transaction, call, wanted))
    finally:
        transaction.calls.pop()
        ledger.landed(wanted)


def _course_of(transaction: Transaction, call: Call, wanted: Wanted) -> Course[object]:
    ledger = transaction.ledger
    sql = ledger.store.sql
    yield Invoke(partial(transaction.converse, _say(sql.savepoint)))
    try:
        opened: Opening = yield Invoke(partial(transaction.converse, opening(sql, wanted, ledger.standing)))
        telemetry.decided("admit", call.key, opened.decision)
        if opened.decision == decide.FIRE:
            value = yield from _fired_inside(transaction, call, wanted, opened)
        elif opened.decision == decide.SERVE:
            value = served(opened.record)
        else:
            transaction.refused.append((call.key, opened.decision))
            raise refusal(opened, ledger.address)
    except GeneratorExit:
        raise  # destroyed with its event loop: the connection is lost, and the server rolls back
    except BaseException as error:
        try:
            yield Invoke(partial(transaction.converse, _say(sql.undo, sql.release)))
        except Exception as failed:
            error.add_note(f"The savepoint could not be undone: {failed}. The transaction must be rolled back.")
        raise
    yield Invoke(partial(transaction.converse, _say(sql.release)))
    return value


def _fired_inside(transaction: Transaction, call: Call, wanted: Wanted, opened: Opening) -> Course[object]:
    ledger = transaction.ledger
    call.must_hold()
    with making(Attempt(call.key, opened.record.generation)), telemetry.span(call.key, opened.record.attempt):
        value = yield Invoke(call.invoke)
    result, note = encoded(call.key, value, ledger.max_result_bytes)
    token = wanted.owner.token
    settlement = Settlement(call.key, wanted.version, token, decide.RETURNED, fresh_token(), result, note)
    work = settling(ledger.store.sql, settlement, ledger.store.token())
    state = yield Invoke(partial(transaction.converse, work))
    if state == decide.SUPERSEDED:
        raise Superseded(
            f"The record of {call.key!r} changed inside its own transaction.",
            advice="The process was forked inside it. Roll back.",
            key=call.key,
            branch=state,
            result=value,
        )
    return value


def _say(*statements: str) -> Work[None]:
    for statement in statements:
        yield statement, ()


@contextmanager
def _sqlite_block(connection: sqlite3.Connection, ledger: Ledger) -> Generator[None]:
    """Begin and commit, unless the caller has begun."""
    if connection.in_transaction:
        yield
        return
    sql = ledger.store.sql
    connection.execute(sql.begin)
    try:
        yield
        connection.execute(sql.commit)
    except BaseException:
        if connection.in_transaction:
            connection.execute(sql.rollback)
        raise


def _is_async(connection: Any) -> bool:
    """Whether this is a connection with coroutines. Raises `UnsupportedEffect` for what is no connection we know."""
    if isinstance(connection, sqlite3.Connection):
        return False
    psycopg = sys.modules.get("psycopg")
    if psycopg is not None and isinstance(connection, psycopg.Connection | psycopg.AsyncConnection):
        return isinstance(connection, psycopg.AsyncConnection)
    raise UnsupportedEffect(
        f"{type(connection).__qualname__} is no connection that can carry a record.",
        advice="Pass a sqlite3.Connection, psycopg.Connection or psycopg.AsyncConnection.",
    )


def _in_transaction(connection: Any) -> bool:
    return bool(connection.info.transaction_status.name != "IDLE")
