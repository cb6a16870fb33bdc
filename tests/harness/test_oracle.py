"""The record of effects, where the threads of one program fire at once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from resumption.worker.oracle import SqliteOracle, create, fired

_THREADS = 8
_FIRES = 60


def test_threads_that_fire_at_once_each_get_their_row(tmp_path) -> None:
    path = tmp_path / "oracle.db"
    create(path)
    together = threading.Barrier(_THREADS)

    def fire(thread: int) -> None:
        together.wait()
        for number in range(_FIRES):
            oracle.fire(f"c{thread}-{number}", "charge", {"key": f"k{thread}"})
            assert oracle.holds("charge", f"k{thread}")

    with closing(SqliteOracle(path)) as oracle, ThreadPoolExecutor(_THREADS) as pool:
        list(pool.map(fire, range(_THREADS)))
    assert set(fired(path)) == {f"c{thread}-{number}" for thread in range(_THREADS) for number in range(_FIRES)}
