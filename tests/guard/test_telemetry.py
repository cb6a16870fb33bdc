"""OpenTelemetry is used when it is there, and not missed when it isn't."""

from __future__ import annotations

import importlib.util
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from resumption import Ledger, effect
from resumption.errors import ExpiringLeases
from resumption.guard import telemetry
from resumption.guard.claims import beside, leases

from .support import until


class Recorder:
    """Stands for a meter's counter and for a tracer."""

    def __init__(self) -> None:
        self.counted: list[tuple[int, dict[str, str]]] = []
        self.spans: list[tuple[str, dict[str, object]]] = []

    def add(self, amount: int, attributes: dict[str, str]) -> None:
        self.counted.append((amount, attributes))

    @contextmanager
    def start_as_current_span(self, name: str, attributes: dict[str, object]) -> Iterator[None]:
        self.spans.append((name, attributes))
        yield


def test_each_decision_is_counted_and_each_attempt_is_a_span(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder()
    monkeypatch.setattr(telemetry, "_counter", lambda: recorder)
    monkeypatch.setattr(telemetry, "_tracer", lambda: recorder)
    charge = effect(Ledger(sqlite_url), key="charge")(lambda: 1)
    charge()
    charge()
    assert [attributes["resumption.branch"] for _, attributes in recorder.counted] == ["fire", "serve"]
    assert recorder.spans == [("resumption.effect", {"resumption.key": "charge", "resumption.attempt": 1})]


def test_without_opentelemetry_effects_work(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    telemetry._counter.cache_clear()
    telemetry._tracer.cache_clear()
    try:
        assert effect(Ledger(sqlite_url), key="charge")(lambda: 1)() == 1
        assert telemetry._counter() is None
        assert telemetry._tracer() is None
    finally:
        telemetry._counter.cache_clear()
        telemetry._tracer.cache_clear()


def test_the_installed_opentelemetry_accepts_what_is_said(sqlite_url: str) -> None:
    pytest.importorskip("opentelemetry")
    assert telemetry._counter() is not None
    assert telemetry._tracer() is not None
    assert effect(Ledger(sqlite_url), key="charge")(lambda: 1)() == 1


def test_leases_that_expire_are_counted_where_somebody_has_to_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder()
    monkeypatch.setattr(telemetry, "_leases", lambda: recorder)
    monkeypatch.setattr(beside, "is_local", lambda path: False)
    monkeypatch.setattr(leases, "LEASE_SECONDS", 0.3)
    with pytest.warns(ExpiringLeases):
        locks = beside.locks_beside(str(tmp_path / "graph.db"))
    assert locks.attempt("t") is not None
    with sqlite3.connect(tmp_path / "graph.db-resumption-leases") as connection:
        connection.execute("UPDATE resumption_leases SET number = number + 1, holder = 'silent'")
    until(lambda: locks.attempt("t") is not None)
    assert [attributes["resumption.branch"] for _, attributes in recorder.counted] == [
        "leases-expire",
        "lease-lost",
        "lease-taken-after-expiry",
    ]
