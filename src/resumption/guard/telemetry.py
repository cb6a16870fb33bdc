"""What the ledger tells its operators: one log line per decision, and OpenTelemetry when it is installed."""

from __future__ import annotations

import importlib
import importlib.util
import logging
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from typing import Any

from resumption.decide import admit as decide

__all__ = ["decided", "span"]

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
def _tracer() -> Any:
    if importlib.util.find_spec("opentelemetry") is None:
        return None
    return importlib.import_module("opentelemetry.trace").get_tracer("resumption")
