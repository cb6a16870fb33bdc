"""One receipt for each plane, made once and shared by all workers of a test run."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from resumption.harness.probes import PROBES
from resumption.harness.receipts import Receipt, read_receipt, write
from resumption.harness.runner import run_suite
from resumption.planes.registry import specs

_JOBS = 4
_MEMORY = Path("/dev/shm")  # a SIGKILL, unlike a power cut, loses nothing that was written there, and commits are fast

Measure = Callable[[str], Receipt]


@pytest.fixture(scope="session")
def measure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measure]:
    """Return the receipt of a plane: measured by the first worker that asks, read by the others."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent

    def receipt(name: str) -> Receipt:
        path = shared / f"{name}.json"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                write(run_suite(specs(name), PROBES, jobs=_JOBS), path)
        return read_receipt(path)

    patch = pytest.MonkeyPatch()
    if _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK):
        patch.setattr(tempfile, "tempdir", str(_MEMORY))
    yield receipt
    patch.undo()
