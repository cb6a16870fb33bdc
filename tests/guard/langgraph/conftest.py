"""Guarded programs in a database of their own."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("langgraph.checkpoint.sqlite")

from .databases import KINDS, Database
from .programs import Bench

_MEMORY = Path("/dev/shm")


@pytest.fixture
def bench(tmp_path):
    bench = Bench(tmp_path)
    yield bench
    bench.close()


@pytest.fixture
def quick(tmp_path) -> Iterator[Bench]:
    """In memory where that can be: a SIGKILL, unlike a power cut, loses nothing that was written there."""
    with tempfile.TemporaryDirectory(dir=_MEMORY if os.access(_MEMORY, os.W_OK) else None) as folder:
        bench = Bench(Path(folder))
        yield bench
        bench.close()


@pytest.fixture(params=KINDS)
def database(request: pytest.FixtureRequest, quick: Bench) -> Database:
    """Each saver in turn, in a database of this test's own, which lies in memory if it is a file."""
    kind = request.param
    address = request.getfixturevalue("postgres_url") if "postgres" in kind else str(quick.database)
    made = Database(kind, address)
    made.setup()
    return made
