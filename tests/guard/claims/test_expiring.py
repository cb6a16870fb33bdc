"""Leases that expire: who beats keeps one, who stops beating loses it, and not before."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from resumption.errors import RowUnreadable
from resumption.guard.claims import expiring, leases
from resumption.guard.claims.expiring import ExpiringLocks
from resumption.guard.claims.locks import Held
from resumption.guard.claims.servers import LeaseTable

from ..support import Child, child, until
from ..unreadable import break_column

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs fork and signals")


def holder(locks: ExpiringLocks, thread: str = "t", then: Callable[[], object] = signal.pause) -> Child:
    """A process that takes a lease, says so, and does something else."""
    mine, theirs = os.pipe()

    def hold() -> None:
        assert locks.attempt(thread) is not None
        os.write(theirs, b"!")
        then()

    other = child(hold)
    os.close(theirs)
    taken = os.read(mine, 1)
    os.close(mine)
    assert taken == b"!"
    return other


def waited_for(locks: ExpiringLocks, thread: str = "t") -> Held:
    """The lease, when it can be had."""
    granted: list[Held] = []
    until(lambda: bool(granted.extend(held for held in [locks.attempt(thread)] if held) or granted))
    return granted[0]


def taken_after(locks: ExpiringLocks) -> float:
    """How many seconds pass until the lease can be had, for one who begins to wait now."""
    began = time.monotonic()
    waited_for(locks).release()
    return time.monotonic() - began


def test_a_lease_is_had_by_one_at_a_time_and_given_up_at_once(locks: ExpiringLocks) -> None:
    held = locks.attempt("t")
    assert held is not None
    assert locks.attempt("t") is None
    assert locks.attempt("other") is not None
    held.release()
    assert not held.holds()
    assert locks.attempt("t") is not None
    held.release()  # a second time: nothing of the successor's is given up
    assert locks.attempt("t") is None


def test_whoever_beats_keeps_its_lease(locks: ExpiringLocks, seconds: float) -> None:
    other = holder(locks)
    try:
        ends = time.monotonic() + 2.5 * seconds
        while time.monotonic() < ends:
            assert locks.attempt("t") is None
            time.sleep(0.05)
    finally:
        other.kill()


def test_who_does_not_beat_loses_its_lease(locks: ExpiringLocks, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control of the test before: it is the beats that keep a lease."""
    monkeypatch.setattr(ExpiringLocks, "_beat", lambda self: None)
    other = holder(locks)
    try:
        taken_after(locks)
    finally:
        other.kill()


def test_a_killed_holders_lease_is_taken_when_it_has_expired_and_not_before(
    locks: ExpiringLocks, seconds: float
) -> None:
    other = holder(locks)
    other.kill()
    assert seconds <= taken_after(locks) < seconds + 10


def test_a_process_that_ends_in_order_leaves_nothing_to_wait_for(locks: ExpiringLocks, seconds: float) -> None:
    def give_up() -> None:
        held = locks.attempt("t")
        assert held is not None
        held.release()

    assert child(give_up).wait() == 0
    assert locks.attempt("t") is not None


def test_a_paused_holder_is_replaced_and_learns_of_it(locks: ExpiringLocks) -> None:
    def sleep_through() -> None:
        held = locks.attempt("t")
        assert held is not None
        assert held.holds()
        os.kill(os.getpid(), signal.SIGSTOP)
        assert not held.holds()
        held.release()

    zombie = child(sleep_through)
    try:
        zombie.stopped()
        successor = waited_for(locks)
        zombie.signal(signal.SIGCONT)
        assert zombie.wait() == 0
        assert successor.holds()
    finally:
        zombie.kill()


def test_of_two_waiters_one_gets_what_a_dead_holder_left(locks: ExpiringLocks) -> None:
    holder(locks).kill()
    line = threading.Barrier(2)
    granted: list[Held] = []

    def wait(waiter: ExpiringLocks) -> None:
        line.wait()
        ends = time.monotonic() + 20
        while not granted and time.monotonic() < ends:
            held = waiter.attempt("t")
            if held is not None:
                granted.append(held)

    waiters = [threading.Thread(target=wait, args=(ExpiringLocks(locks.records),)) for _ in range(2)]
    for waiter in waiters:
        waiter.start()
    for waiter in waiters:
        waiter.join()
    assert len(granted) == 1
    granted[0].release()


def test_an_asker_renews_for_what_comes_next(locks: ExpiringLocks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ExpiringLocks, "_beat", lambda self: None)
    held = locks.attempt("t")
    assert held is not None
    waiter = ExpiringLocks(locks.records)
    seen = []
    for _ in range(3):
        waiter.attempt("t")
        seen.append(waiter._seen["t"].beat)
        assert held.holds()
    assert seen == [0, 1, 2]


def test_a_lease_that_cannot_be_asked_about_is_not_held(locks: ExpiringLocks, monkeypatch: pytest.MonkeyPatch) -> None:
    held = locks.attempt("t")
    assert held is not None

    def away(work: object) -> None:
        raise locks.records.unreachable("the database is away")

    with monkeypatch.context() as patch:
        patch.setattr(locks.records, "transact", away)
        assert not held.holds()
    assert held.holds()  # nobody took it meanwhile


def test_beats_that_fail_are_made_up_for(locks: ExpiringLocks, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the database is away nobody can take the lease either; when it is back, the holder is first."""
    failures: list[object] = []
    transact = locks.records.transact

    def flaky(work: object) -> object:
        if len(failures) < 5 and threading.current_thread().name == "resumption-leases":
            failures.append(work)
            raise locks.records.unreachable("the database is away")
        return transact(work)

    monkeypatch.setattr(locks.records, "transact", flaky)
    held = locks.attempt("t")
    waiter = ExpiringLocks(locks.records)
    assert waiter.attempt("t") is None
    until(lambda: waiter.attempt("t") is not None or waiter._seen["t"].beat > 0)
    assert len(failures) == 5
    assert held is not None
    assert held.holds()


def test_a_lease_that_cannot_be_read_is_lost_and_ends_no_others_beat(locks: ExpiringLocks, tmp_path: Path) -> None:
    broken, whole = locks.attempt("a"), locks.attempt("b")  # in the order in which they are renewed
    assert broken is not None
    assert whole is not None
    records = locks.records
    address = str(tmp_path / "leases")
    if isinstance(records, LeaseTable):
        with records._connect() as session:
            session.execute("ALTER TABLE resumption_leases ALTER number DROP NOT NULL")
            session.execute("UPDATE resumption_leases SET number = NULL WHERE thread = 'a'")
    else:
        break_column(address, "resumption_leases", "number", "x", thread="a")
    waiter = ExpiringLocks(records)
    assert waiter.attempt("b") is None
    until(lambda: waiter.attempt("b") is not None or waiter._seen["b"].beat > 1)
    assert whole.holds()
    assert not broken.holds()
    with pytest.raises(RowUnreadable, match=r"resumption_leases.number .* thread 'a'"):
        waiter.attempt("a")


def test_a_forked_child_has_no_leases(locks: ExpiringLocks) -> None:
    held = locks.attempt("t")
    assert child(lambda: _refused(locks)).wait() == 0
    assert held is not None
    assert held.holds()


def _refused(locks: ExpiringLocks) -> None:
    assert locks.attempt("t") is None
    assert locks.attempt("u") is not None
    assert not locks._held - {held for held in locks._held if held.thread == "u"}


def test_the_thread_that_beats_ends_with_the_last_lease(locks: ExpiringLocks) -> None:
    first, second = locks.attempt("t"), locks.attempt("u")
    assert first is not None
    assert second is not None
    first.release()
    assert locks._beating
    second.release()
    until(lambda: not locks._beating)


def test_what_a_host_remembers_of_others_is_bounded(locks: ExpiringLocks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expiring, "_REMEMBERED", 3)
    waiter = ExpiringLocks(locks.records)
    for number in range(6):
        assert locks.attempt(f"t{number}") is not None
        assert waiter.attempt(f"t{number}") is None
    assert list(waiter._seen) == ["t3", "t4", "t5"]


def test_a_beat_between_look_and_take_keeps_the_lease(locks: ExpiringLocks) -> None:
    """A waiter that found the lease expired loses to a holder that woke up in time."""
    held = locks.attempt("t")
    assert held is not None
    sql = locks.records.sql
    request = leases.Request("t", "waiter", leases.Sighting(1, 0, time.monotonic() - 100))
    work = leases.taking(sql, request, time.monotonic)
    reply = locks.records.look(_one(next(work)))
    asked = work.send(reply)
    assert held.holds()
    if asked[0] == sql.unlocked:
        asked = work.send(locks.records.transact(_one(asked)))
    assert asked[0] == sql.take
    with pytest.raises(StopIteration) as end:
        work.send(locks.records.transact(_one(asked)))
    assert end.value.value.outcome is leases.Lease.BUSY
    assert held.holds()


def _one(statement: object) -> object:
    return (yield statement)
