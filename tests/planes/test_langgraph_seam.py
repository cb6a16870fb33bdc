"""LangGraph's asynchronous savers at the seam: a storage operation that is held back holds nothing else up."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from driving import APPROVAL
from recording import RecordingInstruments

pytest.importorskip("langgraph")

import aiosqlite
from langgraph.checkpoint.base import empty_checkpoint

from resumption.planes.langgraph.savers import AsyncSqliteFileSaver, Seam

_PATIENCE_SECONDS = 30.0


@dataclass(slots=True)
class _Holding(RecordingInstruments):
    """Holds every storage operation back until it is released."""

    released: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def persist(self, name: str, covers: Sequence[str] = ()) -> Iterator[None]:
        assert self.released.wait(_PATIENCE_SECONDS)
        yield


@dataclass(slots=True)
class _Refusing(RecordingInstruments):
    """Learns how each storage operation ended."""

    errors: list[type[BaseException]] = field(default_factory=list)

    @contextmanager
    def persist(self, name: str, covers: Sequence[str] = ()) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            self.errors.append(type(error))
            raise


async def _put(instruments: RecordingInstruments, path: str, config: dict[str, str], *others: object) -> None:
    async with aiosqlite.connect(path) as connection:
        saver = AsyncSqliteFileSaver(connection)
        saver.seam = Seam(APPROVAL, instruments)
        put = saver.aput({"configurable": config}, empty_checkpoint(), {"source": "loop", "step": 1}, {})
        await asyncio.gather(put, *others)


def test_the_event_loop_goes_on_while_an_operation_is_held_back(tmp_path):
    instruments = _Holding()

    async def release() -> None:
        instruments.released.set()

    asyncio.run(_put(instruments, str(tmp_path / "s"), {"thread_id": "run", "checkpoint_ns": ""}, release()))


def test_an_operation_that_raises_ends_its_bracket_with_its_error(tmp_path):
    instruments = _Refusing()
    with pytest.raises(KeyError):
        asyncio.run(_put(instruments, str(tmp_path / "s"), {"checkpoint_ns": ""}))
    assert instruments.errors == [KeyError]
