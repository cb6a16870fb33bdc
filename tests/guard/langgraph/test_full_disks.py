"""A disk that is full, or can't be written: the guard says so in its own words, and LangGraph in its saver's."""

from __future__ import annotations

import resource
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from langgraph.checkpoint.postgres import PostgresSaver

from resumption.errors import LeaseImpossible, LedgerUnavailable
from resumption.langgraph import guard

from .foreign import FileSaver
from .programs import THREAD, Bench, answer

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs limits on the size of files")

INPUT: Any = {"trail": []}


@contextmanager
def read_only(app: Any) -> Iterator[None]:
    """The saver's connection may not write."""
    app.checkpointer.conn.execute("PRAGMA query_only = ON")
    yield
    app.checkpointer.conn.execute("PRAGMA query_only = OFF")


@contextmanager
def no_more_pages(app: Any) -> Iterator[None]:
    """The database may not grow: what SQLite says is what it says of a full disk."""
    connection = app.checkpointer.conn
    connection.execute("CREATE TABLE filling (it BLOB)")
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(sqlite3.OperationalError, match="full"):
        _fill(connection)
    connection.rollback()
    yield
    connection.execute("PRAGMA max_page_count = 1073741823")


def _fill(connection: sqlite3.Connection) -> None:
    while True:
        connection.execute("INSERT INTO filling VALUES (zeroblob(500))")
        connection.commit()


@contextmanager
def no_more_bytes(app: Any) -> Iterator[None]:
    """The kernel lets no file of this process grow beyond what the write-ahead log has."""
    path = Path(next(row[2] for row in app.checkpointer.conn.execute("PRAGMA database_list")))
    size = path.with_name(f"{path.name}-wal").stat().st_size
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("limit", [read_only, no_more_pages, no_more_bytes])
def test_a_decision_that_cannot_be_recorded_is_not_used_up(bench: Bench, limit):
    app = bench.approval()
    app.invoke(INPUT, THREAD)
    big = "yes" * 4000
    with limit(app):
        with pytest.raises(LedgerUnavailable, match="can't write to its tables") as raised:
            app.invoke(answer(big), THREAD)
        assert isinstance(raised.value.__cause__, sqlite3.Error)
        assert bench.fired() == ["draft"]
    assert app.invoke(answer("no"), THREAD)["trail"][-2:] == ["pay=no", "notify"]


@pytest.mark.parametrize("limit", [read_only, no_more_pages, no_more_bytes])
def test_what_langgraphs_saver_cannot_store_is_told_by_the_driver(bench: Bench, limit):
    app = bench.guarded(bench.builder(draft=lambda _: {"trail": ["draft" * 4000]}))
    app.invoke(INPUT, THREAD)
    with limit(app), pytest.raises(sqlite3.OperationalError):
        app.invoke({"trail": ["again" * 4000]}, THREAD)
    assert app.invoke(INPUT, THREAD)["trail"][-1] == "draft" * 4000


def test_a_server_that_may_only_be_read_takes_no_decision(bench: Bench, postgres_url):
    with PostgresSaver.from_conn_string(postgres_url) as saver:
        saver.setup()
        app = guard(bench.builder(pay=bench.gate("pay")).compile(checkpointer=saver))
        app.invoke(INPUT, THREAD)
        saver.conn.execute("SET default_transaction_read_only = on")
        with pytest.raises(LedgerUnavailable, match="can't write to its tables") as raised:
            app.invoke(answer("yes"), THREAD)
        assert isinstance(raised.value.__cause__, psycopg.errors.ReadOnlySqlTransaction)
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            app.invoke(INPUT, {"configurable": {"thread_id": "new"}})
        assert bench.fired() == []
        saver.conn.execute("SET default_transaction_read_only = off")
        assert app.invoke(answer("yes"), THREAD)["trail"] == ["pay=yes"]


def test_an_unknown_saver_that_fails_speaks_for_itself(bench: Bench, monkeypatch):
    def full(self: Any, path: Path, value: Any) -> None:
        raise OSError(28, "No space left on device")

    app = guard(
        bench.builder(pay=bench.gate("pay")).compile(checkpointer=FileSaver(bench.folder / "files")),
        store=f"sqlite:///{bench.folder / 'claims.db'}",
    )
    monkeypatch.setattr(FileSaver, "write", full)
    with pytest.raises(OSError, match="No space left"):
        app.invoke(INPUT, THREAD)


def test_a_file_of_locks_that_cannot_be_made_is_named(bench: Bench):
    app = bench.approval()
    locks = bench.folder / f"{bench.database.name}-resumption-locks"
    locks.mkdir()
    with pytest.raises(LeaseImpossible, match="file of locks can't be opened"):
        app.invoke(INPUT, THREAD)
    assert bench.fired() == []
    locks.rmdir()
    assert "__interrupt__" in app.invoke(INPUT, THREAD)
