"""Guarded programs in a database of their own."""

from __future__ import annotations

import pytest

pytest.importorskip("langgraph.checkpoint.sqlite")

from .programs import Bench


@pytest.fixture
def bench(tmp_path):
    bench = Bench(tmp_path)
    yield bench
    bench.close()
