"""Which kind of lock a PostgreSQL database has, as it shows through a real PgBouncer."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from resumption.errors import ExpiringLeases
from resumption.guard.claims.expiring import ExpiringLocks
from resumption.guard.claims.locks import Held
from resumption.guard.claims.servers import LeaseTable, ServerLocks
from resumption.guard.claims.sessions import SessionLocks
from resumption.guard.stores.poolers import is_shared

from ..pooler import free_port, pooled
from ..support import connecting, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs PgBouncer")


@pytest.fixture
def transactions(database_url: str) -> Iterator[str]:
    """The database behind a pooler that hands sessions out by transaction."""
    with pooled(database_url, "transaction") as url:
        yield url


def has_leases(url: str) -> bool:
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT to_regclass('resumption_leases') IS NOT NULL").fetchone()
        return bool(row and row[0])


def is_leased(url: str, thread: str) -> bool:
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT holder FROM resumption_leases WHERE thread = %s", (thread,)).fetchone()
        return bool(row and row[0])


def had(held: Held | None) -> Held:
    assert held is not None
    return held


def test_a_pooler_by_transaction_makes_two_holders_of_one_session_lock(transactions: str) -> None:
    """The control of everything here: this is what is to be noticed."""
    first, second = SessionLocks(connecting(transactions)), SessionLocks(connecting(transactions))
    assert first.attempt("t") is not None
    assert second.attempt("t") is not None


def test_behind_a_pooler_by_transaction_threads_are_leased(transactions: str) -> None:
    first, second = ServerLocks(connecting(transactions)), ServerLocks(connecting(transactions))
    with pytest.warns(ExpiringLeases, match="by transaction"):
        held = had(first.attempt("t"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert first.attempt("t") is None
    with pytest.warns(ExpiringLeases, match="others of its executors"):
        assert second.attempt("t") is None
    held.release()
    had(second.attempt("t")).release()


@pytest.mark.parametrize("mode", ["direct", "session"])
def test_where_a_session_can_be_had_nothing_expires(database_url: str, mode: str) -> None:
    with pooled(database_url, "session") as behind, warnings.catch_warnings():
        warnings.simplefilter("error")
        url = behind if mode == "session" else database_url
        first, second = ServerLocks(connecting(url)), ServerLocks(connecting(url))
        held = had(first.attempt("t"))
        assert second.attempt("t") is None
        held.release()
        until(lambda: second.attempt("t") is not None)  # the server is told, and not waited for
        assert not has_leases(database_url)


@pytest.mark.parametrize("spare", [0, 5])
@pytest.mark.parametrize("round_robin", [False, True])
@pytest.mark.parametrize(("mode", "shared"), [("transaction", True), ("statement", True), ("session", False)])
def test_how_a_pooler_hands_sessions_out_shows(
    database_url: str, mode: str, shared: bool, round_robin: bool, spare: int
) -> None:
    """Also where it has sessions to spare, and where it takes turns with them."""
    with pooled(database_url, mode, round_robin=round_robin) as url:
        _busy(url, spare)
        connect = connecting(url)
        with connect() as session:
            assert is_shared(session, connect) == shared


def _busy(url: str, clients: int) -> None:
    """Have the pooler open as many sessions, which are idle afterwards."""
    connections = [connecting(url)() for _ in range(clients)]
    with ThreadPoolExecutor(max(1, clients)) as pool:
        list(pool.map(lambda one: one.execute("SELECT pg_sleep(0.05)"), connections))
    for connection in connections:
        connection.close()


def test_a_lease_is_not_granted_while_an_older_executor_has_its_session_lock(
    database_url: str, transactions: str
) -> None:
    direct = ServerLocks(connecting(database_url))
    held = had(direct.attempt("t"))
    leasing = ServerLocks(connecting(transactions))
    with pytest.warns(ExpiringLeases):
        assert leasing.attempt("t") is None
    assert leasing.attempt("other") is not None
    held.release()
    until(lambda: leasing.attempt("t") is not None)  # the server is told, and not waited for


def test_an_executor_that_comes_directly_leases_once_others_do(database_url: str, transactions: str) -> None:
    with pytest.warns(ExpiringLeases):
        held = had(ServerLocks(connecting(transactions)).attempt("t"))
    direct = ServerLocks(connecting(database_url))
    with pytest.warns(ExpiringLeases):
        assert direct.attempt("t") is None
    held.release()
    assert direct.attempt("t") is not None
    assert is_leased(database_url, "t")


def test_a_session_that_was_lost_is_looked_at_again(database_url: str, transactions: str) -> None:
    """A direct executor whose session the server ended finds that others lease by now."""
    direct = ServerLocks(connecting(f"{database_url}?application_name=direct"))
    had(direct.attempt("t")).release()
    LeaseTable(connecting(database_url))
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'direct'"
        )
    with pytest.warns(ExpiringLeases):
        assert direct.attempt("t") is not None
    assert is_leased(database_url, "t")


def test_a_database_that_goes_away_is_found_again(database_url: str) -> None:
    port = free_port()
    with pooled(database_url, "transaction", port=port) as url:
        locks = ExpiringLocks(LeaseTable(connecting(url)))
        held = had(locks.attempt("t"))
    assert not held.holds()
    with pooled(database_url, "transaction", port=port):
        assert held.holds()
        assert locks.attempt("t") is None
        held.release()
