"""Tables of an earlier release are brought up to date where they are; those of a later one are refused."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest

pytest.importorskip("langgraph.checkpoint.postgres")

from click.testing import CliRunner
from langgraph.checkpoint.postgres import PostgresSaver
from psycopg.rows import dict_row

from resumption.cli import main
from resumption.errors import SchemaMismatch
from resumption.langgraph import AlreadyConsumed, guard

from ..langgraph.foreign import FileSaver
from ..langgraph.programs import THREAD, Bench, answer
from ..support import child

# As the first release with claims made them, before a claim said what had finished by then.
_BEFORE = """
CREATE TABLE resumption_schema (key TEXT PRIMARY KEY, version INTEGER NOT NULL, identity TEXT NOT NULL);
CREATE TABLE resumption_fences (thread TEXT PRIMARY KEY, number BIGINT NOT NULL, holder TEXT);
CREATE TABLE resumption_claims (ID, thread TEXT NOT NULL, key TEXT NOT NULL,
    interrupt TEXT NOT NULL, digest TEXT NOT NULL, kind TEXT NOT NULL, value BLOB NOT NULL, root TEXT NOT NULL,
    namespace TEXT NOT NULL, checkpoint TEXT NOT NULL, task TEXT NOT NULL, answered INTEGER NOT NULL,
    delivery TEXT NOT NULL, at TEXT NOT NULL, place TEXT NOT NULL, UNIQUE (thread, key));
CREATE INDEX resumption_claims_thread ON resumption_claims (thread, id);
CREATE TABLE resumption_deliveries (thread TEXT NOT NULL, identity TEXT NOT NULL,
    digest TEXT NOT NULL, head TEXT NOT NULL, kind TEXT, outcome BLOB, at TEXT NOT NULL, place TEXT NOT NULL,
    PRIMARY KEY (thread, identity));
CREATE TABLE resumption_refusals (ID, thread TEXT NOT NULL,
    interrupt TEXT NOT NULL, branch TEXT NOT NULL, digest TEXT NOT NULL, delivery TEXT NOT NULL,
    at TEXT NOT NULL, place TEXT NOT NULL);
INSERT INTO resumption_schema VALUES ('claims', 1, 'one');
"""
_COLUMNS = (
    "thread, key, interrupt, digest, kind, value, root, namespace, checkpoint, task, answered, delivery, at, place"
)


class Database:
    """A database with a guarded program on it, of one kind."""

    def __init__(self, kind: str, bench: Bench, url: str) -> None:
        self.kind = kind
        self.bench = bench
        self._url = url
        self._path = bench.folder / "claims.db" if kind == "store" else bench.database

    def app(self) -> Any:
        program = self.bench.builder(pay=self.bench.gate("pay"), notify=self.bench.step("notify"))
        if self.kind == "postgres":
            saver: Any = PostgresSaver(psycopg.connect(self._url, autocommit=True, row_factory=dict_row))
            saver.setup()
            return guard(program.compile(checkpointer=saver))
        if self.kind == "store":
            saver = FileSaver(self.bench.folder / "files")
            return guard(program.compile(checkpointer=saver), store=str(self._path))
        return guard(program.compile(checkpointer=self.bench.saver()))

    def execute(self, *statements: str) -> list[tuple[Any, ...]]:
        """Run statements; the rows of the last."""
        if self.kind == "postgres":
            with psycopg.connect(self._url, autocommit=True) as connection:
                found = [connection.execute(statement) for statement in statements][-1]
                return found.fetchall() if found.description else []
        with closing(sqlite3.connect(self._path)) as connection, connection:
            return [connection.execute(statement).fetchall() for statement in statements][-1]

    def put_back(self) -> None:
        """Have the tables as they were before, with what is in them."""
        tables = ("schema", "fences", "claims", "deliveries", "refusals")
        old = _BEFORE.replace("BLOB", "BYTEA") if self.kind == "postgres" else _BEFORE
        serial = "id BIGINT GENERATED ALWAYS AS IDENTITY" if self.kind == "postgres" else "id INTEGER"
        kept = [f"CREATE TABLE kept_{table} AS SELECT * FROM resumption_{table}" for table in ("fences", "claims")]
        self.execute(
            *kept,
            *(f"DROP TABLE resumption_{table}" for table in tables),
            *filter(str.strip, old.replace("ID,", f"{serial} PRIMARY KEY,").split(";")),
            "INSERT INTO resumption_fences SELECT * FROM kept_fences",
            f"INSERT INTO resumption_claims ({_COLUMNS}) SELECT {_COLUMNS} FROM kept_claims ORDER BY id",
        )


@pytest.fixture
def bench(tmp_path: Any) -> Iterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    bench.close()


@pytest.fixture(params=["sqlite", "postgres", "store"])
def database(request: pytest.FixtureRequest, bench: Bench, postgres_url: str) -> Database:
    return Database(request.param, bench, postgres_url)


def test_tables_of_before_are_brought_up_to_date_with_what_is_in_them(database: Database) -> None:
    app = database.app()
    app.invoke({"trail": []}, THREAD)
    app.invoke(answer("yes"), THREAD)
    database.put_back()
    again = database.app()
    with pytest.raises(AlreadyConsumed):
        again.invoke(answer("no"), THREAD)
    other: Any = {"configurable": {"thread_id": "other"}}
    again.invoke({"trail": []}, other)
    assert again.invoke(answer("no"), other)["trail"] == ["pay=no", "notify"]
    assert database.execute("SELECT version FROM resumption_schema WHERE key = 'claims'") == [(2,)]
    assert database.execute("SELECT finished FROM resumption_claims") == [("[]",)] * 2


def test_tables_that_had_the_column_before_the_number_are_kept(database: Database) -> None:
    database.app().invoke({"trail": []}, THREAD)
    database.execute("UPDATE resumption_schema SET version = 1")
    assert database.app().invoke(answer("yes"), THREAD)["trail"] == ["pay=yes", "notify"]
    assert database.execute("SELECT version FROM resumption_schema WHERE key = 'claims'") == [(2,)]


def test_processes_that_bring_one_database_up_to_date_at_once_do_not_disturb_each_other(database: Database) -> None:
    database.app().invoke({"trail": []}, THREAD)
    database.put_back()
    guarding = [child(lambda: database.app().get_state(THREAD)) for _ in range(4)]
    assert [process.wait() for process in guarding] == [0] * 4
    assert database.execute("SELECT version FROM resumption_schema WHERE key = 'claims'") == [(2,)]


def test_tables_of_a_later_release_are_refused(database: Database) -> None:
    database.app().invoke({"trail": []}, THREAD)
    database.execute("UPDATE resumption_schema SET version = 3 WHERE key = 'claims'")
    with pytest.raises(SchemaMismatch, match="version 3"):
        database.app()


def test_the_list_of_decisions_wants_tables_of_this_release(bench: Bench) -> None:
    database = Database("sqlite", bench, "")
    database.app().invoke({"trail": []}, THREAD)
    database.put_back()
    listing = ["approvals", "list", "--store", f"sqlite:///{bench.database}"]
    asked = CliRunner().invoke(main, listing)
    assert "RSM-410" in asked.output
    database.app()
    assert CliRunner().invoke(main, listing).exit_code == 0
