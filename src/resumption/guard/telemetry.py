"""What ledger and guard tell their operators: log lines, and OpenTelemetry when it is installed."""

from __future__ import annotations

import importlib
import importlib.util
import logging
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from typing import Any

from resumption.decide import admit as decide
from resumption.decide.lease import Lease
from resumption.errors import ExpiringLeases

__all__ = ["decided", "leased", "leasing", "span"]

logger = logging.getLogger("resumption")

# Decisions that refuse a call, or that somebody has to look at.
_LOUD = frozenset(
    {
        decide.RESULT_ABSENT,
        decide.KEY_REUSED,
        decide.IN_DOUBT_ENDED,
        decide.IN_DOUBT_UNPROVEN,
        decide.UNKNOWN_STATE,
        decide.SUPERSEDED,
    }
)


def decided(function: str, key: str, branch: str) -> None:
    """Log and count one decision. `function` is the function of `resumption.decide.admit` that took it."""
    level = logging.WARNING if branch in _LOUD else logging.DEBUG
    logger.log(level, "effect %s: %s decided %s", key, function, branch)
    counter = _counter()
    if counter is not None:
        counter.add(1, {"resumption.function": function, "resumption.branch": branch})


def leasing(what: str, why: str, seconds: float) -> None:
    """Say, once for a database, that its threads are leased for a time."""
    text = (
        f"The threads of {what} are leased, since {why}: when an executor dies, its thread can be had "
        f"{seconds:g} seconds later. See docs/guard.md, leases that expire."
    )
    warnings.warn(text, ExpiringLeases, stacklevel=2)
    counter = _leases()
    if counter is not None:
        counter.add(1, {"resumption.branch": "leases-expire"})


def leased(thread: str, outcome: Lease) -> None:
    """Log and count a lease that was taken from an executor which may be alive, or lost to another."""
    logger.warning("thread %s: %s", thread, outcome)
    counter = _leases()
    if counter is not None:
        counter.add(1, {"resumption.branch": outcome.value})


@contextmanager
def span(key: str, attempt: int) -> Generator[None]:
    """A span around one attempt, if OpenTelemetry is installed."""
    tracer = _tracer()
    if tracer is None:
        yield
        return
    attributes = {"resumption.key": key, "resumption.attempt": attempt}
    with tracer.start_as_current_span("resumption.effect", attributes=attributes):
        yield


@cache
def _counter() -> Any:
    if importlib.util.find_spec("opentelemetry") is None:
        return None
    meter = importlib.import_module("opentelemetry.metrics").get_meter("resumption")
    return meter.create_counter("resumption.ledger.decisions", description="Decisions of the effect ledger, by branch")


@cache
def _leases() -> Any:
    if importlib.util.find_spec("opentelemetry") is None:
        return None
    meter = importlib.import_module("opentelemetry.metrics").get_meter("resumption")
    return meter.create_counter("resumption.guard.leases", description="Leases that expire: needed, taken over, lost")


@cache
def _tracer() -> Any:
    if importlib.util.find_spec("opentelemetry") is None:
        return None
    return importlib.import_module("opentelemetry.trace").get_tracer("resumption")
