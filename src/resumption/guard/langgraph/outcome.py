"""The outcome of a run, as it is recorded for its delivery, and as a repeated delivery is given it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph.checkpoint.serde.types import INTERRUPT
from langgraph.types import Interrupt, StateSnapshot

__all__ = ["Outcome", "chunks", "outcome_of"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended: completed, or parked at these interrupts."""

    values: Any
    interrupts: tuple[Interrupt, ...]

    def pack(self) -> list[Any]:
        """A form that LangGraph's serializer knows."""
        return [self.values, list(self.interrupts)]

    @classmethod
    def unpack(cls, packed: Sequence[Any]) -> Outcome:
        """Read what `pack` made."""
        values, interrupts = packed
        return cls(values, tuple(interrupts))


def outcome_of(snapshot: StateSnapshot) -> Outcome:
    """The outcome that a state shows."""
    return Outcome(snapshot.values, tuple(snapshot.interrupts))


def chunks(outcome: Outcome, options: Mapping[str, Any], keys: str | Sequence[str], mode: Any) -> Iterator[Any]:
    """What a stream with these options yields of an outcome: the last values, and what the run is parked at.

    `keys` are the graph's channels that a stream shows by default, `mode` its default mode.
    """
    keys = options.get("output_keys") or keys
    modes = options.get("stream_mode") or mode
    values = outcome.values
    if not isinstance(keys, str) and isinstance(values, Mapping):
        values = {key: values[key] for key in keys if key in values}
    for name, payload in _payloads(values, outcome.interrupts):
        if name == modes or (not isinstance(modes, str) and name in modes):
            yield _shaped(name, payload, options, modes)


def _payloads(values: Any, interrupts: tuple[Interrupt, ...]) -> Iterator[tuple[str, Any]]:
    if interrupts:
        yield "updates", {INTERRUPT: interrupts}
        if isinstance(values, Mapping):
            values = {**values, INTERRUPT: interrupts}
    yield "values", values


def _shaped(name: str, payload: Any, options: Mapping[str, Any], modes: Any) -> Any:
    if options.get("version") == "v2":
        part = {"type": name, "ns": (), "data": payload}
        if name == "values":
            interrupts = payload.pop(INTERRUPT, ()) if isinstance(payload, dict) else ()
            part["interrupts"] = interrupts
        return part
    several = not isinstance(modes, str)
    if options.get("subgraphs"):
        return ((), name, payload) if several else ((), payload)
    return (name, payload) if several else payload
