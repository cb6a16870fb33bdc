"""The history file under SIGKILL: an event whose `append` returned is never lost, and the reader never fails."""

import os
import random
import signal
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from resumption.history.events import TaskStart
from resumption.history.history import Header
from resumption.history.ndjson import Appender, read_history
from resumption.history.workload import Workload

ROUNDS, WRITERS, MOST = 150, 4, 5
HEADER = Header(probe="p", plane="x", path="graph", backend="sqlite", form="no-input", workload=Workload(()))
TOLD = struct.Struct("=I")


@dataclass(frozen=True)
class Writer:
    pid: int
    process: int
    pipe: int
    allowed: int


def event(process: int, place: int) -> TaskStart:
    """A line of up to 40 kB: a kill inside its `write` is likely enough to tear it."""
    length = random.Random(process * 1_000 + place).randrange(40_000)
    return TaskStart(process=process, task=str(place), trail="x" * length)


def fork_writer(path: Path, process: int, allowed: int) -> Writer:
    """Start a process that appends so many events, says through its pipe which `append` returned, and waits."""
    told, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            appender = Appender(path)
            for place in range(allowed):
                appender.append(event(process, place))
                os.write(tell, TOLD.pack(place))
            signal.pause()
        finally:
            os._exit(1)
    os.close(tell)
    return Writer(pid, process, told, allowed)


def kill(writer: Writer, luck: random.Random) -> int:
    """Kill a writer around its last event; return how many events it had said were appended."""
    told = b"".join(os.read(writer.pipe, TOLD.size) for _ in range(writer.allowed - 1))
    for _ in range(luck.randrange(3_000)):
        pass  # spreads the kills over the last append
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
        writers = [fork_writer(path, process, luck.randint(1, MOST)) for process in range(1, WRITERS + 1)]
        told = {writer.process: kill(writer, luck) for writer in writers}
        history = read_history(path)
        for process, appended in told.items():
            seen = [e for e in history.events if e.process == process]
            assert seen == [event(process, place) for place in range(len(seen))]
            assert len(seen) - appended in {0, 1}, "only the last event may be there without having been told"
        assert len(history.torn) <= WRITERS
        path.unlink()
