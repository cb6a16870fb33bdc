"""However a run ends, it leaves no process and no file behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

_PATIENCE = 60.0  # seconds after which something that hasn't happened is a failure


def _until(happened: Callable[[], bool]) -> bool:
    """Wait for what other processes do, of which nothing can notify this one."""
    deadline = time.monotonic() + _PATIENCE
    while not happened():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _processes_of(folder: Path) -> list[str]:
    """The processes that inherited `folder` as the place for temporary files."""
    mark = f"TMPDIR={folder}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                found.append(entry.name)
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue  # it ended meanwhile, or is another user's
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM), (signal.SIGKILL, -signal.SIGKILL)],
    ids=["ctrl-c", "sigterm", "sigkill"],
)
def test_nothing_is_left_behind(number: signal.Signals, code: int, tmp_path: Path) -> None:
    command = [Path(sys.executable).with_name("resumption"), "check", "--probe", "crash/", "--jobs", "2"]
    with subprocess.Popen(
        command,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        # Whoever runs the tests in the background has SIGINT ignored, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert _until(lambda: bool(list(tmp_path.glob("*/job-*/trial-*/process-*.log"))))
        os.kill(process.pid, number)
        output, errors = process.communicate(timeout=_PATIENCE)
    assert process.returncode == code, errors
    assert output == b""
    assert b"Traceback" not in errors
    assert _until(lambda: not _processes_of(tmp_path)), _processes_of(tmp_path)
    assert _until(lambda: not list(tmp_path.iterdir())), list(tmp_path.rglob("*"))
