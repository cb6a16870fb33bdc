"""How LangGraph serves a decision, as a small model, and what it predicts of protocols that were not yet run.

The rule was read off LangGraph's source (`_scratchpad` in `langgraph/pregel/_algo.py`, `interrupt` in
`langgraph/types.py`) and off the histories of the fork probes:

* record: the first value that a task's interrupt receives becomes a durable write of that task, at its checkpoint;
* filter: a run at a checkpoint loads the writes of that checkpoint, and of no other;
* serve: an interrupt returns the task's recorded value if there is one, else the value that was delivered;
* inert: a value that is delivered where nothing is parked is stored, and nobody asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from resumption.history.events import Deliver, Json
from resumption.history.history import History

HEAD = "head"
"""Where a delivery goes that names no checkpoint."""


@dataclass(frozen=True)
class Delivery:
    """One call: the value, in which form, and at which parked checkpoint; `HEAD` is wherever the thread stands."""

    value: Json
    at: str = HEAD
    by_id: bool = False


@dataclass
class Thread:
    """What is recorded of one thread whose gates ask once each, one checkpoint a gate, in order."""

    gates: tuple[str, ...]
    recorded: dict[str, Json] = field(default_factory=dict)
    parked: str | None = None

    def __post_init__(self) -> None:
        self.parked = self.gates[0]

    def serve(self, delivery: Delivery) -> Json:
        """Deliver a value, and return what the gate receives; None if no gate asks."""
        at = self.parked if delivery.at == HEAD else delivery.at
        if at is None:
            return None
        served = self.recorded.setdefault(at, delivery.value)
        behind = self.gates[self.gates.index(at) + 1 :]
        self.parked = behind[0] if behind else None
        return served


@dataclass(frozen=True)
class Prediction:
    """A protocol outside of the histories that the rule was read off, and what is predicted to be served in it."""

    name: str
    gates: tuple[str, ...]
    deliveries: tuple[Delivery, ...]
    served: tuple[Json, ...]


PREDICTIONS = (
    Prediction(
        "three invocations at one checkpoint",
        ("g1",),
        (Delivery("one", "g1"), Delivery("two", "g1"), Delivery("three", "g1")),
        ("one", "one", "one"),
    ),
    Prediction(
        "fork after a stray",
        ("g1",),
        (Delivery("yes"), Delivery("stray"), Delivery("fork", "g1")),
        ("yes", None, "yes"),
    ),
    Prediction(
        "bare and map interleaved",
        ("g1",),
        (Delivery("one", "g1"), Delivery("two", "g1", by_id=True), Delivery("three", "g1")),
        ("one", "one", "one"),
    ),
    Prediction(
        "map first, bare after",
        ("g1",),
        (Delivery("one", "g1", by_id=True), Delivery("two", "g1")),
        ("one", "one"),
    ),
    Prediction(
        "two interrupts on distinct checkpoints: the negative control",
        ("g1", "g2"),
        (Delivery("one"), Delivery("two"), Delivery("again", "g2"), Delivery("anew", "g1")),
        ("one", "two", "two", "one"),
    ),
)
"""Written down before any of these protocols was run."""


def deliveries_of(history: History) -> tuple[Delivery, ...]:
    """The deliveries of a fork probe's history: `direct` names the checkpoint of the gate, other forms name none."""
    return tuple(
        Delivery(event.value, "approve" if event.form == "direct" else HEAD, by_id=event.form == "map")
        for event in history.of(Deliver)
    )
