"""The history file under SIGKILL: an event whose `append` returned is never lost, and the reader never fails."""

import os
import random
import signal
import struct
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from resumption.history.events import TaskStart
from resumption.history.history import Header
from resumption.history.ndjson import Appender, read_history
from resumption.history.workload import Workload

ROUNDS, WRITERS, MOST = 150, 4, 16
HEADER = Header(probe="p", plane="x", path="graph", backend="sqlite", form="no-input", workload=Workload(()))
TOLD = struct.Struct("=I")


@dataclass(frozen=True)
class Writer:
    pid: int
    process: int
    pipe: int


def event(process: int, place: int) -> TaskStart:
    """A line of up to 20 kB: a kill inside its `write` is likely enough to tear it."""
    length = random.Random(process * 1_000 + place).randrange(20_000)
    return TaskStart(process=process, task=str(place), trail=f"{process}" * (length // len(str(process))))


def fork_writer(path: Path, process: int) -> Writer:
    """Start a process that appends events, waits for its end, and says through its pipe which `append` returned."""
    told, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            appender = Appender(path)
            for place in range(MOST):
                appender.append(event(process, place))
                os.write(tell, TOLD.pack(place))
            signal.pause()
        finally:
            os._exit(1)
    os.close(tell)
    return Writer(pid, process, told)


def kill(writer: Writer, luck: random.Random) -> int:
    """Kill a writer at a random point after a few of its events; return how many it had said were appended."""
    wanted = luck.randrange(3)
    told = b"".join(os.read(writer.pipe, TOLD.size) for _ in range(wanted))
    time.sleep(luck.uniform(0, 0.0005))  # to spread the kills over the next append, not to wait for anything
    os.kill(writer.pid, signal.SIGKILL)
    _, status = os.waitpid(writer.pid, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    told += b"".join(iter(lambda: os.read(writer.pipe, 4096), b""))
    os.close(writer.pipe)
    return len(told) // TOLD.size


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_no_appended_event_is_lost_to_a_sigkill(tmp_path: Path) -> None:
    luck = random.Random(2026)
    for round_ in range(ROUNDS):
        path = tmp_path / f"{round_}.ndjson"
        Appender(path).append(HEADER)
        writers = [fork_writer(path, process) for process in range(1, WRITERS + 1)]
        told = {writer.process: kill(writer, luck) for writer in writers}
        history = read_history(path)
        for process, appended in told.items():
            seen = [e for e in history.events if e.process == process]
            assert seen == [event(process, place) for place in range(len(seen))]
            assert len(seen) - appended in {0, 1}, "only the last event may be there without having been told"
        assert len(history.torn) <= WRITERS
        path.unlink()
