"""Brackets of storage operations inside an event loop, for adapters whose framework stores by coroutines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager

__all__ = ["beside_the_loop"]


@asynccontextmanager
async def beside_the_loop(bracket: AbstractContextManager[None]) -> AsyncIterator[None]:
    """Enter and leave a bracket in another thread: it may hold an operation back while the event loop goes on."""
    await asyncio.to_thread(bracket.__enter__)
    try:
        yield
    except BaseException as error:
        bracket.__exit__(type(error), error, error.__traceback__)
        raise
    await asyncio.to_thread(bracket.__exit__, None, None, None)
