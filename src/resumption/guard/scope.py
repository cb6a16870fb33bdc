"""Names for effects: explicit keys, and the identity of the task that a default key is made from."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from resumption.errors import KeyUnusable

__all__ = ["BRANCH", "RUN", "KeyScope", "branch_key", "explicit_key", "lease_check", "task_key", "task_scope"]

KeyScope = Literal["run", "branch"]
RUN: KeyScope = "run"
BRANCH: KeyScope = "branch"

# PostgreSQL can index about 2,700 bytes; a key made from a name and two identities stays below that.
_LONGEST = 1024


@dataclass(frozen=True, slots=True)
class _TaskScope:
    """Where the program is: which run, which branch of it, which task, and how often each effect was called there."""

    run: str
    branch: str
    task: str
    must_hold: Callable[[], None]
    settle: Callable[[], None]
    guard: threading.Lock = field(default_factory=threading.Lock)
    calls: Counter[str] = field(default_factory=Counter)

    def ordinal(self, effect: str) -> int:
        with self.guard:
            self.calls[effect] += 1
            return self.calls[effect]


_scope: ContextVar[_TaskScope | None] = ContextVar("resumption_task_scope", default=None)


@contextmanager
def task_scope(
    *,
    run: str,
    branch: str,
    task: str,
    must_hold: Callable[[], None] = lambda: None,
    settle: Callable[[], None] = lambda: None,
) -> Generator[None]:
    """Name the task that the code in the block belongs to, for default keys and for `scope="branch"`.

    A framework's guard binds this around each task. The three names must be the same when the task runs again after a
    crash: a step number that changes with what was checkpointed is not such a name. Calls are counted from one again
    each time the block is entered.

    `must_hold` is called before an effect begins, maybe in another thread: it raises if this executor was replaced.
    `settle` is called before a default key is made: it returns once the name of the task outlives a crash, and raises
    `KeyUnusable` if it never will. The same is asked of the task around this one, in which it may be a part.
    """
    outer = _scope.get()
    token = _scope.set(_TaskScope(run, branch, task, must_hold, partial(_settle, outer, settle)))
    try:
        yield
    finally:
        _scope.reset(token)


def _settle(outer: _TaskScope | None, settle: Callable[[], None]) -> None:
    if outer is not None:
        outer.settle()
    settle()


def lease_check() -> Callable[[], None]:
    """What to call before an effect of the running code begins."""
    scope = _scope.get()
    return (lambda: None) if scope is None else scope.must_hold


def explicit_key(key: object) -> str:
    """The key as the program wrote it, if a store can hold it."""
    if not isinstance(key, str) or not key:
        raise KeyUnusable(f"{key!r} is not a key.", advice="A key is a non-empty string that names the effect.")
    if key.startswith('["'):
        raise KeyUnusable(f"The key {key!r} looks like a composed one.", advice='Begin it otherwise than with [".')
    try:
        size = len(key.encode())
    except UnicodeEncodeError as error:
        raise KeyUnusable(f"The key {key!r} is not valid text.", advice="Make it from valid Unicode.") from error
    if "\0" in key or size > _LONGEST:
        raise KeyUnusable(
            f"The key {key[:40]!r}… can't be stored.",
            advice=f"Keep it below {_LONGEST} bytes and free of NUL; hash what is long.",
        )
    return key


def branch_key(key: str) -> str:
    """An explicit key, told apart by branch."""
    scope = _bound(f'the key {key!r} with scope="branch"')
    return json.dumps(["branch", scope.run, scope.branch, key])


def task_key(effect: str) -> str:
    """The default key: branch, task, effect, and the ordinal of this call. Each use counts as a call.

    Waits until the task's name outlives a crash; raises `KeyUnusable` if it can't, or outside a task.
    """
    scope = _bound(f"{effect} without a key")
    scope.settle()
    return json.dumps(["task", scope.run, scope.branch, scope.task, effect, scope.ordinal(effect)])


def _bound(what: str) -> _TaskScope:
    scope = _scope.get()
    if scope is None:
        raise KeyUnusable(
            f"Outside a guarded graph's task there is no name for {what}.",
            advice="Give the effect a key that names it in the world, guard the graph that calls it, or bind "
            "task_scope(run=…, branch=…, task=…).",
        )
    return scope
