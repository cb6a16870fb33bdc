"""LangGraph's own conformance suite for savers comes to the same on a guarded saver as on the stock one.

Guarded savers are tried outside a run, and inside one, where every write carries a fence.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

pytest.importorskip("langgraph.checkpoint.postgres")

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

from resumption.guard.langgraph.savers import guarded_saver
from resumption.guard.langgraph.tenure import Tenure, acting


class _InsideRun:
    """Makes every write part of a run on its thread."""

    _tenures: dict[str, Tenure]

    def _tenure(self, config: RunnableConfig) -> Tenure:
        thread = str(config["configurable"]["thread_id"])
        if thread not in self._tenures:
            lock = self.guard_locks.attempt(thread)  # type: ignore[attr-defined]  # the saver's, whose class this joins
            assert lock is not None
            self._tenures[thread] = Tenure(thread, lock)
        return self._tenures[thread]

    async def aput(self, config: RunnableConfig, *rest: Any) -> Any:
        """As the saver's."""
        with acting(self._tenure(config)):
            return await super().aput(config, *rest)  # type: ignore[misc]  # likewise

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """As the saver's."""
        with acting(self._tenure(config)):
            await super().aput_writes(config, writes, task_id, task_path)  # type: ignore[misc]  # likewise


async def _stock(saver: Any) -> Any:
    return saver


async def _guarded(saver: Any) -> Any:
    found = guarded_saver(saver)
    await found.guard_aready()
    return found


async def _inside(saver: Any) -> Any:
    guarded = await _guarded(saver)
    kind = type("InsideRun", (_InsideRun, type(guarded)), {})
    found: Any = kind.__new__(kind)
    found.__dict__.update(guarded.__dict__, _tenures={})
    return found


HOW = {"guarded": _guarded, "inside a run": _inside}


@asynccontextmanager
async def _memory(bench: Any, url: Callable[[], str]) -> AsyncIterator[Any]:
    yield InMemorySaver()


@asynccontextmanager
async def _sqlite(bench: Any, url: Callable[[], str]) -> AsyncIterator[Any]:
    async with AsyncSqliteSaver.from_conn_string(str(bench.database)) as saver:
        yield saver


@asynccontextmanager
async def _postgres(bench: Any, url: Callable[[], str]) -> AsyncIterator[Any]:
    async with AsyncPostgresSaver.from_conn_string(url()) as saver:
        await saver.setup()
        yield saver


@asynccontextmanager
async def _pool(bench: Any, url: Callable[[], str]) -> AsyncIterator[Any]:
    options: dict[str, Any] = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    async with AsyncConnectionPool(url(), kwargs=options, max_size=4, open=False) as pool:
        saver = AsyncPostgresSaver(pool)
        await saver.setup()
        yield saver


SAVERS = {"memory": _memory, "sqlite": _sqlite, "postgres": _postgres, "postgres pool": _pool}


def outcome(bench: Any, url: Callable[[], str], kind: str, make: Any) -> dict[str, tuple[bool, int, list[str]]]:
    """For each capability: whether it was found, how many of its tests passed, and which failed."""

    @checkpointer_test(name=kind)
    async def saver() -> AsyncIterator[Any]:
        async with AsyncExitStack() as stack:
            yield await make(await stack.enter_async_context(SAVERS[kind](bench, url)))

    report = asyncio.run(validate(saver))
    return {name: (one.detected, one.tests_passed, one.failures) for name, one in report.results.items()}


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("kind", SAVERS)
def test_a_guarded_saver_passes_the_suite_as_the_stock_one_does(bench, request, kind, how):
    def url() -> str:
        found: str = request.getfixturevalue("postgres_url")
        return found

    stock = outcome(bench, url, kind, _stock)
    assert outcome(bench, url, kind, HOW[how]) == stock
    assert sum(passed for _, passed, _ in stock.values()) > 50
    assert all(not failures for _, _, failures in stock.values())
