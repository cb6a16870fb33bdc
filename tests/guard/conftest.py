"""Stores to test the ledger on. PostgreSQL is a throwaway server per test run (and per xdist worker)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from resumption.errors import PostgresMissing
from resumption.guard.effects import Ledger
from resumption.harness.postgres import ThrowawayPostgres, find_binaries

from .support import World

_schemas = itertools.count()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[ThrowawayPostgres]:
    try:
        find_binaries()
    except PostgresMissing as error:
        pytest.skip(str(error))
    with ThrowawayPostgres() as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: ThrowawayPostgres) -> str:
    """A schema of this test's own."""
    name = f"test_{next(_schemas)}"
    with psycopg.connect(postgres_server.dsn, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{postgres_server.dsn}?options=-csearch_path%3D{name}"


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'effects.db'}"


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    """Each store in turn."""
    found: str = request.getfixturevalue(f"{request.param}_url")
    return found


@pytest.fixture
def ledgers(url: str) -> Callable[..., Ledger]:
    """Makes ledgers on one store, patient enough for a test and no more."""

    def make(wait: float = 5.0, store_timeout: float = 5.0, max_result_bytes: int = 1 << 20) -> Ledger:
        return Ledger(url, wait=wait, store_timeout=store_timeout, max_result_bytes=max_result_bytes)

    return make


@pytest.fixture
def ledger(ledgers: Callable[..., Ledger]) -> Ledger:
    return ledgers()


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "world")


@pytest.fixture
def database_url(postgres_server: ThrowawayPostgres) -> str:
    """A database of this test's own: what a schema is to `postgres_url`, for poolers that pass no options on."""
    name = f"test_{next(_schemas)}"
    with psycopg.connect(postgres_server.dsn, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return postgres_server.dsn.removesuffix("postgres") + name
