"""Moves a worker process to another host, as far as the network is concerned: into a network namespace."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

__all__ = ["join_namespace"]

_NETWORK = 0x40000000  # CLONE_NEWNET; Python has names for it from 3.12 on


def join_namespace(path: Path) -> None:
    """Join the network namespace at `path`. Sockets that are open already keep theirs. Raises `OSError`."""
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if libc.setns(descriptor, _NETWORK) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), str(path))
    finally:
        os.close(descriptor)
