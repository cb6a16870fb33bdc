"""The lease on PostgreSQL: held by one session of the process, freed without waiting for the server's word."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest
from psycopg.rows import tuple_row

from resumption.guard.claims import sessions
from resumption.guard.claims.locks import Held, offset
from resumption.guard.claims.records import Fence
from resumption.guard.claims.sessions import SessionLocks

from .support import child, until

_PATIENCE = "SET lock_timeout = '60s'"
_WAITERS = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"


@pytest.fixture
def connected(postgres_url: str) -> Iterator[Any]:
    """Opens sessions, and closes them in the end."""
    opened: list[psycopg.Connection[Any]] = []

    def connect() -> psycopg.Connection[Any]:
        opened.append(psycopg.connect(postgres_url, autocommit=True, row_factory=tuple_row))
        return opened[-1]

    yield connect
    for connection in opened:
        connection.close()


@pytest.fixture
def locks(connected: Any) -> SessionLocks:
    return SessionLocks(connected)


def taken(locks: SessionLocks, thread: str) -> Held:
    """The lock, which is free."""
    held = locks.attempt(thread)
    assert held is not None
    return held


def test_a_lock_excludes_other_sessions_and_other_runs_of_this_process(locks, connected):
    held = taken(locks, "t")
    assert locks.attempt("t") is None
    assert SessionLocks(connected).attempt("t") is None
    held.release()
    held.release()
    taken(locks, "t")


def test_a_lock_that_was_given_up_is_free_without_another_step_of_its_holder(locks, connected):
    """Its session's answer is never read: the other one waits for the lock in the server."""
    taken(locks, "t").release()
    with closing(connected()) as other:
        other.execute(_PATIENCE)
        other.execute("SELECT pg_advisory_lock(%s)", (offset("t"),))


def test_an_answer_that_was_not_read_is_not_taken_for_the_next_one(locks, connected):
    """The freeing of one lock succeeded; the attempt at another, which is taken, did not."""
    other = taken(SessionLocks(connected), "other")
    taken(locks, "t").release()
    assert locks.attempt("other") is None
    assert other.holds()
    taken(locks, "t").release()
    assert taken(locks, "another").holds()


def terminate(connection: psycopg.Connection[Any], *pids: int) -> None:
    """End these sessions, and wait until the server is done with them."""
    for pid in pids:
        assert connection.execute("SELECT pg_terminate_backend(%s, 60000)", (pid,)).fetchone() == (True,)


def test_a_session_that_ends_before_its_answer_is_read_is_replaced(postgres_url):
    with psycopg.connect(postgres_url, autocommit=True, row_factory=tuple_row) as operator:
        sessions: list[psycopg.Connection[Any]] = []

        def connect() -> psycopg.Connection[Any]:
            sessions.append(psycopg.connect(postgres_url, autocommit=True))
            return sessions[-1]

        locks = SessionLocks(connect)
        lost, freed = taken(locks, "lost"), taken(locks, "freed")
        freed.release()
        terminate(operator, sessions[0].info.backend_pid)
        assert taken(locks, "new").holds()
        assert len(sessions) == 2
        assert not lost.holds()
        lost.release()
        pids = [session.info.backend_pid for session in sessions[1:]]
        held = operator.execute("SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND pid = ANY(%s)", (pids,))
        assert held.fetchall() == [(pid,) for pid in pids]
        sessions[-1].close()


def test_giving_up_in_a_session_that_ended_frees_the_thread(locks, connected):
    held = taken(locks, "t")
    session = locks._session._connection
    assert session is not None
    terminate(connected(), session.info.backend_pid)
    held.release()
    taken(locks, "t").release()


def test_an_error_of_the_server_ends_the_session_that_it_is_of(locks, connected, monkeypatch):
    """Whatever it means for the locks of the session, the server frees them with it."""
    held, other = taken(locks, "t"), taken(locks, "other")
    monkeypatch.setattr(sessions, "FREE_SESSION", b"SELECT pg_advisory_unlock(%d) / 0")
    held.release()
    assert taken(locks, "t").holds()
    assert not other.holds()


def test_threads_of_one_process_share_the_session_and_never_a_lock(locks, connected):
    inside, clashes, errors = dict.fromkeys(range(4), 0), [], []

    def work(number: int) -> None:
        try:
            for step in range(60):
                key = (number + step) % 4
                held = locks.attempt(f"thread {key}")
                if held is not None:
                    inside[key] += 1
                    if inside[key] != 1:
                        clashes.append(key)
                    inside[key] -= 1
                    held.release()
        except Exception as error:
            errors.append(error)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert (clashes, errors) == ([], [])
    free = SessionLocks(connected)
    assert all(taken(locks, f"thread {key}").release() is None for key in range(4))
    taken(locks, "last")  # what was sent before it is done
    assert all(free.attempt(f"thread {key}") for key in range(4))


def test_a_forked_child_has_a_session_of_its_own_and_leaves_the_parents_alone(locks, connected):
    """The parent has an answer to read when it forks, which the child must not read."""
    held = taken(locks, "held")
    taken(locks, "freed").release()

    def inherit() -> None:
        assert locks.attempt("held") is None
        held.release()
        assert locks.attempt("held") is None
        taken(locks, "freed").release()

    forked = child(inherit)
    assert forked.wait() == 0
    assert held.holds()
    assert SessionLocks(connected).attempt("held") is None
    taken(locks, "freed").release()


# What a lock tells of the last grant ----------------------------------------------------------------------------------


@pytest.fixture
def operator(connected: Any) -> psycopg.Connection[Any]:
    """Somebody else's session, in a database with a table of fences."""
    operator: psycopg.Connection[Any] = connected()
    operator.execute("CREATE TABLE fences (thread TEXT PRIMARY KEY, number BIGINT NOT NULL, holder TEXT)")
    operator.execute("INSERT INTO fences VALUES ('it''s \\ ü', 7, 'former')")
    return operator


def test_a_lock_tells_the_last_grant_of_its_thread(locks, operator):
    held = locks.attempt("it's \\ ü", "fences")
    assert held.seen == Fence(7, "former")
    assert locks.attempt("another", "fences").seen == Fence()
    held.release()
    assert taken(locks, "it's \\ ü").seen is None


def test_the_grant_that_a_lock_tells_is_not_older_than_the_lock(postgres_url, operator, monkeypatch):
    """Whatever the server's default is: in a transaction with one snapshot it would be. As if there were a pause
    between the two statements: the lock is waited for, and the grant changes meanwhile.
    """
    thread = "it's \\ ü"
    monkeypatch.setattr(sessions, "TRY_SESSION", b"SELECT pg_advisory_lock(%d)::text = ''")
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("SET default_transaction_isolation = 'repeatable read'")
        locks, found = SessionLocks(lambda: connection), []
        operator.execute("SELECT pg_advisory_lock(%s)", (offset(thread),))
        waiter = threading.Thread(target=lambda: found.append(locks.attempt(thread, "fences")))
        waiter.start()
        until(lambda: operator.execute(_WAITERS).fetchone() == (1,))
        operator.execute("UPDATE fences SET number = 8, holder = 'latter'")
        operator.execute("SELECT pg_advisory_unlock(%s)", (offset(thread),))
        waiter.join()
        assert found[0].seen == Fence(8, "latter")


def test_a_table_that_is_not_there_is_an_error_and_no_lock(locks, connected):
    with pytest.raises(psycopg.OperationalError, match="nowhere"):
        locks.attempt("t", "nowhere")
    until(lambda: SessionLocks(connected).attempt("t") is not None)  # what was taken goes with the session
