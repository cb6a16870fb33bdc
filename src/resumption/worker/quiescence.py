"""When a process is at rest: nothing in it will happen any more without help from outside.

There is no event for that, so it is looked for: nothing was recorded, no thread ran or was about to, and none was in
an effect or at work, in several looks in a row. The looks decide how soon rest is noticed, never whether there is any.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["Quiescence"]

_LOOK_SECONDS = 0.004
_LOOKS = 4  # in a row, all the same
_LOOKS_WITHOUT_THREADS = 25  # where the system doesn't tell what threads do, only the recording is looked at
_GIVE_UP_SECONDS = 20.0
_THREADS = Path("/proc/self/task")

_Look = tuple[object, ...]


class Quiescence:
    """Watches one process from inside."""

    def __init__(self, recorded: Callable[[], int]) -> None:
        self._recorded = recorded
        self._lock = threading.Lock()
        self._busy = 0

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Bracket what the calling thread may wait in without being at rest: an effect, slow work."""
        with self._lock:
            self._busy += 1
        try:
            yield
        finally:
            with self._lock:
                self._busy -= 1

    def wait(self, until: Callable[[], bool] = lambda: False, *, seconds: float = _GIVE_UP_SECONDS) -> bool:
        """Return True once something is so, or the process is at rest but for the calling thread.

        Returns False if neither is the case within so many seconds.
        """
        own = threading.get_native_id()
        needed = _LOOKS if _THREADS.is_dir() else _LOOKS_WITHOUT_THREADS
        deadline = time.monotonic() + seconds
        before: _Look | None = None
        alike = 0
        while alike < needed and not until():
            if time.monotonic() > deadline:
                return False
            time.sleep(_LOOK_SECONDS)
            now = self._look(own)
            alike = alike + 1 if now is not None and now == before else 0
            before = now
        return True

    def _look(self, own: int) -> _Look | None:
        """What there is to see of the process; None if something is going on."""
        if self._busy:
            return None
        threads = _threads(own)
        return None if threads is None else (self._recorded(), *threads)


def _threads(own: int) -> tuple[str, ...] | None:
    """The processor time that each other thread has had; None if one of them runs, waits for a processor or a disk."""
    if not _THREADS.is_dir():
        return ()
    seen = []
    for thread in sorted(os.listdir(_THREADS)):
        if int(thread) == own:
            continue
        try:
            state = (_THREADS / thread / "stat").read_text().rpartition(")")[2].split()[0]
            ran = (_THREADS / thread / "schedstat").read_text().split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return None  # it ended while we looked
        if state not in "SI":
            return None
        seen.append(f"{thread} {ran}")
    return tuple(seen)
