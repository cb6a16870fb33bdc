"""One line of JSON after another over a socket: how the harness talks to a worker process."""

from __future__ import annotations

import json
import socket
from typing import Any

__all__ = ["Channel"]

_CHUNK = 65536


class Channel:
    """A message channel over a connected stream socket."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._buffer = bytearray()

    def send(self, message: dict[str, Any]) -> None:
        """Send one message. Raises `OSError` if the other side is gone."""
        self._socket.sendall(json.dumps(message).encode() + b"\n")

    def receive(self, timeout: float | None = None) -> dict[str, Any] | None:
        """Return the next message, or None if the other side is gone. Raises `TimeoutError` after `timeout` seconds."""
        self._socket.settimeout(timeout)
        while (end := self._buffer.find(b"\n")) < 0:
            try:
                chunk = self._socket.recv(_CHUNK)
            except ConnectionResetError:
                return None
            if not chunk:
                return None
            self._buffer += chunk
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        message: dict[str, Any] = json.loads(line)
        return message

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()
