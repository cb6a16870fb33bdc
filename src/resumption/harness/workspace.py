"""Where a run of the harness keeps its stores, logs and histories while it lasts."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

__all__ = ["memory_folder", "workspace_folder"]

_MEMORY = Path("/dev/shm")
_ROOM = 1 << 30  # bytes: several times what the largest suite has been seen to take


def memory_folder() -> Path | None:
    """A folder in memory with room for a run, if there is one and `TMPDIR` doesn't ask for another place."""
    if "TMPDIR" not in os.environ and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ROOM:
        return _MEMORY
    return None


def workspace_folder() -> tempfile.TemporaryDirectory[str]:
    """Make a folder that is removed when the block it is entered for ends.

    It lies in memory where there is such a file system with room. A SIGKILL takes nothing from a file that was written,
    on a disk or not; what a disk would add are stalls at each commit, which hide races and make runs slow. `TMPDIR`,
    where it is set, is obeyed.
    """
    return tempfile.TemporaryDirectory(prefix="resumption-", dir=memory_folder(), ignore_cleanup_errors=True)
