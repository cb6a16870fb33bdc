"""Networks that fail at a message: between an executor and the server, when its claim is on its way."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from enum import Enum

from resumption.harness.relay import Relay

__all__ = ["Loss", "Tripwire"]


class Loss(Enum):
    """What is lost of the message at which the network fails."""

    HALF = "half"
    """Its second half, and all that follows in both directions."""
    ANSWER = "answer"
    """What the server says to it, and from then on. The server goes on hearing."""


class Tripwire(Relay):
    """A relay whose network fails at the first message that contains `marker`, until it is healed."""

    def __init__(self, listen: str, target: tuple[str, int], latency: float, marker: bytes, loss: Loss) -> None:
        super().__init__(listen, target, latency)
        self.tripped = threading.Event()
        self._marker = marker
        self._loss = loss

    def heal(self) -> None:
        """Let everything through, what was held back first."""
        asyncio.run_coroutine_threadsafe(self._set(whole=True), self._loop).result()

    def _parts(self, data: bytes) -> Iterator[bytes]:
        at = data.find(self._marker)
        if at < 0 or self.tripped.is_set():
            yield data
            return
        self._answering.clear()
        if self._loss is Loss.ANSWER:
            yield data
            self.tripped.set()
        else:
            yield data[: at + len(self._marker) // 2]
            self._asking.clear()
            self.tripped.set()
            yield data[at + len(self._marker) // 2 :]
