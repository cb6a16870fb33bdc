"""PostgreSQL as a backend: every store is a database of its own, and nothing of it is left."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest
from click.testing import CliRunner

from resumption.cli import main
from resumption.contract.verdicts import Label
from resumption.errors import BackendMissing, PostgresMissing
from resumption.harness import databases as harness_databases
from resumption.harness import stores
from resumption.harness.databases import Databases
from resumption.harness.postgres import ThrowawayPostgres, find_binaries
from resumption.harness.probes import PROBES, Probe
from resumption.harness.receipts import Receipt
from resumption.harness.runner import run_suite
from resumption.harness.stores import PostgresServer, stores_for
from resumption.harness.workspace import memory_folder
from resumption.planes.interface import Backend
from resumption.planes.langgraph.spec import AGENT, GRAPH

_PATIENCE = 30.0
_SERVED = tuple(backend for backend in GRAPH.backends if backend.server)


@pytest.fixture(scope="module")
def server() -> Iterator[ThrowawayPostgres]:
    try:
        find_binaries()
    except PostgresMissing as error:
        pytest.skip(str(error))
    with ThrowawayPostgres(memory_folder()) as server:
        yield server


def _probes(*addresses: str) -> list[Probe]:
    return [probe for probe in PROBES if probe.address in addresses]


def _run(*backends: Backend, postgres: str, probes: tuple[str, ...]) -> Receipt:
    primary = tuple({form.operation: form for form in reversed(GRAPH.forms)}.values())
    spec = replace(GRAPH, backends=backends, forms=primary)
    return run_suite([spec], _probes(*probes), jobs=2, postgres=postgres)


def _databases(dsn: str) -> list[str]:
    with psycopg.connect(dsn) as connection:
        rows = connection.execute("SELECT datname FROM pg_database WHERE datname LIKE 'resumption%'").fetchall()
    return [name for (name,) in rows]


def test_every_backend_of_the_server_gives_the_verdicts_that_sqlite_gives(server: ThrowawayPostgres) -> None:
    sqlite = next(backend for backend in GRAPH.backends if backend.name == "sqlite")
    receipt = _run(sqlite, *_SERVED, postgres=server.dsn, probes=("crash/parked", "fork/two-values", "inspect/inert"))
    labels: dict[str, dict[str, Label]] = {}
    for cell in receipt.cells:
        labels.setdefault(cell.backend, {})[cell.identity.replace(f"/{cell.backend}/", "/*/")] = cell.label
    assert set(labels) == {"sqlite", "postgres", "postgres-async", "postgres-pool"}
    assert Label.VIOLATES in labels["sqlite"].values()
    assert Label.HOLDS in labels["sqlite"].values()
    for backend in _SERVED:
        assert labels[backend.name] == labels["sqlite"]
    assert _databases(server.dsn) == []


def test_copies_of_a_database_are_alike_and_recover_alike(server: ThrowawayPostgres) -> None:
    receipt = _run(_SERVED[0], postgres=server.dsn, probes=("crash/identical-logs",))
    assert {(cell.property.value, cell.label) for cell in receipt.cells} == {("RD", Label.HOLDS)}


def test_a_server_that_was_named_and_is_not_there_leaves_cells_not_run() -> None:
    command = ["check", "langgraph[postgres]", "--probe", "crash/parked", "--postgres", "postgresql://127.0.0.1:1/no"]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 3, done.output
    assert "not run 4" in done.output
    told = " ".join(done.output.split())
    assert "not run: EO, LV on langgraph graph postgres; bare, map. The PostgreSQL server can't be used" in told
    assert "Check the server's log, and the connection string if you gave one." in told


def test_a_server_that_cannot_be_had_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Path | None] = []

    def nothing(folder: Path | None) -> ThrowawayPostgres:
        asked.append(folder)
        raise PostgresMissing("No PostgreSQL server is installed here.", advice="Install one.")

    monkeypatch.setattr(stores, "ThrowawayPostgres", nothing)
    server = PostgresServer()
    for _ in range(2):
        with pytest.raises(PostgresMissing, match=r"Install one\."):
            server.databases()
    server.close()
    assert len(asked) == 1


def test_a_distribution_that_is_missing_is_named() -> None:
    environment = SimpleNamespace(pins={"psycopg-pool": "3.2"})
    with pytest.raises(BackendMissing, match="langgraph-checkpoint-postgres isn't installed beside langgraph"):
        stores_for(GRAPH, _SERVED[0], environment, PostgresServer())  # type: ignore[arg-type]  # its pins are enough


def test_content_is_the_same_only_where_the_rows_are(server: ThrowawayPostgres) -> None:
    databases = Databases(server.dsn)
    try:
        first = databases.create()
        with psycopg.connect(first) as connection:
            connection.execute("CREATE TABLE said (word text)")
            connection.execute("INSERT INTO said VALUES ('once')")
        second = databases.copy(first)
        before = databases.content_digest(first)
        assert databases.content_digest(second) == before
        with psycopg.connect(second) as connection:
            connection.execute("UPDATE said SET word = 'twice'")
        assert databases.content_digest(second) != before
    finally:
        databases.close()
    assert _databases(server.dsn) == []


@pytest.fixture
def databases(server: ThrowawayPostgres) -> Iterator[Databases]:
    databases = Databases(server.dsn)
    yield databases
    databases.close()


def _prepare(database: str) -> None:
    with psycopg.connect(database) as connection:
        connection.execute("CREATE TABLE said (number bigint GENERATED ALWAYS AS IDENTITY, word text)")
        connection.execute("CREATE TABLE version (v int)")
        connection.execute("INSERT INTO version VALUES (1)")


def _said(database: str) -> list[tuple[str, str]]:
    with psycopg.connect(database) as connection:
        return connection.execute("SELECT ctid::text, word FROM said").fetchall()


def test_what_one_database_holds_is_written_into_another_in_the_order_in_which_it_lay(databases: Databases) -> None:
    def prepare(database: str) -> None:
        with psycopg.connect(database) as connection:
            connection.execute("CREATE TABLE said (word text)")

    first, second, third = (databases.prepared("words", prepare) for _ in range(3))
    with psycopg.connect(first) as connection:
        connection.execute("INSERT INTO said VALUES ('b'), (NULL), ('a')")
    content = databases.content(first)
    assert databases.fill(second, content)
    assert _said(second) == _said(first) == [("(0,1)", "b"), ("(0,2)", None), ("(0,3)", "a")]
    with psycopg.connect(third) as connection:
        connection.execute("INSERT INTO said VALUES ('here before')")
    assert not databases.fill(third, content)


@pytest.mark.parametrize("trace", ["INSERT INTO said (word) VALUES ('once')", "UPDATE version SET v = 2"])
def test_a_database_that_rows_alone_cant_make_alike_is_told(databases: Databases, trace: str) -> None:
    first, second = (databases.prepared("plane", _prepare) for _ in range(2))
    with psycopg.connect(first) as connection:
        connection.execute(trace)
    assert not databases.fill(second, databases.content(first))


def test_a_database_is_handed_on_without_a_trace_of_its_trial(databases: Databases) -> None:
    first = databases.prepared("plane", _prepare)
    untouched = databases.content_digest(first)
    with psycopg.connect(first) as connection:
        connection.execute("INSERT INTO said (word) VALUES ('once')")
    databases.give_back(first)
    second = databases.prepared("plane", _prepare)
    assert second == first
    assert databases.content_digest(second) == untouched
    with psycopg.connect(second) as connection:
        told = connection.execute("INSERT INTO said (word) VALUES ('anew') RETURNING number, ctid::text").fetchone()
    assert told == (1, "(0,1)")


@pytest.mark.parametrize(
    "trace",
    [
        "UPDATE version SET v = 2",
        "INSERT INTO version VALUES (1)",
        "ALTER TABLE said ADD COLUMN place text",
        "ALTER TABLE said ALTER COLUMN word SET DEFAULT 'said'",
        "CREATE INDEX later ON said (word)",
        "CREATE TABLE more (a int)",
        "CREATE SCHEMA elsewhere CREATE TABLE elsewhere.more (a int)",
        "CREATE SEQUENCE counting",
        "CREATE FUNCTION one() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "ALTER TABLE said ADD CHECK (word <> '')",
        "SELECT lo_create(4711)",
    ],
)
def test_a_database_that_keeps_a_trace_is_dropped(databases: Databases, trace: str) -> None:
    first = databases.prepared("plane", _prepare)
    with psycopg.connect(first) as connection:
        connection.execute(trace)
    databases.give_back(first)
    assert databases.prepared("plane", _prepare) != first
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        psycopg.connect(first)


def test_a_copy_is_handed_on_too(databases: Databases) -> None:
    first = databases.prepared("plane", _prepare)
    with psycopg.connect(first) as connection:
        connection.execute("INSERT INTO said (word) VALUES ('once')")
    copy = databases.copy(first)
    assert databases.content_digest(copy) == databases.content_digest(first)
    databases.give_back(copy)
    assert databases.prepared("plane", _prepare) == copy


def test_agents_give_the_verdicts_on_the_server_that_they_give_on_sqlite(server: ThrowawayPostgres) -> None:
    pytest.importorskip("langchain")
    primary = tuple({form.operation: form for form in reversed(AGENT.forms)}.values())
    backends = tuple(backend for backend in AGENT.backends if backend.name in ("sqlite", "postgres", "postgres-async"))
    spec = replace(AGENT, backends=backends, forms=primary)
    receipt = run_suite([spec], _probes("crash/parked", "inspect/inert"), jobs=2, postgres=server.dsn)
    labels: dict[str, dict[str, Label]] = {}
    for cell in receipt.cells:
        labels.setdefault(cell.backend, {})[cell.identity.replace(f"/{cell.backend}/", "/*/")] = cell.label
    assert Label.HOLDS in labels["sqlite"].values()
    assert labels["postgres"] == labels["postgres-async"] == labels["sqlite"]


def test_a_throwaway_server_does_not_outlive_a_killed_harness(tmp_path: Path) -> None:
    try:
        find_binaries()
    except PostgresMissing as error:
        pytest.skip(str(error))
    script = (
        "import sys\nfrom resumption.harness.postgres import ThrowawayPostgres\n"
        "from resumption.harness.workspace import memory_folder\n"
        "server = ThrowawayPostgres(memory_folder()).__enter__()\nprint(server.dsn, flush=True)\nsys.stdin.read()"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as harness:
        assert harness.stdout is not None
        dsn = harness.stdout.readline().decode().strip()
        with psycopg.connect(dsn) as connection:
            (data,) = connection.execute("SHOW data_directory").fetchone() or ("",)
        harness.kill()
    deadline = time.monotonic() + _PATIENCE
    while Path(data).parent.exists():  # the guardian is no child of this process, and notifies nobody
        assert time.monotonic() < deadline, f"{data} is still there"
        time.sleep(0.05)
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(dsn)


def test_databases_that_wait_for_a_trial_and_sessions_in_them_stay_few(
    server: ThrowawayPostgres, databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harness_databases, "_IDLE", 4)
    monkeypatch.setattr(harness_databases, "_KEPT", 2)
    taken = [databases.prepared("said", _prepare) for _ in range(3)]
    taken += [databases.copy(taken[0]) for _ in range(5)]
    for database in taken:
        databases.give_back(database)
    assert len(_databases(server.dsn)) == 5, "the template, and what waits"
    with psycopg.connect(server.dsn) as connection:
        own = connection.execute("SELECT count(*) FROM pg_stat_activity WHERE datname LIKE 'resumption_%'").fetchone()
    assert own is not None
    assert own[0] <= 3
    assert databases.prepared("said", _prepare) in taken
