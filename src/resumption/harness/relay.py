"""A TCP relay with latency that can be cut: the network between a host and a server, as far as either can tell.

While it is cut, nothing gets through in either direction and nothing is lost, as when packets are dropped and TCP sends
them again: what was sent arrives once the relay is healed.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Relay"]

_CHUNK = 65536
_START_SECONDS = 10.0


class Relay:
    """Relays connections from a free port of the address `listen` to `target`. Use as a context manager.

    `latency` is in seconds, one way.
    """

    def __init__(self, listen: str, target: tuple[str, int], latency: float = 0.0) -> None:
        self.port = 0
        self._listen = listen
        self._target = target
        self._latency = latency
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="resumption-relay", daemon=True)
        self._asking, self._answering = asyncio.Event(), asyncio.Event()
        self._pumps: set[asyncio.Task[None]] = set()

    def __enter__(self) -> Relay:
        self._thread.start()
        opening = asyncio.run_coroutine_threadsafe(self._open(), self._loop)
        self.port = opening.result(_START_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(_START_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @contextmanager
    def cut(self) -> Iterator[bool]:
        """Let nothing through for the block."""
        asyncio.run_coroutine_threadsafe(self._set(whole=False), self._loop).result(_START_SECONDS)
        try:
            yield True
        finally:
            asyncio.run_coroutine_threadsafe(self._set(whole=True), self._loop).result(_START_SECONDS)

    async def _set(self, *, whole: bool) -> None:
        for way in (self._asking, self._answering):
            if whole:
                way.set()
            else:
                way.clear()

    async def _open(self) -> int:
        await self._set(whole=True)
        self._server = await asyncio.start_server(self._accept, self._listen, 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def _close(self) -> None:
        self._server.close()
        for pump in self._pumps:
            pump.cancel()
        await asyncio.gather(*self._pumps, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there_writer = await asyncio.open_connection(*self._target)
        ways = ((self._asking, reader, there_writer), (self._answering, there_reader, writer))
        for way, source, sink in ways:
            pump = asyncio.create_task(self._pump(way, source, sink))
            self._pumps.add(pump)
            pump.add_done_callback(self._pumps.discard)

    async def _pump(self, way: asyncio.Event, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        """Carry one direction of a connection until its source ends."""
        under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        delivering = asyncio.create_task(self._deliver(way, under_way, sink))
        try:
            while data := await _read(source):
                under_way.put_nowait((self._loop.time() + self._latency, data))
            under_way.put_nowait((self._loop.time() + self._latency, b""))
            await delivering
        finally:
            delivering.cancel()
            sink.close()

    async def _deliver(
        self, way: asyncio.Event, under_way: asyncio.Queue[tuple[float, bytes]], sink: asyncio.StreamWriter
    ) -> None:
        while True:
            due, data = await under_way.get()
            await asyncio.sleep(max(0.0, due - self._loop.time()))
            await way.wait()
            if not data:
                return
            try:
                for part in self._parts(data):
                    await way.wait()
                    sink.write(part)
                    await sink.drain()
            except ConnectionError:
                return  # the receiver is gone; its sender will learn of it from its own direction

    def _parts(self, data: bytes) -> Iterator[bytes]:
        """What goes on at once. A network that fails in the midst of a message, or because of one, is made of this."""
        yield data


async def _read(source: asyncio.StreamReader) -> bytes:
    """The next bytes; none at the end, or where the sender was killed."""
    try:
        return await source.read(_CHUNK)
    except ConnectionError:
        return b""
