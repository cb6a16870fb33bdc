"""OpenTelemetry is used when it is there, and not missed when it isn't."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from resumption import Ledger, effect
from resumption.guard import telemetry


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
