"""Effects recorded in the caller's own transaction: committed together, undone together, never in doubt."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from resumption import Ledger, effect
from resumption.errors import EffectRunning, InDoubt, KeyReused, SchemaMismatch, UnsupportedEffect
from resumption.guard import operators

from .support import Points, killed_at_each_point, statements_observed

Connection = Any  # sqlite3's or psycopg's: what both have in common is all that is used here


def connect(url: str, **options: Any) -> Connection:
    if url.startswith("sqlite"):
        return sqlite3.connect(url.removeprefix("sqlite:///"), timeout=10, check_same_thread=False, **options)
    return psycopg.connect(url, **options)


def credits(url: str) -> int:
    connection = connect(url)
    (count,) = connection.execute("SELECT count(*) FROM credits").fetchone()
    connection.close()
    return int(count)


@pytest.fixture
def accounts(url: str) -> str:
    """A store with a table of the caller's own."""
    connection = connect(url)
    connection.execute("CREATE TABLE credits (account TEXT)")
    connection.commit()
    connection.close()
    return url


def crediting(ledger: Ledger, connection: Connection, outcome: Callable[[], object] = lambda: "credited") -> Any:
    @effect(ledger, key="credit:ada")
    def credit() -> object:
        connection.execute("INSERT INTO credits VALUES ('ada')")
        return outcome()

    return credit


def test_record_and_effect_commit_together(accounts: str, ledger: Ledger) -> None:
    connection = connect(accounts)
    credit = crediting(ledger, connection)
    with ledger.transaction(connection):
        assert credit() == "credited"
        assert ledger.get("credit:ada") is None  # nothing is visible before the commit
        assert credit() == "credited"
    with ledger.transaction(connection):
        assert credit() == "credited"
    assert credit() == "credited"
    assert credits(accounts) == 1


def test_a_rollback_takes_both_back(accounts: str, ledger: Ledger) -> None:
    connection = connect(accounts)
    credit = crediting(ledger, connection)
    with pytest.raises(RuntimeError), ledger.transaction(connection):  # noqa: PT012 — the block is what is tested
        credit()
        raise RuntimeError
    assert ledger.get("credit:ada") is None
    assert credits(accounts) == 0
    with ledger.transaction(connection):
        credit()
    assert credits(accounts) == 1


def test_an_effect_that_raises_is_undone_even_if_the_caller_goes_on(accounts: str, ledger: Ledger) -> None:
    connection = connect(accounts)

    def fail() -> None:
        raise ValueError

    with ledger.transaction(connection):
        with pytest.raises(ValueError):
            crediting(ledger, connection, fail)()
        connection.execute("INSERT INTO credits VALUES ('somebody else')")
    assert credits(accounts) == 1
    assert ledger.get("credit:ada") is None


def test_an_open_transaction_is_joined_and_left_to_the_caller(accounts: str, ledger: Ledger) -> None:
    ledger.setup()
    connection = connect(accounts)
    connection.execute("INSERT INTO credits VALUES ('first')")
    with ledger.transaction(connection):
        crediting(ledger, connection)()
    connection.rollback()
    assert credits(accounts) == 0
    assert ledger.get("credit:ada") is None


def test_racing_transactions_credit_once(accounts: str, ledger: Ledger) -> None:
    barrier = threading.Barrier(8)

    def transfer(_: int) -> object:
        connection = connect(accounts)
        barrier.wait()
        with ledger.transaction(connection):
            return crediting(ledger, connection)()

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(transfer, range(8))) == {"credited"}
    assert credits(accounts) == 1


def test_a_process_that_is_killed_at_any_statement_credits_never_or_once_and_never_leaves_doubt(
    accounts: str, tmp_path: Path
) -> None:
    Ledger(accounts).setup()

    def transfer(points: Points) -> None:
        ledger, connection = Ledger(accounts), connect(accounts)
        ledger.setup()
        with statements_observed(points.reach), ledger.transaction(connection):
            crediting(ledger, connection)()
        connection.close()
        ledger.close()

    def reset() -> None:
        connection = connect(accounts)
        connection.execute("DELETE FROM credits")
        connection.execute("DELETE FROM resumption_effects")
        connection.commit()
        connection.close()

    deaths = []
    for where in killed_at_each_point(transfer, tmp_path, before=reset):
        transfer(Points())
        assert credits(accounts) == 1, where
        deaths.append(where)
    assert len(deaths) >= 10, deaths


def test_what_is_in_doubt_outside_is_surfaced_inside_and_the_refusal_survives_the_rollback(
    accounts: str, ledger: Ledger
) -> None:
    def fail() -> None:
        raise TimeoutError

    doubtful = effect(ledger, key="credit:ada", on_doubt="retry")(fail)
    with pytest.raises(TimeoutError):
        doubtful()
    connection = connect(accounts)
    with pytest.raises(InDoubt), ledger.transaction(connection):
        crediting(ledger, connection)()
    assert [row.branch for row in operators.audit_trail(ledger, "credit:ada")] == ["in-doubt/ended"]
    assert credits(accounts) == 0


def test_an_effect_that_runs_outside_is_not_waited_for_inside(accounts: str, ledger: Ledger) -> None:
    connection = connect(accounts)
    inside = crediting(ledger, connection)

    @effect(ledger, key="credit:ada")
    def outside() -> str:
        with ThreadPoolExecutor(1) as other, pytest.raises(EffectRunning):
            other.submit(within).result(20)
        return "outside"

    def within() -> None:
        with ledger.transaction(connection):
            inside()

    assert outside() == "outside"
    assert credits(accounts) == 0


def test_other_arguments_are_refused_inside_too(accounts: str, ledger: Ledger) -> None:
    connection = connect(accounts)
    pay = effect(ledger, key="pay")(lambda amount: amount)
    with ledger.transaction(connection):
        assert pay(1) == 1
        with pytest.raises(KeyReused):
            pay(2)


def test_a_connection_to_another_ledger_or_to_nothing_is_refused(accounts: str, ledger: Ledger, tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "other.db")
    with pytest.raises(SchemaMismatch), ledger.transaction(other):
        pass
    assert not other.in_transaction
    Ledger(f"sqlite:///{tmp_path / 'other.db'}").setup()
    with pytest.raises(SchemaMismatch), ledger.transaction(other):
        pass
    with pytest.raises(UnsupportedEffect), ledger.transaction("no connection"):
        pass


def test_the_callers_row_factory_and_autocommit_do_not_matter(postgres_url: str, sqlite_url: str) -> None:
    ledger = Ledger(postgres_url)
    with psycopg.connect(postgres_url, autocommit=True, row_factory=dict_row) as connection:
        for _ in range(2):
            with ledger.transaction(connection):
                assert effect(ledger, key="k")(lambda: 7)() == 7
    embedded = Ledger(sqlite_url)
    plain = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)
    plain.row_factory = lambda cursor, row: {"row": row}
    for _ in range(2):
        with embedded.transaction(plain):
            assert effect(embedded, key="k")(lambda: 7)() == 7


def test_an_asynchronous_connection_carries_records_too(postgres_url: str) -> None:
    ledger = Ledger(postgres_url)
    fired = []

    @effect(ledger, key="credit")
    async def credit() -> str:
        fired.append(1)
        return "credited"

    async def twice() -> None:
        connection = await psycopg.AsyncConnection.connect(postgres_url)
        async with ledger.transaction(connection):
            assert await credit() == "credited"
            with pytest.raises(UnsupportedEffect, match="coroutine"):
                effect(ledger, key="k")(lambda: 1)()
        with pytest.raises(RuntimeError):  # noqa: PT012 — the block is what is tested
            async with ledger.transaction(connection):
                await effect(ledger, key="undone")(undone)()
                raise RuntimeError
        async with ledger.transaction(connection):
            assert await credit() == "credited"
        with pytest.raises(UnsupportedEffect), ledger.transaction(connection):
            pass
        await connection.close()

    async def undone() -> None:
        fired.append(2)

    asyncio.run(twice())
    assert fired == [1, 2]
    assert ledger.get("undone") is None


def test_a_synchronous_connection_needs_a_plain_with(sqlite_url: str) -> None:
    ledger = Ledger(sqlite_url)
    ledger.setup()

    async def wrong() -> None:
        async with ledger.transaction(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))):
            pass

    with pytest.raises(UnsupportedEffect):
        asyncio.run(wrong())


def test_an_effect_beside_another_in_one_transaction_is_refused_before_it_fires(accounts: str, ledger: Ledger) -> None:
    """Both would share a savepoint: the failure of one would undo the other, which had succeeded."""
    connection = connect(accounts)

    @effect(ledger, key=lambda account, _: f"credit:{account}")
    async def credit(account: str, go_on: asyncio.Event) -> str:
        connection.execute(f"INSERT INTO credits VALUES ('{account}')")
        await go_on.wait()
        return account

    async def interleaved() -> list[object]:
        go_on = asyncio.Event()
        first = asyncio.create_task(credit("ada", go_on))
        await asyncio.sleep(0)
        second = asyncio.create_task(credit("bob", go_on))
        await asyncio.sleep(0)
        go_on.set()
        return await asyncio.gather(first, second, return_exceptions=True)

    with ledger.transaction(connection):
        done, refused = asyncio.run(interleaved())
    assert done == "ada"
    assert isinstance(refused, UnsupportedEffect)
    assert "credit:ada" in str(refused)
    assert [record.key for record in ledger.records()] == ["credit:ada"]
    assert credits(accounts) == 1
    ledger.close()  # the refused call left nothing that is still running


def test_an_effect_inside_another_is_undone_alone(accounts: str, ledger: Ledger) -> None:
    connection = connect(accounts)

    @effect(ledger, key="inner")
    def inner() -> None:
        connection.execute("INSERT INTO credits VALUES ('inner')")
        raise ValueError

    @effect(ledger, key="outer")
    def outer() -> str:
        connection.execute("INSERT INTO credits VALUES ('outer')")
        with pytest.raises(ValueError):
            inner()
        return "outer"

    with ledger.transaction(connection):
        assert outer() == "outer"
    assert [record.key for record in ledger.records()] == ["outer"]
    assert credits(accounts) == 1
