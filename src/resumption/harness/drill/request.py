"""What a user asks a drill to do."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from resumption.errors import ReceiptUnreadable
from resumption.harness.drill.decisions import Decisions
from resumption.history.events import Json
from resumption.planes.drill.settings import Settings

__all__ = ["Request"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One drill: a program, its input, how its gates are answered, and which of its functions are effects."""

    target: str
    """`module:attribute` of a compiled graph, a builder, or a factory of either."""
    effects: tuple[str, ...]
    input: Json = field(default_factory=dict)
    decisions: Decisions = field(default_factory=Decisions)
    stubs: dict[str, Json] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    """For effects whose provider deduplicates: the argument that holds the idempotency key."""
    real_effects: bool = False
    durability: str = "async"
    seed: int = 0
    """Decides the order of the protocols, which matters where the time doesn't suffice for all."""
    seconds: float | None = None
    """The budget, in seconds of wall time; None for none."""
    folder: str = "."

    def settings(self) -> Settings:
        """What the worker processes are told."""
        return Settings(
            target=self.target,
            input=self.input,
            effects=self.effects,
            stubs=self.stubs,
            real_effects=self.real_effects,
            durability=self.durability,
            folder=self.folder,
        )

    def encode(self) -> str:
        """The request as a receipt keeps it."""
        return msgspec.json.encode(self).decode()

    @classmethod
    def decode(cls, text: str) -> Request:
        """The request that a receipt keeps. Raises `ReceiptUnreadable` if it keeps something else."""
        try:
            return msgspec.json.decode(text, type=cls)
        except msgspec.DecodeError as error:
            raise ReceiptUnreadable(
                f"The receipt's drill can't be read: {error}.", advice="Run the drill again, and keep its receipt."
            ) from error
