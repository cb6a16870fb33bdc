"""What the workflows of this process are doing: whether they wait for a message, and that something changed."""

from __future__ import annotations

import threading
from collections import Counter

__all__ = ["Progress"]

_LOOK_SECONDS = 0.05
"""How often a change is looked for that no workflow of this process can tell of: in another one, or in the record."""


class Progress:
    """Safe for the threads of the executor and of those who wait for it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: set[str] = set()
        self._running: Counter[str] = Counter()

    def begins(self, workflow: str) -> None:
        """Say that this process begins to run a workflow."""
        with self._changed:
            self._running[workflow] += 1

    def ends(self, workflow: str) -> None:
        """Say that it doesn't run the workflow any more, however that came about."""
        with self._changed:
            self._running[workflow] -= 1
            self._waiting.discard(workflow)
            self._changed.notify_all()

    def waits(self, workflow: str) -> None:
        """Say that a workflow waits for a message."""
        with self._changed:
            self._waiting.add(workflow)
            self._changed.notify_all()

    def goes_on(self, workflow: str) -> None:
        """Say that a workflow received its message."""
        with self._changed:
            self._waiting.discard(workflow)
            self._changed.notify_all()

    def is_waiting(self, workflow: str) -> bool:
        """Whether a workflow waits for a message, in this process."""
        with self._changed:
            return workflow in self._waiting

    def is_at_work(self, workflow: str) -> bool:
        """Whether a workflow is run by this process, and waits for nothing."""
        with self._changed:
            return self._running[workflow] > 0 and workflow not in self._waiting

    def wait(self) -> None:
        """Wait for a change, or until it is time to look for one elsewhere."""
        with self._changed:
            self._changed.wait(_LOOK_SECONDS)
