"""The ledger: a store, and what this process knows about the attempts it is making."""

from __future__ import annotations

import logging
import os
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

from resumption.decide import admit as decide
from resumption.errors import LedgerUnavailable, RowUnreadable
from resumption.guard import telemetry
from resumption.guard.scope import must_be_storable
from resumption.guard.settings import must_be_count, must_be_seconds, must_be_text
from resumption.guard.stores.opening import open_store
from resumption.guard.stores.protocol import Opening, Settlement, Wanted, Work, audit, opening, peeking, settling
from resumption.guard.stores.records import ALIVE, UNPROVEN, Record, Standing, fresh_token
from resumption.guard.stores.schema import creating, identifying
from resumption.guard.stores.session import Store
from resumption.guard.transaction import Transaction

__all__ = ["Ledger"]

logger = logging.getLogger("resumption")

_PAGE = 500


class Ledger:
    """A durable record of effects: `Ledger("sqlite:///effects.db")` or `Ledger("postgresql://user@host/database")`.

    Use one per process and database, from any thread, event loop or forked child. `wait` is how many seconds a call
    waits for another call with its key that is still running; `store_timeout` how long it goes on trying to reach the
    store. Neither ever decides whether an effect fires. Results above `max_result_bytes` of JSON are not kept.
    Raises `UnusableSetting` for values that can't be meant.
    """

    def __init__(
        self, url: str, *, wait: float = 30.0, store_timeout: float = 30.0, max_result_bytes: int = 1 << 20
    ) -> None:
        must_be_text("url", url)
        must_be_seconds("wait", wait)
        must_be_seconds("store_timeout", store_timeout)
        must_be_count("max_result_bytes", max_result_bytes)
        self.kind = "sqlite" if url.startswith("sqlite") else "postgresql"
        self.wait = wait
        self.max_result_bytes = max_result_bytes
        self._store = open_store(url, store_timeout)
        self._setup_guard = threading.Lock()
        self._identity: str | None = None
        self._start()
        _ledgers.add(self)

    def _start(self) -> None:
        self._guard = threading.Lock()
        self._courses: set[int] = set()  # versions of the calls that are under way, waiting ones too
        self._flights: set[int] = set()  # versions of the attempts that this process is making
        self._pending: dict[int, Settlement] = {}  # ends of attempts that the store has not heard of yet
        self._told: set[int] = set()  # those of them that the log has said so of
        self._left = False  # whether a call was left before its end, so that something of it may still run
        self._workers: Executor | None = None

    def setup(self) -> str:
        """Create the ledger's tables if there are none; return the ledger's identity. Called at the first use.

        Raises `SchemaMismatch` if the tables are of a version that this release doesn't know.
        """
        with self._setup_guard:
            if self._identity is None:
                sql = self._store.sql
                found = self._store.look(lambda: identifying(sql))
                self._identity = found or self._store.transact(lambda: creating(sql))
            return self._identity

    @property
    def address(self) -> str:
        """Where the ledger is, as `--store` takes it: with the whole path of a file, and without a password."""
        return self._store.address

    def exists(self) -> bool:
        """Whether there is a ledger at this address. Creates nothing."""
        sql = self._store.sql
        return self._store.present() and self._store.look(lambda: identifying(sql)) is not None

    def transaction(self, connection: Any) -> Transaction:
        """Record the effects called in the `with` block in the caller's own transaction on `connection`.

        The block begins a transaction and commits it, or joins the one that is open and leaves the commit to the
        caller. An effect and its record are then committed together, or not at all. `connection` is a
        `sqlite3.Connection`, a `psycopg.Connection`, or with `async with` a `psycopg.AsyncConnection`, to the database
        of this ledger. To join an open transaction of SQLite, call `setup()` before it is begun.
        """
        return Transaction(self, connection)

    def close(self) -> None:
        """Write down what is still pending, close connections, give up the proof that this process lives.

        The proof is kept until the process ends if a call was left by an interrupt or a cancellation: something that
        the call started may still run. Raises `LedgerUnavailable` if effects are running, or if something can't be
        written down; the ledger then stays open.
        """
        with self._guard:
            running = len((self._flights | self._courses) - self._pending.keys())
        if running:
            raise LedgerUnavailable(
                f"{running} effects are still running.", advice="Close the ledger when they have returned."
            )
        self._flush(patient=True)
        if self._workers is not None:
            self._workers.shutdown()
        self._workers = None
        self._store.close()
        if not self._left:
            self._store.release()

    def get(self, key: str) -> Record | None:
        """The record of this key, as it is. Raises `KeyUnusable` for what can't be one."""
        must_be_storable(key, longest=None)
        self.setup()
        sql = self._store.sql

        def reading() -> Work[Record | None]:
            found = yield sql.read, (key,)
            return Record.of(found.rows[0]) if found.rows else None

        return self._store.look(reading)

    def records(self, unreadable: Callable[[RowUnreadable], object] | None = None) -> Iterator[Record]:
        """All records, in the order of their keys, a page at a time.

        `unreadable` is told of each row that can't be read, which is left out; without it such a row is raised.
        """
        self.setup()
        sql = self._store.sql
        after: object = ""
        while True:

            def reading(start: object = after) -> Work[Sequence[Sequence[object]]]:
                found = yield sql.page, (start, _PAGE)
                return found.rows

            page = self._store.look(reading)
            for row in page:
                try:
                    record = Record.of(row)
                except RowUnreadable as error:
                    if unreadable is None:
                        raise
                    unreadable(error)
                    continue
                yield record
            if len(page) < _PAGE:
                return
            after = page[-1][0]

    # What follows is for the package's own modules: `course`, `transaction` and `operators`.

    @property
    def store(self) -> Store:
        """The store, ready for use."""
        self.setup()
        return self._store

    def executor(self) -> Executor:
        """Threads in which an event loop consults the store."""
        with self._guard:
            if self._workers is None:
                self._workers = ThreadPoolExecutor(4, thread_name_prefix="resumption-ledger")
            return self._workers

    def want(self, key: str, arguments: str, on_doubt: str, idempotent: bool) -> Wanted:
        """A call's wish to fire, with a fresh version for its attempt. `landed` must be told of its end."""
        version = fresh_token()
        with self._guard:
            self._courses.add(version)  # before the lock is taken, so that `close` doesn't give it up
        try:
            return Wanted(key, arguments, on_doubt, idempotent, version, self.store.owner())
        except BaseException:
            with self._guard:
                self._courses.discard(version)
            raise

    def begin(self, wanted: Wanted) -> Opening:
        """Ask whether the effect may fire; if so its record says so, durably, when this returns."""
        store = self.store
        self._flush(patient=False)
        seen = store.look(lambda: peeking(store.sql, wanted, self.standing))
        if seen is not None:
            return seen
        with self._guard:
            self._flights.add(wanted.version)
        opened = store.transact(lambda: opening(store.sql, wanted, self.standing))
        if opened.record.version != wanted.version:
            with self._guard:
                self._flights.discard(wanted.version)
        return opened

    def abandon(self, wanted: Wanted, *, reachable: bool) -> None:
        """Take back an attempt that may have begun, but whose call never started."""
        settlement = Settlement(
            wanted.key, wanted.version, wanted.owner.token, decide.NOT_STARTED, next_version=fresh_token()
        )
        with self._guard:
            self._pending[settlement.version] = settlement
        if reachable:
            self._flush(patient=False)

    def settle(self, settlement: Settlement) -> str:
        """Write down how an attempt ended. If the store can't be reached the process remembers, and raises."""
        with self._guard:
            self._pending[settlement.version] = settlement
            self._left = self._left or settlement.ended == decide.LEFT
        return self._write(settlement, patient=True)

    def landed(self, wanted: Wanted) -> None:
        """The course of an attempt is over. If it left no word, it was cut off: that is written at the next contact."""
        token, version = wanted.owner.token, wanted.version
        with self._guard:
            self._courses.discard(version)
            if version in self._flights and version not in self._pending:
                self._flights.discard(version)
                self._left = True
                self._pending[version] = Settlement(wanted.key, version, token, decide.LEFT, next_version=fresh_token())

    def refuse(self, key: str, branch: str) -> None:
        """Leave an audit row about a call that was refused."""
        store = self.store
        store.transact(lambda: audit(store.sql, key, "refused", branch, store.owner().place))

    def standing(self, record: Record) -> Work[Standing]:
        """What is proven about the owner of a record, of this process or another."""
        if record.owner == self._store.token():
            with self._guard:
                return ALIVE if record.version in self._flights else UNPROVEN
        return (yield from self._store.standing(record))

    def _flush(self, *, patient: bool) -> None:
        with self._guard:
            waiting = list(self._pending.values())
        for settlement in waiting:
            try:
                self._write(settlement, patient=patient)
            except (LedgerUnavailable, RowUnreadable) as error:
                if patient:
                    raise
                if settlement.version not in self._told:  # a call that waits for the record asks again and again
                    self._told.add(settlement.version)
                    logger.warning("effect %s: its end still could not be written down (%s)", settlement.key, error)
                if isinstance(error, LedgerUnavailable):
                    return  # no other can be written either

    def _write(self, settlement: Settlement, *, patient: bool) -> str:
        store = self._store
        try:
            state = store.transact(lambda: settling(store.sql, settlement, store.token()), patient=patient)
        except RowUnreadable:
            if settlement.ended != decide.NOT_STARTED:
                raise
            state = decide.SUPERSEDED  # the record tells of no attempt of this call's, which had nothing to tell
        with self._guard:
            self._pending.pop(settlement.version, None)
            self._told.discard(settlement.version)
            self._flights.discard(settlement.version)
        if state == decide.SUPERSEDED and settlement.ended != decide.NOT_STARTED:
            telemetry.decided("settle", settlement.key, state)
        return state

    def _forget(self) -> None:
        """In a forked child: the parent's attempts are the parent's. Its store has forgotten by then."""
        self._setup_guard = threading.Lock()
        self._start()


_ledgers: weakref.WeakSet[Ledger] = weakref.WeakSet()


def _forget_all() -> None:
    for ledger in list(_ledgers):
        ledger._forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
