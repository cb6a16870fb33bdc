"""What several folders of tests share: receipts that are measured once for all workers of a test run."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from resumption.harness.receipts import Receipt, read_receipt, write

_MEMORY = Path("/dev/shm")  # a SIGKILL, unlike a power cut, loses nothing that was written there, and commits are fast

Once = Callable[[str, Callable[[], Receipt]], Receipt]


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Once]:
    """Return the receipt of a name: measured by the first worker that asks for it, read by the others."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent

    def receipt(name: str, measure: Callable[[], Receipt]) -> Receipt:
        path = shared / f"{name}.json"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                write(measure(), path)
        return read_receipt(path)

    patch = pytest.MonkeyPatch()
    if _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK):
        patch.setattr(tempfile, "tempdir", str(_MEMORY))
    yield receipt
    patch.undo()
