"""A lease can be lost by an executor that lives: it must not come back into it.

On PostgreSQL the server gives the session up. The executor's other sessions may live on, or be opened anew by a pool:
what it sends by them arrives when others had the thread. On SQLite somebody deletes the file of locks.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resumption.guard.claims.locks import FileLocks
from resumption.guard.claims.sessions import SessionLocks
from resumption.guard.langgraph import admission

from ..support import child
from .databases import Database, tell
from .programs import Bench, answer
from .soak import cut_off

on_server = pytest.mark.parametrize("database", ["postgres", "aiopostgres"], indirect=True)
everywhere = pytest.mark.parametrize("database", ["sqlite", "aiosqlite", "postgres", "aiopostgres"], indirect=True)
INPUT: Any = {"trail": []}


def stop() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def named(database: Database) -> Database:
    """The database as the executor that is to lose its lease opens it."""
    return database.named("far") if database.on_server else database


def lose_its_lease(database: Database) -> None:
    if database.on_server:
        cut_off(database.address, "far", lease_only=True)
    else:
        Path(f"{database.address}-resumption-locks").unlink()


def program(bench: Bench, before: Callable[[], None] = lambda: None) -> Any:
    return bench.builder(draft=bench.step("draft"), pay=bench.gate("pay", before=before), notify=bench.step("notify"))


def failed(bench: Bench, database: Database) -> None:
    """A run whose decision was claimed, and whose gate raised."""

    def fail() -> None:
        raise ConnectionError

    with database.opened(program(bench, fail)) as app:
        app.call(INPUT)
        with pytest.raises(ConnectionError):
            app.call(answer("yes"))


def goes_on_after_its_successor(bench: Bench, database: Database, payload: Any) -> str:
    """An executor stands in its gate, before it has written anything, while another has the thread. What it is told."""
    failed(bench, database)
    told, at_told = os.pipe()

    def stalled() -> None:
        with named(database).opened(program(bench, stop)) as app:
            os.write(at_told, tell(lambda: app.call(payload, durability="sync")).outcome.encode())

    zombie = child(stalled)
    os.close(at_told)
    try:
        zombie.stopped()
        lose_its_lease(database)
        with database.opened(program(bench)) as app:
            assert app.call(None)["trail"] == ["draft", "pay=yes", "notify"]
        zombie.signal(signal.SIGCONT)
        assert zombie.wait() == 0
    finally:
        zombie.kill()
    with os.fdopen(told) as words:
        return words.read()


@everywhere
@pytest.mark.parametrize("payload", [None, answer("yes")], ids=["recovery", "decision"])
def test_an_executor_that_lost_its_lease_before_it_wrote_stores_nothing(quick, database, payload):
    """What it was to write first would have granted it the thread again, in the midst of its successor's run."""
    assert goes_on_after_its_successor(quick, database, payload) == "Fenced"
    assert quick.fired().count("notify") == 1
    with database.opened(program(quick)) as app:
        state = app.state()
    assert (state.values, state.next) == ({"trail": ["draft", "pay=yes", "notify"]}, ())


def wakes_in_its_successors_gate(bench: Bench, database: Database, payload: Any) -> tuple[str, str]:
    """An executor stands with the lease, and goes on when another is in the gate. What each of them is told."""
    failed(bench, database)
    told, at_told = os.pipe()

    def stalled() -> None:
        decide = admission._decide

        def late(*known: Any) -> Any:
            stop()
            return (yield from decide(*known))

        admission._decide = late
        with named(database).opened(program(bench)) as app:
            os.write(at_told, tell(lambda: app.call(payload, durability="sync")).outcome.encode())

    zombie = child(stalled)
    os.close(at_told)

    def wake() -> None:
        zombie.signal(signal.SIGCONT)
        assert zombie.wait() == 0

    try:
        zombie.stopped()
        lose_its_lease(database)
        with database.opened(program(bench, wake)) as app:
            successor = tell(lambda: app.call(None, durability="sync")).outcome
    finally:
        zombie.kill()
    with os.fdopen(told) as words:
        return words.read(), successor


@everywhere
@pytest.mark.parametrize("payload", [None, answer("yes")], ids=["recovery", "decision"])
def test_an_executor_that_lost_its_lease_takes_nothing_back(quick, database, payload):
    assert wakes_in_its_successors_gate(quick, database, payload) == ("Fenced", "draft,pay=yes,notify")
    assert quick.fired() == ["draft", "pay=yes", "notify"]


@on_server
def test_without_a_look_at_the_last_grant_it_takes_the_thread_back(quick, database, monkeypatch):
    """What the look keeps from happening, happens."""
    attempt = SessionLocks.attempt

    def nothing(*_: object) -> Any:
        yield from ()

    monkeypatch.setattr(SessionLocks, "attempt", lambda locks, thread, fences: attempt(locks, thread))
    monkeypatch.setattr(admission, "_glance", nothing)
    assert wakes_in_its_successors_gate(quick, database, None) == ("draft,pay=yes,notify", "Fenced")
    assert quick.fired().count("pay=yes") == 2


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_without_a_look_at_the_file_of_locks_it_takes_the_thread_back(quick, database, monkeypatch):
    """What the look keeps from happening, happens."""
    attempt = FileLocks.attempt

    def attempted(locks: FileLocks, thread: str) -> Any:
        held = attempt(locks, thread)
        if held is not None:
            monkeypatch.setattr(type(held), "holds", lambda held: True)
        return held

    monkeypatch.setattr(FileLocks, "attempt", attempted)
    assert wakes_in_its_successors_gate(quick, database, None) == ("draft,pay=yes,notify", "Fenced")
    assert quick.fired().count("pay=yes") == 2
