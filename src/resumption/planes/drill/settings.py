"""What a worker process of a drill is told: the program, its input, its effects. JSON, in one environment variable."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field

from resumption.history.events import Json

__all__ = ["OUTSIDE", "VARIABLE", "Settings", "short_name"]

VARIABLE = "RESUMPTION_DRILL"
"""The environment variable that carries the settings of a drill to its worker processes."""

OUTSIDE = "(outside)"
"""The task of an effect that no node of the program fires."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a program is drilled, as far as its processes are concerned."""

    target: str
    """`module:attribute` of a compiled graph, a builder, or a factory of either."""
    input: Json
    effects: tuple[str, ...]
    """`module:attribute` of each function that does something to the outside."""
    stubs: dict[str, Json] = field(default_factory=dict)
    """What stubbed functions return, by `module:attribute`; those that are no effects are replaced too."""
    real_effects: bool = False
    """Whether the named functions really run."""
    durability: str = "async"
    folder: str = "."
    """Where the program is imported: the folder that the drill was called in."""

    def encode(self) -> str:
        """The settings as they are handed over."""
        return json.dumps(asdict(self))

    @classmethod
    def handed_over(cls) -> Settings:
        """The settings that this process was started with."""
        values = json.loads(os.environ[VARIABLE])
        return cls(**{**values, "effects": tuple(values["effects"])})


def short_name(name: str, effects: tuple[str, ...]) -> str:
    """An effect's name in a history: its last part, if no other effect has the same."""
    last = name.rpartition(":")[2].rpartition(".")[2]
    alike = [other for other in effects if other.rpartition(":")[2].rpartition(".")[2] == last]
    return last if len(alike) == 1 else name
