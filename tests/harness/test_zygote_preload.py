"""What a zygote loads before it forks: modules, and functions that fill the caches of all processes to come."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from resumption.errors import EnvironmentBroken, WorkerLost
from resumption.harness.zygote import Zygote, can_fork
from resumption.planes.langgraph.spec import SPECS

pytestmark = pytest.mark.skipif(not can_fork(), reason="a zygote needs fork, and pidfd_open")

_LEFT_RUNNING = """
import threading

def warm_up():
    threading.Thread(target=threading.Event().wait, daemon=True).start()

def joined():
    thread = threading.Thread(target=str)
    thread.start()
    thread.join()

def broken():
    raise LookupError("no such cache")
"""


def _zygote(folder: Path, function: str) -> Zygote:
    (folder / "warmed.py").write_text(_LEFT_RUNNING)
    return Zygote.start(Path(sys.executable), [f"warmed:{function}"], {"PYTHONPATH": str(folder)}, folder)


def test_a_function_is_called_and_its_joined_threads_are_gone_at_the_fork(tmp_path: Path) -> None:
    with _zygote(tmp_path, "joined") as zygote:
        launched = zygote.launch(tmp_path / "log")
        launched.channel.close()
        assert zygote.reap(launched.pid) == 0


def test_a_function_that_leaves_a_thread_is_refused_a_fork(tmp_path: Path) -> None:
    with _zygote(tmp_path, "warm_up") as zygote, pytest.raises(WorkerLost, match="2 threads after import"):
        zygote.launch(tmp_path / "log")


def test_a_function_that_fails_is_told_as_a_broken_environment(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentBroken, match="LookupError: no such cache"):
        _zygote(tmp_path, "broken")


def test_each_plane_of_langgraph_rehearses_before_the_fork_and_leaves_one_thread(tmp_path: Path) -> None:
    (spec,) = {spec.path: spec for spec in SPECS if spec.by_default}.values()
    assert all("resumption.planes.langgraph.graph:warm_up" in each.preload for each in SPECS)
    with Zygote.start(Path(sys.executable), [*spec.preload, spec.adapter], spec.environment, tmp_path) as zygote:
        launched = zygote.launch(tmp_path / "log")
        launched.channel.close()
        assert zygote.reap(launched.pid) == 0
