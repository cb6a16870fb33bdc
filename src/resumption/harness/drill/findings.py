"""What a drill finds: which promise broke, with which effect, and its causal story."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from resumption.contract.properties import Property
from resumption.contract.verdicts import Finding

__all__ = ["PROPERTIES", "Breach", "Found"]


class Breach(StrEnum):
    """What went otherwise than in a run without faults."""

    FIRES_AGAIN = "fires-again"
    """An effect fired more often."""
    LOST = "lost"
    """The run reads as finished, and an effect never fired."""
    OTHER_STATE = "other-state"
    """The final state is another one."""
    INVALID_STATE = "invalid-state"
    """A state was stored that the program's own schema excludes."""
    STUCK = "stuck"
    """The run can't be brought to its end."""
    SWALLOWED = "swallowed"
    """A second, other answer didn't have its own outcome."""
    TAKEN = "taken"
    """A repeated answer was taken by another gate than the one that it was given for."""


PROPERTIES: dict[Breach, Property] = {
    Breach.FIRES_AGAIN: Property.EFFECT_EXACTLY_ONCE,
    Breach.LOST: Property.NO_LOST_WORK,
    Breach.OTHER_STATE: Property.PREFIX_CONTINUATION,
    Breach.INVALID_STATE: Property.CHECKPOINT_VALIDITY,
    Breach.STUCK: Property.LIVENESS,
    Breach.SWALLOWED: Property.FORK_DETERMINISM,
    Breach.TAKEN: Property.CONSUME_ONCE_COUNT,
}
"""The property of the contract that each breach breaks."""


@dataclass(frozen=True, slots=True)
class Found:
    """One finding in one history."""

    breach: Breach
    subject: str
    """The effect and its node, or the gate, or the channel."""
    finding: Finding
    documented: bool = False
    """Whether the framework documents this as its discipline: told, and no failure."""
