"""Driving an operation of `protocol` over a connection."""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from resumption.errors import LedgerUnavailable
from resumption.guard.stores.protocol import Batch, Reply, Statement, Work
from resumption.guard.stores.records import Owner, Record, Standing
from resumption.guard.stores.statements import Statements

__all__ = ["Execute", "Store", "adrive", "backoff", "drive", "in_transaction", "persist"]

T = TypeVar("T")
Execute = Callable[[str, tuple[object, ...]], Reply]
"""A connection, reduced to what the protocol needs."""


class Store(Protocol):
    """A database with the ledger's tables. Methods raise `LedgerUnavailable` and may be called from any thread.

    `address` names it to people: a URL without a password.
    """

    sql: Statements
    address: str

    def present(self) -> bool:
        """Whether there is a database that could hold a ledger; if not, connecting would create one."""
        ...

    def token(self) -> int:
        """The token of this process."""
        ...

    def owner(self) -> Owner:
        """This process, with its proof of life in place."""
        ...

    def standing(self, record: Record) -> Work[Standing]:
        """What is proven about the owner of a record, which is another process."""
        ...

    def look(self, make: Callable[[], Work[T]]) -> T:
        """Run an operation of reads, outside a transaction."""
        ...

    def transact(self, make: Callable[[], Work[T]], *, patient: bool = True) -> T:
        """Run an operation in one transaction. It may be run again after a transient failure, unless not `patient`."""
        ...

    def close(self) -> None:
        """Close idle connections."""
        ...

    def release(self) -> None:
        """Give up this process's proof of life: nothing of it may still run."""
        ...

    def pause(self) -> None:
        """Before a fork: have nothing open that a child must not inherit."""
        ...

    def resume(self) -> None:
        """In the parent, after a fork."""
        ...

    def forget(self) -> None:
        """In a forked child: leave everything of the parent's alone."""
        ...


def drive(work: Work[T], execute: Execute, together: Callable[[Sequence[Statement]], list[Reply]] | None = None) -> T:
    """Run an operation to its end; a failing statement is thrown into it.

    `together` sends the statements of a batch at once; without it they are executed one after the other.
    """

    def answer(asked: Statement | Batch) -> Reply:
        if not isinstance(asked, Batch):
            return execute(*asked)
        replies = together(asked.statements) if together else [execute(*one) for one in asked.statements]
        return Reply((), -1, replies)

    try:
        asked = next(work)
        while True:
            try:
                reply = answer(asked)
            except Exception as error:
                asked = work.throw(error)
            else:
                asked = work.send(reply)
    except StopIteration as end:
        outcome: T = end.value
        return outcome


async def adrive(
    work: Work[T],
    execute: Callable[[str, tuple[object, ...]], Awaitable[Reply]],
    together: Callable[[Sequence[Statement]], Awaitable[list[Reply]]] | None = None,
) -> T:
    """`drive` for a connection whose methods are coroutines."""

    async def answer(asked: Statement | Batch) -> Reply:
        if not isinstance(asked, Batch):
            return await execute(*asked)
        if together:
            return Reply((), -1, await together(asked.statements))
        return Reply((), -1, [await execute(*one) for one in asked.statements])

    try:
        asked = next(work)
        while True:
            try:
                reply = await answer(asked)
            except Exception as error:
                asked = work.throw(error)
            else:
                asked = work.send(reply)
    except StopIteration as end:
        outcome: T = end.value
        return outcome


def in_transaction(sql: Statements, work: Work[T]) -> Work[T]:
    """The same operation between BEGIN and COMMIT. After a failure the caller closes the connection."""
    yield sql.begin, ()
    outcome = yield from work
    yield sql.commit, ()
    return outcome


def backoff(longest: float) -> Iterator[float]:
    """Growing pauses with jitter, in seconds."""
    pause = 0.001
    while True:
        yield pause * random.uniform(0.5, 1.5)
        pause = min(pause * 1.6, longest)


def persist(
    attempt: Callable[[], T],
    errors: type[Exception],
    transient: Callable[[Exception], bool],
    timeout: float,
    what: str,
) -> T:
    """Repeat an attempt after transient failures until `timeout` seconds are over.

    Raises `LedgerUnavailable` then, or at once after a failure among the driver's `errors` that is not transient.
    """
    give_up = time.monotonic() + timeout
    pauses = backoff(0.25)
    while True:
        pause = next(pauses)
        try:
            return attempt()
        except errors as error:
            if not transient(error) or time.monotonic() + pause > give_up:
                raise LedgerUnavailable(
                    f"A {what} of the store failed: {type(error).__name__}: {str(error).strip().rstrip('.')}.",
                    advice="Make the store available, and call again. If this ended a call, its effect was not begun.",
                ) from error
        time.sleep(pause)
