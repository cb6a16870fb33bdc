"""What must be at rest while its process forks: a child must not inherit an open connection, nor a lock in use.

One fork at a time pauses all of it. What is made meanwhile is not paused, and is forgotten in the child like the rest.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Protocol

__all__ = ["Forked", "watch"]


class Forked(Protocol):
    """Something that a fork concerns."""

    def pause(self) -> None:
        """Before a fork: have nothing open that a child must not inherit."""

    def resume(self) -> None:
        """In the parent, after a fork."""

    def forget(self) -> None:
        """In a forked child: leave everything of the parent's alone."""


def watch(thing: Forked) -> None:
    """Pause a thing at each fork for as long as it exists."""
    _watched.add(thing)


_watched: weakref.WeakSet[Forked] = weakref.WeakSet()
_forking = threading.Lock()
_paused: list[Forked] = []


def _pause_all() -> None:
    _forking.acquire()
    _paused[:] = list(_watched)
    for thing in _paused:
        thing.pause()


def _resume_all() -> None:
    for thing in _paused:
        thing.resume()
    _paused.clear()
    _forking.release()


def _forget_all() -> None:
    _paused.clear()
    _forking.release()
    for thing in list(_watched):
        thing.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_pause_all, after_in_parent=_resume_all, after_in_child=_forget_all)
