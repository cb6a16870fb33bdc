"""The abstract programs that the probes run."""

from __future__ import annotations

from resumption.history.workload import Corrupt, Effect, Interrupt, Shape, Task, Work, Workload, WriteFault

__all__ = [
    "EFFECT_BEFORE_INTERRUPT",
    "FAN_OUT",
    "GATE_AHEAD",
    "LEASED",
    "PARALLEL_GATES",
    "SEQUENCE",
    "SLOW_GATE",
    "TWO_INTERRUPTS",
    "UNGATED",
    "WIDE_FAN_OUT",
    "corrupting",
]

_GATE_SECONDS = 0.08  # wide enough that racers which start together overlap in the gate, even on a busy machine

SEQUENCE = Workload(
    (
        Task("a", (Effect("a"),)),
        Task("approve", (Interrupt("approve"), Effect("charge"))),
        Task("b", (Effect("b"),)),
        Task("c", (Effect("c"),)),
    )
)
"""An effect, a gate, and two effects behind it."""

UNGATED = Workload(tuple(Task(name, (Effect(name),)) for name in ("a", "b", "c")))
"""Three effects, one after the other."""

GATE_AHEAD = Workload(
    (
        Task("a", (Effect("a"),)),
        Task("b", (Effect("b"),)),
        Task("approve", (Interrupt("approve"), Effect("charge"))),
        Task("c", (Effect("c"),)),
    )
)
"""Two effects, and a gate that is still ahead when the second is due."""

LEASED = Workload(
    (
        Task("a", (Effect("a"),)),
        Task("b"),
        Task("approve", (Interrupt("approve"), Effect("charge"))),
        Task("c", (Effect("c"),)),
    )
)
"""A task that does nothing but write, and a gate behind it. An effect in that task might ask for the lease before it
fires, and there would be no write to refuse."""

EFFECT_BEFORE_INTERRUPT = Workload(
    (
        Task("approve", (Effect("notify"), Interrupt("approve"), Effect("charge"))),
        Task("b", (Effect("b"),)),
    )
)
"""A gate whose own code has an effect before it asks."""

TWO_INTERRUPTS = Workload(
    (
        Task("a", (Effect("a"),)),
        Task("approve", (Interrupt("first"), Interrupt("second"), Effect("charge"))),
    )
)
"""A gate that asks twice."""

SLOW_GATE = Workload(
    (
        Task("a", (Effect("a"),)),
        Task("approve", (Interrupt("approve"), Work(_GATE_SECONDS), Effect("charge"))),
        Task("b", (Effect("b"),)),
    )
)
"""A gate whose work takes long enough to be raced."""


FAN_OUT = Workload(tuple(Task(name, (Effect(name),)) for name in ("a", "b", "c")), Shape.FAN_OUT)
"""Three effects at once."""

WIDE_FAN_OUT = Workload(tuple(Task(name, (Effect(name),)) for name in "abcdefgh"), Shape.FAN_OUT)
"""Eight effects at once: where the order of what they wrote is drawn by lot, it comes out right once in 40,320 runs."""

PARALLEL_GATES = Workload(
    (
        Task("a", (Effect("a"),)),
        Task("left", (Interrupt("left"), Effect("charge-left"))),
        Task("right", (Interrupt("right"), Effect("charge-right"))),
    ),
    Shape.FAN_OUT,
)
"""Two gates that ask at once, beside an effect that asks nobody."""


def corrupting(fault: WriteFault, *, terminal: bool) -> Workload:
    """A program with a task that writes what the state schema forbids, as its last task or amid others."""
    tasks = (Task("a", (Effect("a"),)), Task("corrupt", (Corrupt(fault),)))
    return Workload(tasks if terminal else (*tasks, Task("b", (Effect("b"),))))
